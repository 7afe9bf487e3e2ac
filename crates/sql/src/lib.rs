//! Runs SQL over sessions, with SQLite in the process.
//!
//! A statement is prepared on empty tables first. SQLite's authorizer reports which tables and columns it reads, and only
//! these are filled from `rethread_engine::ops::tables`. Conditions on sessions, projects and times select the files to
//! read. Then the statement runs. It cannot write, attach databases, load extensions, or read files.
//!
//! ```text
//! SQL ── prepare ──▶ tables and columns ─┐
//!  └──── file_filter ──▶ files ──────────┴─ ops::tables ──▶ filled tables ── run ──▶ rows
//! ```
//!
//! Times are texts such as `2026-01-31T10:00:00.000Z`, costs are whole picodollars (`usd` converts them to dollars), and
//! booleans are 0 or 1.

mod access;
mod database;
mod error;
mod examples;
mod file_filter;
mod functions;
mod row_batch;
mod time_text;
mod tokens;

pub use database::{Database, QueryLimits, QueryPlan, QuerySummary, ResultValue, SqlSource};
pub use error::SqlError;
pub use examples::{EXAMPLES, ExampleQuery, find_example};
