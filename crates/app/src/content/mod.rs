//! The structure of texts, for every frontend: Markdown, code, diffs, terminal output, tasks.
//!
//! Text of a session comes in and structure goes out: tokens, rows, runs. A frontend draws them. All functions take time
//! linear in the length of the text, whatever it contains.

pub(crate) mod ansi;
pub(crate) mod diff;
pub(crate) mod field;
pub(crate) mod highlight;
pub(crate) mod markdown;
pub(crate) mod task;
