//! What was spent: tokens and money, each response once, in groups that add up.

mod agents;
mod books;
mod check;
mod group;
mod meter;
mod places;
mod run;
mod trace;

pub use check::{Check, ClientReportedCost, Copies, TotalsCheck, check_usage};
pub use group::{GroupBy, GroupKey, GroupRow, Reach};
pub use meter::{Block, ContextUsage, MeterRequest, StatuslineUsage, Window, meter};
pub(super) use run::Pricer;
pub use run::{UsageReport, UsageRequest, usage};
pub use trace::{Trace, TracedLine, trace_usage};
