//! What writing would do, and what it did: told before a byte moves, with a way back afterwards.
//!
//! ```text
//! outcome of an op ──▶ Sheet (heading, facts) ──▶ preview with "Do it", or done with "Undo"
//! ```

mod fork;
mod form;
mod goto;
mod journal;
mod rename;
mod repair;
mod summary;

pub(crate) use fork::{fork_summary, lighter, rescued};
pub(crate) use form::{clone, fork, rename};
pub(crate) use goto::moved;
pub(crate) use journal::journal;
pub(crate) use rename::{renamed, undone};
pub(crate) use repair::mended;
pub(crate) use summary::{ActionSummary, Done, Form, act, command, done, form, instead, preview};
