//! Actions over HTTP: nothing is written before the user confirms, and everything can be undone.

pub(crate) mod action_server;
mod hostile;
mod refusal;
mod run;
