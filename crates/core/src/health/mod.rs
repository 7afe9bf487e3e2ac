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

pub use checkup::Checkup;
pub use examine::{Patient, examine};
pub use finding::{Code, Finding, Measure, Mend, Severity, Spot};
pub(crate) use loaded::is_no_beginning;
pub use picture::Format;
pub(crate) use picture::look;
pub use weight::{Cause, Weight};
