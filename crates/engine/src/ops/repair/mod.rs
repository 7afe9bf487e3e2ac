//! `repair`: mends what `doctor` finds, in a new session or in place.

mod bench;
mod place;
mod run;
mod salvage;

pub use run::{AfterReport, Repair, RepairRequest, Repaired, Written, repair};
