//! Filters and sorts the list of sessions.

use std::cmp::Reverse;

use rethread_engine::core::entry::Timestamp;
use rethread_engine::ops;
use rethread_engine::ops::list::{HiddenCounts, SessionFilter, SessionRow};

use super::params::QueryParams;
use super::server::Server;
use super::session_list::CachedSessionList;
use crate::html::session_row::ListRow;
use crate::text::clean;
use crate::text::time::Clock;

/// The sort orders: the value of the `sort` parameter and the label.
pub(crate) const ORDERS: &[(&str, &str)] = &[
    ("newest", "Newest first"),
    ("oldest", "Oldest first"),
    ("longest", "Most turns first"),
    ("largest", "Largest first"),
    ("title", "By title"),
];

/// The sessions that match a filter.
pub(crate) struct FilteredSessions<'l> {
    /// The sessions, each with the key of its address, in the requested order.
    pub(crate) rows: Vec<(&'l str, &'l SessionRow)>,
    /// The numbers of sessions that are hidden by default.
    pub(crate) hidden: HiddenCounts,
    /// Messages about parameters that could not be parsed.
    pub(crate) errors: Vec<String>,
}

/// Returns the sessions that the query parameters select, in the order of `sort`. A time that cannot be parsed is
/// reported in `errors` and ignored.
pub(crate) fn filter_sessions<'l>(
    list: &'l CachedSessionList,
    params: &QueryParams,
    clock: &Clock,
) -> FilteredSessions<'l> {
    let mut errors = Vec::new();
    let mut time = |name: &str| -> Option<Timestamp> {
        let text = params.text(name)?;
        let parsed = clock.parse_time(text);
        if parsed.is_none() {
            errors.push(format!("`{}` is not a time: try 7d, monday or 2026-01-31", clean::line(text)));
        }
        parsed
    };
    let (since, until) = (time("since"), time("until"));
    let text = |name: &str| params.text(name).map(str::to_owned);
    let filter = SessionFilter {
        all: params.has("all"),
        project: text("project"),
        title: text("title"),
        branch: text("branch"),
        model: text("model"),
        since,
        until,
        ..SessionFilter::default()
    };
    // Warm-ups and subagents without a session have no rows; they were counted when the list was read.
    let mut hidden = list.listing.hidden;
    let mut rows: Vec<(&str, &SessionRow)> = list
        .rows()
        .filter(|(_, row)| filter.filter_row(row, &mut hidden))
        .filter(|(_, row)| {
            (!params.has("live") || row.live)
                && (!params.has("damaged") || row.damaged)
                && (!params.has("branches") || row.info.branches > 1)
                && params
                    .text("repo")
                    .is_none_or(|repo| ops::repository::repository_folder(&row.project()) == repo)
        })
        .collect();
    sort_rows(&mut rows, params.text("sort").unwrap_or_default());
    FilteredSessions { rows, hidden, errors }
}

/// Sorts rows, which are newest first, by one of [`ORDERS`]. An unknown order changes nothing.
fn sort_rows(rows: &mut [(&str, &SessionRow)], order: &str) {
    match order {
        // Sessions without a time are last in both orders.
        "oldest" => rows.sort_by_key(|(_, row)| (row.info.last_time.is_none(), row.info.last_time)),
        "longest" => rows.sort_by_key(|(_, row)| Reverse(row.info.turns)),
        "largest" => rows.sort_by_key(|(_, row)| Reverse(row.bytes)),
        "title" => rows.sort_by_cached_key(|(_, row)| {
            let title = row.title.text.to_lowercase();
            (title.is_empty(), title)
        }),
        _ => {}
    }
}

/// Builds the row of a session for rendering. Its time is that of the last entry.
pub(crate) fn build_list_row<'l>(
    key: &'l str,
    session: &'l SessionRow,
    server: &'l Server,
    clock: &Clock,
) -> ListRow<'l> {
    let last = session.info.last_time;
    ListRow {
        site: server.site(),
        key,
        session,
        folder: server.context.format_path(&session.project()),
        age: clock.format_age(last),
        stamp: last.map(|last| clock.format_minute(last)).unwrap_or_default(),
    }
}
