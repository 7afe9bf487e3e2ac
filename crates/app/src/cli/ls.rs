//! `rethread ls`: lists sessions, newest first.

use rethread_engine::ops;
use rethread_engine::ops::list::{HiddenCounts, SessionRow};

use super::AppContext;
use super::args::Ls;
use super::clean;
use super::error::{self, CliError, Exit};
use super::figures::{format_size, group_digits};
use super::out::Out;
use super::style::{BAD, GOOD, MARK, NAME, PLAIN, QUIET};
use super::table::{Align, Cell, Table};
use super::time::Clock;
use crate::json;
use crate::text::session;
pub(crate) use crate::text::session::folder_name;
use crate::text::session::git_branch_label;

/// Runs `rethread ls`: prints the matching sessions, newest first, and notes about those not shown.
///
/// Returns [`Exit::Nothing`] if none matches, [`Exit::Failed`] if in addition files could not be read.
pub(crate) fn run(ls: &Ls, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let mut filter = ls.filter.to_filter(&app.clock)?;
    filter.all |= ls.all;
    filter.words.clone_from(&ls.words);
    let mut listing = ops::list::list_sessions(&app.roots, &filter, app.cache.as_ref());
    let total = listing.rows.len();
    listing.rows.truncate(ls.limit.unwrap_or(usize::MAX));
    if out.is_json() {
        for row in &listing.rows {
            out.json(&json::build_session(row))?;
        }
    } else if !listing.rows.is_empty() {
        out.allow_pager();
        print_table(&listing.rows, &app.clock, out)?;
    } else if listing.files == 0 {
        super::print_no_sessions(app, out);
        out.note("hint: use --root for another folder, or --demo for invented sessions");
    } else {
        out.note("no matching sessions");
    }
    if total > listing.rows.len() {
        out.note(&format!("{} more (--limit)", group_digits((total - listing.rows.len()) as u64)));
    }
    if let Some(note) = hidden_note_with_hint(&listing.hidden).filter(|_| !filter.all) {
        out.note(&note);
    }
    error::print_warnings(&listing.failures, out);
    error::print_cache_warning(listing.warning.as_ref(), out);
    Ok(match total {
        0 if !listing.failures.is_empty() => Exit::Failed,
        total => Exit::from_found(total > 0),
    })
}

/// Returns the note about hidden sessions, with the option that shows them. Returns `None` if none is hidden.
pub(crate) fn hidden_note_with_hint(hidden: &HiddenCounts) -> Option<String> {
    let hint = if session::can_show_hidden(hidden) { " (--all shows them)" } else { "" };
    session::hidden_note(hidden).map(|note| format!("{note}{hint}"))
}

/// Prints sessions as a table, in the given order. Narrow screens have no git branch and project columns.
pub(crate) fn print_table(rows: &[SessionRow], clock: &Clock, out: &mut Out) -> Result<(), CliError> {
    let is_wide = out.table_width().is_none_or(|width| width >= 100);
    let (branch_width, project_width) = match out.table_width() {
        Some(..76) => (0, 0),
        Some(76..110) => (0, 14),
        Some(110..140) => (16, 18),
        _ => (24, 26),
    };
    let mut table = Table::new(0)
        .column("id", Align::Left, 36)
        .column("age", Align::Right, 6)
        .column("turns", Align::Right, 7)
        .omitted_at(1)
        .column(if is_wide { "branches" } else { "br" }, Align::Right, 8)
        .omitted_at(3)
        .column(if is_wide { "agents" } else { "ag" }, Align::Right, 6)
        .omitted_at(4)
        .column("size", Align::Right, 8)
        .omitted_at(2)
        .column("git branch", Align::Left, branch_width)
        .column("project", Align::Left, project_width)
        .column("title", Align::Left, 200);
    let mut ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    // Ids that share a prefix are adjacent in sorted order.
    let neighbours = |id: &str| {
        let pos = ids.partition_point(|other| *other < id);
        &ids[pos.saturating_sub(1)..ids.len().min(pos + 2)]
    };
    for row in rows {
        let info = &row.info;
        let format_at_least =
            |n: usize, min: usize| if n < min { String::new() } else { group_digits(n as u64) };
        let branch = git_branch_label(info.git_branch.as_deref());
        table.row(vec![
            Cell::new(NAME, clean::line(shorten_id(&row.id, neighbours(&row.id)))),
            Cell::new(QUIET, clock.format_age(info.last_time)),
            format_at_least(info.turns, 0).into(),
            format_at_least(info.branches, 2).into(),
            format_at_least(row.agents, 1).into(),
            Cell::new(QUIET, format_size(row.bytes)),
            Cell::new(QUIET, branch.unwrap_or_default()),
            folder_name(&row.project()).into(),
            title_cell(row),
        ]);
    }
    table.print(out)
}

/// Builds the cell of the title column: the labels of the session, then its title.
fn title_cell(row: &SessionRow) -> Cell {
    let labels = [
        (row.live, "live", GOOD),
        (row.links.forked_from.is_some(), "fork", MARK),
        (row.links.implementation.is_some(), "plan", MARK),
        (row.links.plan.is_some(), "impl", MARK),
        (row.info.compactions > 0, "compacted", MARK),
        (row.damaged, "damaged", BAD),
    ];
    let mut cell = Cell::default();
    for (_, label, style) in labels.into_iter().filter(|(applies, ..)| *applies) {
        cell = cell.and(style, format!("[{label}] "));
    }
    let text = clean::line(&row.title.text);
    if text.is_empty() { cell.and(QUIET, "(no messages)") } else { cell.and(PLAIN, text) }
}

/// Returns the shortest prefix of `id` that no other id in `ids` has: 8, 13, 18 or 23 characters, or all of it.
///
/// An id with a `/` and an id of at most 16 characters without `-` are returned whole.
pub(crate) fn shorten_id<'i>(id: &'i str, ids: &[&str]) -> &'i str {
    if id.contains('/') || (id.len() <= 16 && !id.contains('-')) {
        return id;
    }
    let prefixes = [8, 13, 18, 23].map(|len| id.char_indices().nth(len).map_or(id, |(end, _)| &id[..end]));
    let is_unique = |prefix: &&str| !ids.iter().any(|other| other.starts_with(prefix) && *other != id);
    prefixes.into_iter().find(is_unique).unwrap_or(id)
}
