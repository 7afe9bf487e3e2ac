//! `rethread usage`: tokens and money, each response once.

mod csv;
mod label;
mod money;
mod proof;
mod run;
mod table;
mod trace;

pub(crate) use money::{cost, said};
pub(crate) use run::run;
