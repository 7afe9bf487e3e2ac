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

mod api_messages;
mod chain;
mod client_graph;
mod context;
mod filter;
mod leaf;
mod pair;
mod resume_index;
mod rules;
mod simulate;

pub use api_messages::{BlockOrigin, MessageRole, SentBlock, SyntheticBlock};
pub use context::Refusal;
pub use leaf::LeafRule;
pub use resume_index::ResumeIndex;
pub(crate) use resume_index::{PICTURE, is_blank, said_in};
pub use rules::{KNOWN_CLIENTS, Row, rows};
pub use simulate::{
    EarlyEnd, LoadFailure, ResumeOutcome, SkipReason, SkippedEntry, active_path, resume_at,
    resume_by_summary, simulate_resume,
};
