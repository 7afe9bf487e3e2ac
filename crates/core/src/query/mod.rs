//! What a search means: which entries hold what was asked for, and where in them.
//!
//! ```text
//! typed ──parse──▶ Query ──▶ Needle
//! line ──may_hold──▶ worth a look? ──texts──▶ what a reader sees ──find──▶ Hit
//! ```
//!
//! Words are looked for in decoded text, never in JSON. [`Needle::may_hold`] only saves the decoding: it says no where no
//! escape can hide a match.

mod card;
mod excerpt;
mod field;
mod hit;
mod language;
mod meaning;
mod needle;
mod role;
mod shell;
mod term;
mod texts;
mod wanted;

pub use card::{SearchDoc, SearchDocBuilder, TextField};
pub use excerpt::Excerpt;
pub use field::suggest_field;
pub use hit::{EntryMatches, Hit};
pub use language::{QueryError, QueryToken, pieces};
pub use meaning::{
    CompiledQuery, EntryContext, RankedTerm, Scorer, Unresolved, has_part, idf, is_tool, length_class,
};
pub use needle::{Needle, PatternError};
pub use shell::join_shell_args;
pub use term::{Kind, MatchKind, SubwordSplit, TermCondition, TermMatch, TermPattern, TermPlan, Tokenizer};
pub use texts::{Scope, TextSource, for_each_text};
pub use wanted::{ContextStatus, Literal, Predicate, Query, Sources};
