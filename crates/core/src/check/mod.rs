//! What is wrong with a session: coded findings, each with its place, its cost and what mends it.
//!
//! ```text
//! entries ──Checkup──┐
//! Tree, Facts ───────┼──examine──▶ findings    code, severity, spots (node and block), measure
//! Resume, problems ──┘
//! ```
//!
//! A finding is what a person would want to know, no oddity as such: the severity says whether the client or the
//! API stumbles over it (asked of `resume`), and every spot keeps the node and the block, so that a repair can act on it.

mod bytes;
mod collect;
mod diagnostic;
mod forks;
mod image;
mod links;
mod loaded;
mod reachability;
mod run;
mod size;

pub use collect::CheckCollector;
pub use diagnostic::{Code, Diagnostic, Impact, Location, Severity, SuggestedFix};
pub use image::Format;
pub(crate) use image::sniff_image;
pub(crate) use loaded::cannot_start_conversation;
pub use run::{CheckInput, run_checks};
pub use size::{SizeBreakdown, SizeCategory};
