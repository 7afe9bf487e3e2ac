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
mod checkup;
mod examine;
mod finding;
mod forks;
mod links;
mod loaded;
mod picture;
mod sides;
mod weight;

pub use checkup::CheckCollector;
pub use examine::{CheckInput, run_checks};
pub use finding::{Code, Diagnostic, Impact, Location, Severity, SuggestedFix};
pub(crate) use loaded::cannot_start_conversation;
pub use picture::Format;
pub(crate) use picture::sniff_image;
pub use weight::{SizeBreakdown, SizeCategory};
