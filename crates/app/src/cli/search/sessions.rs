//! Prints one row per session with its number of hits, best first.

use rethread_engine::ops::search::{Search, SessionHits};

use crate::cli::error::CliError;
use crate::cli::figures::group_digits;
use crate::cli::ls::{folder_name, shorten_id};
use crate::cli::out::Out;
use crate::cli::style::{NAME, PLAIN, QUIET};
use crate::cli::table::{Align, Cell, Table};
use crate::cli::{AppContext, clean};
use crate::json::SessionResult;

/// Collects all hits by session, in the order of their best hits.
pub(super) fn collect(search: &mut Search) -> Vec<SessionResult> {
    let to_row = |SessionHits { best, hit_count: hits, last_hit_at: last }| SessionResult {
        session: best.session,
        title: best.title.text,
        project: best.project,
        path: best.session_path,
        hits,
        last,
    };
    search.group_by_session().into_iter().map(to_row).collect()
}

/// Prints the sessions as a table, in the given order.
pub(super) fn print(rows: &[SessionResult], app: &AppContext, out: &mut Out) -> Result<(), CliError> {
    let project_width = out.width() / 5;
    let mut table = Table::new(0)
        .column("id", Align::Left, 36)
        .column("hits", Align::Right, 7)
        .column("newest", Align::Right, 6)
        .omitted_at(1)
        .column("project", Align::Left, project_width)
        .omitted_at(2)
        .column("title", Align::Left, 200);
    let ids: Vec<&str> = rows.iter().map(|row| row.session.as_str()).collect();
    for row in rows {
        let title = clean::line(&row.title);
        table.row(vec![
            Cell::new(NAME, clean::line(shorten_id(&row.session, &ids))),
            group_digits(row.hits as u64).into(),
            Cell::new(QUIET, app.clock.format_age(row.last)),
            Cell::new(QUIET, folder_name(&row.project)),
            if title.is_empty() { Cell::new(QUIET, "(no messages)") } else { Cell::new(PLAIN, title) },
        ]);
    }
    table.print(out)
}
