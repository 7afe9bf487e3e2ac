//! Simulates which entries each client version loads when it resumes a session, and what it sends.
//!
//! ```text
//! entries ──ResumeIndex──┐
//! Tree ──────────────────┴─▶ ClientGraph ─leaf─▶ chain ─▶ messages       by the rules of one client version
//!              by uuid, preserved entries    walk, rejoin   filter, add synthetic blocks, pair
//! ```
//!
//! All behaviours were measured on real clients, not read from their code. `rules` is the table of behaviours. Each row
//! names the cases of `tests/resume/cases.txt` that show it, and its limits are exact versions.

mod api_messages;
mod chain;
mod client_graph;
mod context;
mod filter;
mod leaf;
mod loss;
mod pair;
mod resume_index;
mod rules;
mod simulate;
mod status;

pub use api_messages::{BlockOrigin, MessageRole, SentBlock, SyntheticBlock};
pub use context::ApiRejection;
pub use leaf::LeafRule;
pub use loss::LossCause;
pub(crate) use loss::cannot_start_conversation;
pub use resume_index::ResumeIndex;
pub(crate) use resume_index::{IMAGE_BYTES, block_bytes, is_blank};
pub use rules::{
    KNOWN_CLIENTS, PathResume, RuleRow, find_first_path_resume, have_same_rules, list_rules,
    predict_path_resume,
};
pub use simulate::{
    EarlyEnd, LoadFailure, ResumeOutcome, SentContext, SkipReason, SkippedEntry, TrailingEntries,
    active_path, active_path_at, resumable_entries, simulate_by_summary, simulate_resume, simulate_resume_at,
    simulate_sent_context, simulate_sent_context_at,
};
pub use status::ContextStatus;
