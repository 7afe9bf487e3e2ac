//! Which sessions a list shows, and in which order.

use std::cmp::Reverse;

use rethread_engine::core::entry::Timestamp;
use rethread_engine::ops::{self, Filter, HiddenCounts, SessionRow};

use super::params::QueryParams;
use super::session_list::CachedSessionList;
use crate::context::AppContext;
use crate::html::session_row::Row;
use crate::text::clean;
use crate::text::time::Clock;

/// The orders a list can have: the name in the address, and what people read.
pub(crate) const ORDERS: &[(&str, &str)] = &[
    ("newest", "Newest first"),
    ("oldest", "Oldest first"),
    ("longest", "Most turns first"),
    ("largest", "Largest first"),
    ("title", "By title"),
];

/// What was picked from all sessions.
pub(crate) struct Picked<'l> {
    /// Each with its key, in order.
    pub(crate) rows: Vec<(&'l str, &'l SessionRow)>,
    /// Those that nobody would look for.
    pub(crate) hidden: HiddenCounts,
    /// What was asked for and could not be read.
    pub(crate) wrong: Vec<String>,
}

/// Picks what is asked for.
pub(crate) fn filter_sessions<'l>(
    look: &'l CachedSessionList,
    asked: &QueryParams,
    clock: &Clock,
) -> Picked<'l> {
    let mut wrong = Vec::new();
    let mut moment = |name: &str| -> Option<Timestamp> {
        let text = asked.text(name)?;
        let read = clock.read(text);
        if read.is_none() {
            wrong.push(format!("`{}` is no time: try 7d, yesterday or 2026-01-31", clean::line(text)));
        }
        read
    };
    let (since, until) = (moment("since"), moment("until"));
    let text = |name: &str| asked.text(name).map(str::to_owned);
    let filter = Filter {
        all: asked.has("all"),
        project: text("project"),
        title: text("title"),
        branch: text("branch"),
        model: text("model"),
        since,
        until,
    };
    // Warm-ups and subagents without a session are no rows: they were counted when all sessions were looked at.
    let mut hidden = look.listing.hidden;
    let mut rows: Vec<(&str, &SessionRow)> = look
        .rows()
        .filter(|(_, row)| filter.shows(row, &mut hidden))
        .filter(|(_, row)| {
            (!asked.has("live") || row.live)
                && (!asked.has("damaged") || row.sketch.damages + row.sketch.islands > 0)
                && (!asked.has("branches") || row.sketch.branches > 1)
                && asked.text("repo").is_none_or(|repo| ops::repository(&row.project()) == repo)
        })
        .collect();
    sort(&mut rows, asked.text("sort").unwrap_or_default());
    Picked { rows, hidden, wrong }
}

/// Sorts rows that stand newest first.
fn sort(rows: &mut [(&str, &SessionRow)], order: &str) {
    match order {
        // Those that say nothing of their time stand last either way.
        "oldest" => rows.sort_by_key(|(_, row)| (row.sketch.last.is_none(), row.sketch.last)),
        "longest" => rows.sort_by_key(|(_, row)| Reverse(row.sketch.turns)),
        "largest" => rows.sort_by_key(|(_, row)| Reverse(row.bytes)),
        "title" => rows.sort_by_cached_key(|(_, row)| {
            let title = row.title.text.to_lowercase();
            (title.is_empty(), title)
        }),
        _ => {}
    }
}

/// Makes a session fit to be drawn in a list.
pub(crate) fn row<'l>(key: &'l str, session: &'l SessionRow, place: &AppContext, clock: &Clock) -> Row<'l> {
    let last = session.sketch.last;
    Row {
        key,
        session,
        folder: place.tilde(&session.project()),
        age: clock.age(last),
        stamp: last.map(|last| clock.stamp(last)).unwrap_or_default(),
    }
}
