//! What was spent: tokens and money, each response once, in groups that add up.

mod agents;
mod books;
mod check;
mod group;
mod meter;
mod places;
mod run;
mod trace;

pub use check::{Check, Copies, Opinion, Proof, check_usage};
pub use group::{By, Key, Reach, Row};
pub use meter::{Block, Fullness, Meter, MeterRequest, Window, meter};
pub(super) use run::Till;
pub use run::{Spending, UsageRequest, usage};
pub use trace::{Trace, TracedLine, trace_usage};
