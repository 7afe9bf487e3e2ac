//! `rethread explain`: what Claude Code will load.

mod all;
mod drawing;
pub(super) mod flow;
mod lost;
mod one;
mod run;
mod words;

pub(crate) use run::run;
