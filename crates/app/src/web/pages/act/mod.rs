//! Actions: what a form asks for is previewed, done and taken back, by the same ops as on the command line.
//!
//! ```text
//! GET  /s/{key}/act/{what} ─▶ form or preview
//! POST /s/{key}/act/{what} ─▶ seal ─▶ preview (dry run) or do ─▶ sheet with "Undo"
//! POST /undo ─▶ seal ─▶ sheet
//! ```
//!
//! Nothing is done without the seal of a form of ours, and never while somebody is at work in the session.

mod case;
mod deeds;
mod fields;
mod log;
mod reply;
mod run;
mod trims;
mod undo;

pub(crate) use log::page as log;
pub(crate) use run::{ask, send};
pub(crate) use undo::take_back;
