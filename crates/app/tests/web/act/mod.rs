//! Actions over HTTP as a browser sends them, on a store of its own: nothing is written before somebody says so, and all of it
//! can be taken back.

mod acting;
pub(crate) mod deck;
mod hostile;
mod refused;
