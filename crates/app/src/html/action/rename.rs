//! A new title, and an op taken back.

use maud::{Markup, html};
use rethread_engine::ops::{Effects, Rename, Undo};

use super::summary::ActionSummary;
use crate::context::AppContext;
use crate::text::clean;
use crate::text::operation;

/// Tells a new title.
pub(crate) fn renamed(rename: &Rename, place: &AppContext) -> ActionSummary {
    let dry = rename.op.is_none();
    let title = if dry { "Give it a title" } else { "It has a new title" };
    let mut sheet = ActionSummary { title: title.to_owned(), op: rename.op, ..ActionSummary::default() };
    let before = if rename.before.is_empty() { &rename.session } else { &rename.before };
    sheet.fact(if dry { "called now" } else { "called before" }, clean::line(before));
    sheet.fact(if dry { "would be called" } else { "called" }, clean::line(&rename.title));
    sheet.fact("files", effects(&rename.effects, place));
    sheet
}

/// Tells an op that was taken back.
pub(crate) fn undone(undo: &Undo, place: &AppContext) -> ActionSummary {
    let mut sheet = ActionSummary {
        title: format!("Op {} was undone", undo.undone),
        op: undo.op,
        ..ActionSummary::default()
    };
    let what = format!("{} {}", undo.command, undo.about);
    sheet.fact("taken back", clean::line(what.trim_end()));
    sheet.fact("files", effects(&undo.effects, place));
    sheet
}

/// Lists what happens to which file.
fn effects(effects: &Effects, place: &AppContext) -> Markup {
    html! {
        ul class="act-files" {
            @for (path, effect) in effects {
                li { (operation::effect(*effect)) " " code { (place.tilde(&path.display().to_string())) } }
            }
        }
    }
}
