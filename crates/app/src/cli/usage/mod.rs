//! `rethread usage`: tokens and money, each response once.

mod csv;
mod label;
mod proof;
mod run;
mod table;
mod trace;

pub(crate) use run::run;
