//! `rethread ls`: lists sessions, newest first.

use rethread_engine::ops;
use rethread_engine::ops::list::{HiddenCounts, SessionRow};

use super::AppContext;
use super::args::Ls;
use super::clean;
use super::deleted;
use super::error::{self, CliError, Exit};
use super::figures::{format_size, group_digits};
use super::out::Out;
use super::picker;
use super::style::{BAD, GOOD, MARK, NAME, PLAIN, QUIET};
use super::table::{Align, Cell, Table};
use crate::config::{Config, LsColumn, LsColumns, Origin, Setting};
use crate::json;
use crate::text::session;
pub(crate) use crate::text::session::folder_name;
use crate::text::session::git_branch_label;

/// Runs `rethread ls`: prints the matching sessions, newest first, and notes about those not shown.
///
/// Returns [`Exit::Nothing`] if none matches, [`Exit::Failed`] if in addition files could not be read.
pub(crate) fn run(ls: &Ls, app: &AppContext, settings: &Config, out: &mut Out) -> Result<Exit, CliError> {
    if let Some(session) = &ls.why {
        return picker::run(session, app, out);
    }
    if ls.deleted {
        return deleted::run_list(ls, app, out);
    }
    let mut filter = ls.filter.to_filter(&app.clock)?;
    filter.all |= ls.all;
    filter.words.clone_from(&ls.words);
    let mut listing = ops::list::list_sessions(&app.roots, &filter, app.cache.as_ref());
    let total = listing.rows.len();
    listing.rows.truncate(ls.limit.unwrap_or(usize::MAX));
    if out.is_json() {
        for row in &listing.rows {
            out.json(&json::build_session(row, app.find_root(&row.path)))?;
        }
    } else if !listing.rows.is_empty() {
        out.allow_pager();
        print_table(&listing.rows, &settings.ls_columns, app, out)?;
    } else if listing.files == 0 {
        super::print_no_sessions(app, out);
    } else {
        out.note("no matching sessions (--deleted lists what is left of deleted ones)");
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

/// Prints sessions as a table, in the given order. On narrow screens, the default columns exclude git branch and project.
pub(crate) fn print_table(
    rows: &[SessionRow],
    columns: &Setting<LsColumns>,
    app: &AppContext,
    out: &mut Out,
) -> Result<(), CliError> {
    let is_chosen = columns.origin != Origin::Default;
    let columns = &columns.value.0;
    let mut table = columns.iter().fold(Table::new(0), |table, column| {
        let (head, align, max_width) = describe_column(*column, is_chosen, out.table_width());
        let table = table.column(head, align, max_width);
        match omission_rank(*column).filter(|_| !is_chosen) {
            Some(rank) => table.omitted_at(rank),
            None => table,
        }
    });
    let mut ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    // Ids that share a prefix are adjacent in sorted order.
    let neighbours = |id: &str| {
        let pos = ids.partition_point(|other| *other < id);
        &ids[pos.saturating_sub(1)..ids.len().min(pos + 2)]
    };
    for row in rows {
        let id = clean::line(shorten_id(&row.id, neighbours(&row.id)));
        table.row(columns.iter().map(|column| build_cell(*column, row, &id, app)).collect());
    }
    table.print(out)
}

/// Returns when a column is omitted on a screen that is too narrow, the lowest first. Returns `None` if it is not.
fn omission_rank(column: LsColumn) -> Option<u8> {
    match column {
        LsColumn::Turns => Some(1),
        LsColumn::Size => Some(2),
        LsColumn::Branches => Some(3),
        LsColumn::Agents => Some(4),
        _ => None,
    }
}

/// Returns the heading, the alignment and the maximum width of a column. A chosen column is never hidden. `None` is a
/// screen without limit.
fn describe_column(column: LsColumn, is_chosen: bool, width: Option<usize>) -> (&'static str, Align, usize) {
    let is_wide = width.is_none_or(|width| width >= 100);
    let (branch_width, project_width) = match width {
        Some(..76) => (0, 0),
        Some(76..110) => (0, 14),
        Some(110..140) => (16, 18),
        _ => (24, 26),
    };
    let at_least = |max_width: usize| if is_chosen { max_width.max(12) } else { max_width };
    match column {
        LsColumn::Id => ("id", Align::Left, 36),
        LsColumn::Age => ("age", Align::Right, 6),
        LsColumn::Date => ("date", Align::Left, 16),
        LsColumn::Turns => ("turns", Align::Right, 7),
        LsColumn::Branches => (if is_wide { "branches" } else { "br" }, Align::Right, 8),
        LsColumn::Agents => (if is_wide { "agents" } else { "ag" }, Align::Right, 6),
        LsColumn::Size => ("size", Align::Right, 8),
        LsColumn::Model => ("model", Align::Left, 26),
        LsColumn::Client => ("client", Align::Left, 12),
        LsColumn::GitBranch => ("git branch", Align::Left, at_least(branch_width)),
        LsColumn::Project => ("project", Align::Left, at_least(project_width)),
        LsColumn::Title => ("title", Align::Left, 200),
    }
}

/// Builds the cell of a session in a column. `id` is its shortened id.
fn build_cell(column: LsColumn, row: &SessionRow, id: &str, app: &AppContext) -> Cell {
    let clock = &app.clock;
    let info = &row.info;
    let format_at_least = |n: usize, min: usize| if n < min { String::new() } else { group_digits(n as u64) };
    let last = |names: &[String]| names.last().map(|name| clean::line(name)).unwrap_or_default();
    match column {
        LsColumn::Id => Cell::new(NAME, id),
        LsColumn::Age => Cell::new(QUIET, clock.format_age(info.last_time)),
        LsColumn::Date => {
            Cell::new(QUIET, info.last_time.map(|time| clock.format_minute(time)).unwrap_or_default())
        }
        LsColumn::Turns => format_at_least(info.turns, 0).into(),
        LsColumn::Branches => format_at_least(info.branches, 2).into(),
        LsColumn::Agents => format_at_least(row.agents, 1).into(),
        LsColumn::Size => Cell::new(QUIET, format_size(row.bytes)),
        LsColumn::Model => last(&info.models).into(),
        LsColumn::Client => Cell::new(QUIET, last(&info.versions)),
        LsColumn::GitBranch => {
            Cell::new(QUIET, git_branch_label(info.git_branch.as_deref()).unwrap_or_default())
        }
        LsColumn::Project => folder_name(&row.project()).into(),
        LsColumn::Title => title_cell(row, app),
    }
}

/// Builds the cell of the title column: the store if it is not the first one, the labels of the session, and its title.
fn title_cell(row: &SessionRow, app: &AppContext) -> Cell {
    let labels = [
        (row.live, "live", GOOD),
        (row.archived, "archived", MARK),
        (row.links.forked_from.is_some(), "fork", MARK),
        (row.links.implementation.is_some(), "plan", MARK),
        (row.links.plan.is_some(), "impl", MARK),
        (row.info.compactions > 0, "compacted", MARK),
        (row.damaged, "damaged", BAD),
    ];
    let mut cell = Cell::default();
    if let Some(store) = app.root_label(&row.path) {
        cell = cell.and(QUIET, format!("[{store}] "));
    }
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
