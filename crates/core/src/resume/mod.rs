//! What each client version loads from a session file when it resumes it, and what it sends.
//!
//! ```text
//! entries ──Facts──┐
//! Tree ────────────┴─▶ Links ─leaf─▶ chain ─▶ messages       by the rules of one client version
//!          by uuid, kept segments      walk, re-join   leave out, make up, pair
//! ```
//!
//! Everything here was measured on the real client, never read from it: `rules` is the table, and each of its rows names
//! the cases of `tests/resume/cases.txt` that show it. Versions between two measured ones follow the older.

mod chain;
mod context;
mod facts;
mod leaf;
mod links;
mod pair;
mod rules;
mod send;
mod sift;
mod verdict;

pub use context::Refusal;
pub use facts::ResumeIndex;
pub(crate) use facts::{PICTURE, is_blank, said_in};
pub use leaf::LeafRule;
pub use rules::{KNOWN_CLIENTS, Row, rows};
pub use send::{BlockOrigin, MessageRole, SentBlock, SyntheticBlock};
pub use verdict::{
    EarlyEnd, LoadFailure, ResumeOutcome, SkipReason, SkippedEntry, active_path, resume_at,
    resume_by_summary, simulate_resume,
};
