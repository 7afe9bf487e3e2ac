//! `rethread search`: hits in all sessions, best first, each with whether it is still remembered.

mod hints;
mod hit;
mod label;
mod piece;
mod reach;
mod run;
mod sessions;

pub(crate) use run::run;
pub(crate) use sessions::Row;
