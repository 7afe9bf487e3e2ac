//! What writing would do, and what it did: told before a byte moves, with a way back afterwards.
//!
//! ```text
//! outcome of an op ──▶ Sheet (heading, facts) ──▶ preview with "Do it", or done with "Undo"
//! ```

mod ask;
mod born;
mod journal;
mod mended;
mod moved;
mod sheet;
mod small;

pub(crate) use ask::{clone, fork, rename};
pub(crate) use born::{fork_summary, lighter, rescued};
pub(crate) use journal::journal;
pub(crate) use mended::mended;
pub(crate) use moved::moved;
pub(crate) use sheet::{ActionSummary, Done, Form, act, command, done, form, instead, preview};
pub(crate) use small::{renamed, undone};
