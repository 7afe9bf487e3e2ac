//! What a search means: which entries hold what was asked for, and where in them.
//!
//! ```text
//! typed ──parse──▶ Query ──▶ Needle
//! line ──may_hold──▶ worth a look? ──texts──▶ what a reader sees ──find──▶ Hit
//! ```
//!
//! Words are looked for in decoded text, never in JSON. [`Needle::may_hold`] only saves the decoding: it says no where no
//! escape can hide a match.

mod ast;
mod compiled;
mod document;
mod excerpt;
mod field;
mod hit;
mod needle;
mod parser;
mod role;
mod shell;
mod texts;
mod tokenizer;

pub use ast::{ContextStatus, Literal, Predicate, Query, Sources};
pub use compiled::{
    CompiledQuery, EntryContext, RankedTerm, Scorer, Unresolved, has_part, idf, is_tool, length_class,
};
pub use document::{SearchDoc, SearchDocBuilder, TextField};
pub use excerpt::Excerpt;
pub use field::suggest_field;
pub use hit::{EntryMatches, Hit};
pub use needle::{Needle, PatternError};
pub use parser::{QueryError, QueryToken, pieces};
pub use shell::join_shell_args;
pub use texts::{Scope, TextSource, for_each_text};
pub use tokenizer::{
    Kind, MatchKind, SubwordSplit, TermCondition, TermMatch, TermPattern, TermPlan, Tokenizer,
};
