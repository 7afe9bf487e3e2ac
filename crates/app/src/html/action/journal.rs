//! The list of all ops.

use maud::{Markup, html};
use rethread_engine::ops::{OpRow, OpState};

use super::summary::undo_button;
use crate::text::clean;
use crate::text::time::Clock;

/// Draws ops, each with the button that takes it back; `key` finds a session by its id.
pub(crate) fn journal<'a>(
    rows: &[OpRow],
    key: impl Fn(&str) -> Option<&'a str>,
    seal: &str,
    clock: &Clock,
) -> Markup {
    if rows.is_empty() {
        return html! { p { "Nothing yet. Whatever is changed here can be taken back from this page." } };
    }
    html! {
        ol class="journal" {
            @for row in rows {
                @let key = key(&row.session);
                li class="journal-op" {
                    div class="journal-what" {
                        strong { (clean::line(&row.command)) } " " (clean::line(&row.about))
                        p class="quiet num" {
                            "op " (row.no) " · " (clock.stamp(row.at)) " · " (state(row))
                            @if let Some(key) = key { " · " a href={ "/s/" (key) } { (clean::line(&row.session).chars().take(8).collect::<String>()) } }
                        }
                    }
                    @if row.state == OpState::Done && !row.pruned {
                        (undo_button(row.no, if row.undoes.is_some() { "Do it again" } else { "Undo" }, seal, key.unwrap_or_default()))
                    }
                }
            }
        }
    }
}

fn state(row: &OpRow) -> String {
    let state = match row.state {
        OpState::Done => "done".to_owned(),
        OpState::Undone(by) => format!("undone by {by}"),
        OpState::RolledBack => "rolled back".to_owned(),
        OpState::Unfinished => "unfinished".to_owned(),
    };
    if row.pruned { format!("{state}, its backups were thrown away") } else { state }
}
