//! Previews and results of actions: what a change would do, what it did, and how to undo it.
//!
//! ```text
//! outcome of an op ──▶ ActionSummary (title, facts) ──▶ preview with "Do it", or result with "Undo"
//! ```

mod fork;
mod form;
mod goto;
mod journal;
mod rename;
mod repair;
mod summary;

pub(crate) use fork::{summarize_clone, summarize_fork, summarize_rescue};
pub(crate) use form::{render_clone_inputs, render_fork_inputs, render_rename_inputs};
pub(crate) use goto::summarize_goto;
pub(crate) use journal::render_journal;
pub(crate) use rename::{summarize_rename, summarize_undo};
pub(crate) use repair::summarize_repair;
pub(crate) use summary::{
    ActionForm, ActionSummary, DoneOptions, render_action_button, render_alternative, render_command,
    render_done, render_form, render_preview,
};
