//! The query language, and which entries match a query.
//!
//! ```text
//! text ──parse──▶ Query ──▶ CompiledQuery ──evaluate──▶ does an entry match?
//! line ──may_match_line──▶ candidate ──for_each_text──▶ decoded texts ──find──▶ Hit
//! ```
//!
//! Matches are found in decoded text, never in JSON. [`Needle::may_match_line`] only avoids decoding: it
//! rejects a line if no escape sequence can hide a match.

mod ast;
mod compiled;
mod document;
mod excerpt;
mod field;
mod hit;
mod needle;
mod parser;
mod required_literals;
mod role;
mod shell;
mod texts;
mod tokenizer;

pub use ast::{Literal, Predicate, Query, SourceSet};
pub use compiled::{
    CompiledQuery, EntryContext, RankedTerm, Scorer, Unresolved, has_substring, idf, is_pull_request_named,
    is_tool_named, length_class,
};
pub use document::{SearchDoc, SearchDocBuilder, TextField};
pub use excerpt::Excerpt;
pub use field::{compute_edit_distance, suggest_field};
pub use hit::{EntryMatches, Hit};
pub use needle::{Needle, PatternError};
pub use parser::{QueryError, QueryToken, tokenize_query};
pub use shell::join_shell_args;
pub use texts::{TextScope, TextSource, for_each_text};
pub use tokenizer::{
    MatchKind, SubwordSplit, TermCondition, TermKind, TermMatch, TermPattern, TermPlan, Tokenizer,
};
