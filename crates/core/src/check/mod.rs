//! Checks a session for problems and returns diagnostics.
//!
//! ```text
//! entries ──CheckCollector───────────┐
//! Tree, ResumeIndex ─────────────────┼──run_checks──▶ diagnostics    code, severity, locations, impact, fix
//! ResumeOutcome, problems of lines ──┘
//! ```
//!
//! Diagnostics report problems that matter to the user, not every anomaly. The severity depends on whether the
//! client or the API fails (see `resume`). Every location names the node and the block, so that a repair can
//! act on it.

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
pub use image::ImageFormat;
pub(crate) use image::sniff_image;
pub use run::{CheckInput, run_checks};
pub use size::{SizeBreakdown, SizeCategory};
