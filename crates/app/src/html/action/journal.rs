//! Renders the journal of operations.

use maud::{Markup, html};
use rethread_engine::ops::log::{OpRow, OpStatus};

use super::summary::render_undo_button;
use crate::html::link::Site;
use crate::text::clean;
use crate::text::time::Clock;

/// Renders the operations in the given order, each with its undo button. `key_of` returns the key of a session by its
/// id, or `None` if the session is not listed.
pub(crate) fn render_journal<'a>(
    rows: &[OpRow],
    key_of: impl Fn(&str) -> Option<&'a str>,
    site: &Site,
    csrf_token: &str,
    clock: &Clock,
) -> Markup {
    if rows.is_empty() {
        return html! { p { "Nothing yet. Every change made here can be undone from this page." } };
    }
    html! {
        ol class="journal" {
            @for row in rows {
                @let key = key_of(&row.session);
                li class="journal-op" {
                    div class="journal-text" {
                        strong { (clean::line(&row.command)) } " " (clean::line(&row.about))
                        p class="muted num" {
                            "op " (row.id) " · " (clock.format_minute(row.started_at)) " · " (describe_status(row))
                            @if let Some(key) = key { " · " a href=(site.session(key)) { (clean::line(&row.session).chars().take(8).collect::<String>()) } }
                        }
                    }
                    @if row.status == OpStatus::Done && !row.pruned {
                        (render_undo_button(&site.page("/undo"), row.id, Some(&row.change), csrf_token, key.unwrap_or_default()))
                    }
                }
            }
        }
    }
}

/// Describes the status of an operation, and whether its backups were deleted.
fn describe_status(row: &OpRow) -> String {
    let state = match row.status {
        OpStatus::Done => "done".to_owned(),
        OpStatus::Undone(by) => format!("undone by {by}"),
        OpStatus::RolledBack => "rolled back".to_owned(),
        OpStatus::Unfinished => "unfinished".to_owned(),
        OpStatus::Unknown => "unknown, the journal is damaged".to_owned(),
    };
    if row.pruned { format!("{state}, its backups were deleted") } else { state }
}
