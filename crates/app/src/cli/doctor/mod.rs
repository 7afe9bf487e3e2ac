//! `rethread doctor`: what is wrong, what it costs, what mends it.

mod one;
mod run;
mod store;
mod words;

pub(crate) use run::run;
pub(crate) use words::Help;
