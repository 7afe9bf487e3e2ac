//! `rethread ls`: sessions, newest first.

use rethread_engine::ops::{self, Filter, HiddenCounts, SessionRow};

use super::AppContext;
use super::args::Ls;
use super::clean;
use super::error::{self, CliError, Exit};
use super::figures::{count, size};
use super::out::Out;
use super::style::{BAD, GOOD, MARK, NAME, PLAIN, QUIET};
use super::table::{Align, Cell, Table};
use super::time::Clock;
use crate::json;
pub(crate) use crate::text::folder::base;
use crate::text::folder::git_branch;
use crate::text::hidden as words;

/// Runs the command.
pub(crate) fn run(ls: &Ls, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let moment = |text: &Option<String>| match text {
        Some(text) => place.clock.read(text).map(Some).ok_or_else(|| CliError::BadMoment(text.clone())),
        None => Ok(None),
    };
    let filter = Filter {
        all: ls.all,
        project: ls.project.clone(),
        title: ls.title.clone(),
        branch: ls.git_branch.clone(),
        model: ls.model.clone(),
        since: moment(&ls.since)?,
        until: moment(&ls.until)?,
    };
    let mut listing = ops::list(&place.roots, &filter, place.index.as_ref());
    let found = listing.rows.len();
    listing.rows.truncate(ls.limit.unwrap_or(usize::MAX));
    if out.is_json() {
        for row in &listing.rows {
            out.json(&json::session(row))?;
        }
    } else if !listing.rows.is_empty() {
        out.may_page();
        table(&listing.rows, &place.clock, out)?;
    } else if listing.files == 0 {
        super::say_nothing_found(place, out);
        out.note("hint: --root looks elsewhere, --demo shows invented sessions");
    } else {
        out.note("no session matches");
    }
    if found > listing.rows.len() {
        out.note(&format!("{} more (--limit)", count((found - listing.rows.len()) as u64)));
    }
    if let Some(hidden) = hidden(&listing.hidden).filter(|_| !ls.all) {
        out.note(&hidden);
    }
    error::warn(&listing.failures, out);
    error::notice(listing.notice.as_ref(), out);
    Ok(match found {
        0 if !listing.failures.is_empty() => Exit::Failed,
        found => Exit::found(found > 0),
    })
}

/// Says what is hidden, where anything is.
pub(crate) fn hidden(hidden: &HiddenCounts) -> Option<String> {
    let more = if words::can_be_shown(hidden) { " (--all shows them)" } else { "" };
    words::hidden(hidden).map(|said| format!("{said}{more}"))
}

/// Prints sessions as a table.
pub(crate) fn table(rows: &[SessionRow], clock: &Clock, out: &mut Out) -> Result<(), CliError> {
    let wide = out.width() >= 100;
    let (branch, project) = match out.width() {
        0..76 => (0, 0),
        76..110 => (0, 14),
        110..140 => (16, 18),
        _ => (24, 26),
    };
    let mut table = Table::new(0)
        .column("id", Align::Left, 36)
        .column("age", Align::Right, 6)
        .column("turns", Align::Right, 7)
        .column(if wide { "branches" } else { "br" }, Align::Right, 8)
        .column(if wide { "agents" } else { "ag" }, Align::Right, 6)
        .column("size", Align::Right, 8)
        .column("git branch", Align::Left, branch)
        .column("project", Align::Left, project)
        .column("title", Align::Left, 200);
    let mut ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    // Who shares the beginning of an id stands beside it in their order.
    let near = |id: &str| {
        let at = ids.partition_point(|other| *other < id);
        &ids[at.saturating_sub(1)..ids.len().min(at + 2)]
    };
    for row in rows {
        let sketch = &row.sketch;
        let some = |n: usize, least: usize| if n < least { String::new() } else { count(n as u64) };
        let branch = git_branch(sketch.git_branch.as_deref());
        table.row(vec![
            Cell::new(NAME, clean::line(short_id(&row.id, near(&row.id)))),
            Cell::new(QUIET, clock.age(sketch.last)),
            some(sketch.turns, 0).into(),
            some(sketch.branches, 2).into(),
            some(row.agents, 1).into(),
            Cell::new(QUIET, size(row.bytes)),
            Cell::new(QUIET, branch.unwrap_or_default()),
            base(&row.project()).into(),
            title(row),
        ]);
    }
    table.print(out)
}

/// The title, behind the marks of the session.
fn title(row: &SessionRow) -> Cell {
    let marks = [
        (row.live, "live", GOOD),
        (row.links.forked_from.is_some(), "fork", MARK),
        (row.links.implementation.is_some(), "plan", MARK),
        (row.links.plan.is_some(), "impl", MARK),
        (row.sketch.compactions > 0, "compacted", MARK),
        (row.sketch.damages + row.sketch.islands > 0, "damaged", BAD),
    ];
    let mut cell = Cell::default();
    for (_, mark, style) in marks.into_iter().filter(|(is, ..)| *is) {
        cell = cell.and(style, format!("[{mark}] "));
    }
    let text = clean::line(&row.title.text);
    if text.is_empty() { cell.and(QUIET, "(nothing was said)") } else { cell.and(PLAIN, text) }
}

/// Returns the beginning of an id that tells it from the others: 8 letters where that is enough.
pub(crate) fn short_id<'i>(id: &'i str, ids: &[&str]) -> &'i str {
    if id.contains('/') || (id.len() <= 16 && !id.contains('-')) {
        return id;
    }
    let cuts = [8, 13, 18, 23].map(|len| id.char_indices().nth(len).map_or(id, |(at, _)| &id[..at]));
    // Lists are long: most others differ in the first letters.
    let alone = |start: &&str| !ids.iter().any(|other| other.starts_with(start) && *other != id);
    cuts.into_iter().find(alone).unwrap_or(id)
}
