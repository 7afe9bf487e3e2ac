//! Parses Claude Code session files: bytes in, values out.
//!
//! A session file has one JSON object per line. Each line may name a parent, so the lines form a tree, and the client
//! resumes from one of its leaves. This crate reads the lines, builds the tree, and derives from it which entries
//! a client would load, what the responses cost, and which data is damaged.
//!
//! # Pipeline
//!
//! ```text
//! bytes → lines → entries → (tree, secrets) → (resume, turn) → usage → edit → trim
//!       → (query, diff, session, stats, schema, check) → (fix, context)
//! ```
//!
//! A module may depend only on modules before it. Modules in the same brackets do not depend on each other. [`id`],
//! [`problem`] and [`version`] may be used by all.
//!
//! - The crate does no IO and does not use the clock, the environment, randomness, threads or printing
//!   (**core-is-pure**). The `rethread-engine` crate finds, reads and writes files.
//! - Any bytes are accepted. Odd data becomes a [`Problem`](problem::Problem), never an error or a panic
//!   (**parse-never-fails**).
//!
//! # Example
//!
//! Reads two lines into entries and builds their tree:
//!
//! ```
//! use rethread_core::entry::{EntryRole, Reader};
//! use rethread_core::lines::LineSplitter;
//! use rethread_core::tree::{LineSpan, TreeBuilder};
//!
//! let file = br#"{"type":"user","uuid":"u1","message":{"role":"user","content":"What is 1 + 1?"}}
//! {"type":"assistant","uuid":"a1","parentUuid":"u1","message":{"role":"assistant","content":[{"type":"text","text":"2"}]}}
//! "#;
//!
//! let mut reader = Reader::default();
//! let mut builder = TreeBuilder::default();
//! let mut problems = Vec::new();
//! LineSplitter::default().feed(file, true, &mut problems, |line, problems| {
//!     reader.read_line(&line, problems, |entry, offset| {
//!         let span = LineSpan { offset, len: entry.raw.len() as u32, line: line.number };
//!         builder.add_entry(&entry, span);
//!     });
//! });
//! let tree = builder.finish();
//!
//! assert!(problems.is_empty());
//! assert_eq!(tree.nodes().len(), 2);
//! assert_eq!(tree.node(0).role, EntryRole::Prompt);
//! assert_eq!(tree.node(1).role, EntryRole::Answer);
//! let tip = tree.newest_tip().expect("the tree has a tip");
//! assert_eq!(tree.ancestors(tip), [0, 1]);
//! ```
//!
//! # Stability
//!
//! These modules and types are the public API. They change only in releases that announce it:
//!
//! - [`lines`][]: [`Line`](lines::Line), [`LineSplitter`](lines::LineSplitter)
//! - [`entry`][]: [`Entry`](entry::Entry), [`Kind`](entry::Kind), [`EntryRole`](entry::EntryRole),
//!   [`Message`](entry::Message), [`Content`](entry::Content), [`Block`](entry::Block),
//!   [`BlockKind`](entry::BlockKind), [`JsonStr`](entry::JsonStr), [`Timestamp`](entry::Timestamp),
//!   [`Usage`](entry::Usage), [`Reader`](entry::Reader), [`LineStatus`](entry::LineStatus)
//! - [`tree`][]: [`Tree`](tree::Tree), [`TreeBuilder`](tree::TreeBuilder), [`Node`](tree::Node),
//!   [`NodeId`](tree::NodeId), [`LineSpan`](tree::LineSpan), [`Branch`](tree::Branch), [`Branches`](tree::Branches),
//!   [`Fork`](tree::Fork), [`ForkKind`](tree::ForkKind)
//! - [`turn`][]: [`Turn`](turn::Turn), [`TurnPart`](turn::TurnPart), [`Prompt`](turn::Prompt),
//!   [`ToolCall`](turn::ToolCall), [`ToolResult`](turn::ToolResult), [`build_turn`](turn::build_turn)
//! - [`usage`][]: [`TokenTotals`](usage::TokenTotals), [`CostTotals`](usage::CostTotals), [`Money`](usage::Money)
//! - [`query`][]: [`Query`](query::Query), [`QueryError`](query::QueryError)
//! - [`resume`][]: [`simulate_resume`](resume::simulate_resume), [`ResumeOutcome`](resume::ResumeOutcome),
//!   [`ResumeIndex`](resume::ResumeIndex), [`ContextStatus`](resume::ContextStatus)
//! - [`problem`][]: [`Problem`](problem::Problem), [`ProblemKind`](problem::ProblemKind)
//! - [`version`][]: [`Version`](version::Version)
//! - [`id`][]: [`Id`](id::Id)
//!
//! The other documented modules ([`check`], [`context`], [`diff`], [`schema`], [`secrets`], [`session`], [`stats`]) define report
//! types that `rethread-engine` returns. Reading these types is fine, but they may gain fields in any release.
//!
//! The remaining modules are hidden from the documentation. They are public only for `rethread-engine` and for tests,
//! and may change in any release.

mod block_table;
pub mod check;
pub mod context;
pub mod diff;
// Internal: builds the lines that the engine writes. Its invariants hold only with the engine's verification.
#[doc(hidden)]
pub mod edit;
pub mod entry;
// Internal: plans repairs that only the engine may apply, after a backup.
#[doc(hidden)]
pub mod fix;
pub mod id;
pub mod lines;
// Internal: the encoding of the engine's caches, which has no stable format.
#[doc(hidden)]
pub mod pack;
pub mod problem;
pub mod query;
pub mod resume;
pub mod schema;
pub mod secrets;
pub mod session;
pub mod stats;
pub mod tree;
// Internal: decides which content a trimmed copy drops. The engine's options are the stable interface.
#[doc(hidden)]
pub mod trim;
pub mod turn;
mod union_find;
pub mod usage;
pub mod version;

/// Returns a hash of the source files of this crate. The engine ignores cached data that other code wrote.
#[doc(hidden)]
pub fn source_hash() -> u64 {
    u64::from_str_radix(env!("RETHREAD_SOURCE_HASH"), 16).unwrap_or_default()
}
