//! `rethread statusline`: one line about the running session, for the client's own screen.

mod draw;
mod input;
mod run;

pub(crate) use input::Input;
pub(crate) use run::run;
