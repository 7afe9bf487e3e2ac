//! Actions over HTTP as a browser sends them, on a store of its own: nothing is written before somebody says so, and all of it
//! can be taken back.

pub(crate) mod action_server;
mod hostile;
mod refusal;
mod run;
