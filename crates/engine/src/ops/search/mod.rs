//! Entries of all sessions that a query means, best first.
//!
//! ```text
//! files ─┬─ indexed ──ask──▶ sure, or perhaps ─┐
//!        └─ the rest ─scan─▶ loose ────────────┴─▶ ranking ──best first──▶ settled on text and tree ──▶ hit
//! ```
//!
//! The index only shortens the way (**index-is-a-shortcut**): what it is not sure of is asked of the text, by the same
//! meaning that a scan goes by.

mod hit;
mod labels;
mod limit;
mod loose;
mod pile;
mod ranking;
mod run;
mod stacks;
mod standings;
mod tell;

pub use hit::{DuplicateHit, SearchHit, SessionHits};
pub use limit::CancelToken;
pub use run::{Search, SearchRequest, Total, search, search_snapshot};
pub use stacks::{SearchSnapshot, stacks};
