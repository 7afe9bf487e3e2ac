//! Summaries of a rename and of an undo.

use maud::{Markup, html};
use rethread_engine::ops::FileEffect;
use rethread_engine::ops::rename::RenameOutcome;
use rethread_engine::ops::undo::UndoOutcome;

use super::summary::ActionSummary;
use crate::context::AppContext;
use crate::text::clean;
use crate::text::operation;

/// Summarizes a rename, planned or done.
pub(crate) fn summarize_rename(rename: &RenameOutcome, context: &AppContext) -> ActionSummary {
    let is_dry_run = rename.op.is_none();
    let title = if is_dry_run { "Rename" } else { "Renamed" };
    let mut summary = ActionSummary { title: title.to_owned(), op: rename.op, ..ActionSummary::default() };
    let before = if rename.old_title.is_empty() { &rename.session } else { &rename.old_title };
    summary.add_fact(if is_dry_run { "title now" } else { "title before" }, clean::line(before));
    summary.add_fact(if is_dry_run { "new title" } else { "title" }, clean::line(&rename.title));
    summary.add_fact("files", render_effects(&rename.effects, context));
    summary
}

/// Summarizes an undo that was carried out.
pub(crate) fn summarize_undo(undo: &UndoOutcome, context: &AppContext) -> ActionSummary {
    let mut summary = ActionSummary {
        title: format!(
            "Op {} was {}",
            undo.change.op,
            if undo.change.is_revert { "undone" } else { "redone" }
        ),
        op: undo.op,
        ..ActionSummary::default()
    };
    let name = if undo.change.is_revert { "undone" } else { "redone" };
    summary.add_fact(name, clean::line(&undo.change.text));
    summary.add_fact("files", render_effects(&undo.effects, context));
    summary
}

/// Renders the changed files, each with the effect on it.
fn render_effects(effects: &[FileEffect], context: &AppContext) -> Markup {
    html! {
        ul class="action-files" {
            @for effect in effects {
                li { (operation::effect_text(effect)) " " code { (context.format_path(&effect.path.display().to_string())) } }
            }
        }
    }
}
