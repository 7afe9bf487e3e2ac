//! One row per session: how many hits, and the best of them first.

use std::path::PathBuf;

use rethread_engine::core::entry::Timestamp;
use rethread_engine::ops::{Search, SessionHits};

use super::super::error::CliError;
use super::super::figures::count;
use super::super::ls::{base, short_id};
use super::super::out::Out;
use super::super::style::{NAME, PLAIN, QUIET};
use super::super::table::{Align, Cell, Table};
use super::super::{AppContext, clean};

/// A session with hits.
#[derive(Debug)]
pub(crate) struct Row {
    /// Its id.
    pub(crate) session: String,
    /// What it is called.
    pub(crate) title: String,
    /// Its folder.
    pub(crate) project: String,
    /// Its file.
    pub(crate) path: PathBuf,
    /// How many hits.
    pub(crate) hits: usize,
    /// When the newest was written.
    pub(crate) last: Option<Timestamp>,
}

/// Collects all hits by session, in the order of the best of each.
pub(super) fn collect(search: &mut Search) -> Vec<Row> {
    let row = |SessionHits { best, hits, last }| Row {
        session: best.session,
        title: best.title.text,
        project: best.project,
        path: best.session_path,
        hits,
        last,
    };
    search.by_session().into_iter().map(row).collect()
}

/// Prints them as a table.
pub(super) fn print(rows: &[Row], place: &AppContext, out: &mut Out) -> Result<(), CliError> {
    let project = if out.width() < 76 { 0 } else { out.width() / 5 };
    let mut table = Table::new(0)
        .column("id", Align::Left, 36)
        .column("hits", Align::Right, 7)
        .column("newest", Align::Right, 6)
        .column("project", Align::Left, project)
        .column("title", Align::Left, 200);
    let ids: Vec<&str> = rows.iter().map(|row| row.session.as_str()).collect();
    for row in rows {
        let title = clean::line(&row.title);
        table.row(vec![
            Cell::new(NAME, clean::line(short_id(&row.session, &ids))),
            count(row.hits as u64).into(),
            Cell::new(QUIET, place.clock.age(row.last)),
            Cell::new(QUIET, base(&row.project)),
            if title.is_empty() { Cell::new(QUIET, "(nothing was said)") } else { Cell::new(PLAIN, title) },
        ]);
    }
    table.print(out)
}
