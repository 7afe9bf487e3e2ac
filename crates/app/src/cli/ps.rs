//! `rethread ps`: lists the sessions that are open in a running client.

use rethread_engine::ops;
use rethread_engine::ops::running::{ActivityState, RunningSession};

use super::AppContext;
use super::clean;
use super::error::{self, CliError, Exit};
use super::figures::format_tokens;
use super::ls::shorten_id;
use super::out::Out;
use super::style::{GOOD, MARK, NAME, PLAIN, QUIET};
use super::table::{Align, Cell, Table};
use crate::json;
use crate::text::session::{display_title, folder_name};

/// Runs `rethread ps`: prints the sessions of running clients, those that wait for the user first.
///
/// Returns [`Exit::Nothing`] if no client is running.
pub(crate) fn run(app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let list = ops::running::list_running_sessions(&app.roots, app.cache.as_ref());
    if out.is_json() {
        for row in &list.rows {
            out.json(&json::build_running_session(row))?;
        }
    } else if list.rows.is_empty() {
        out.note("no client is running");
    } else {
        print_table(&list.rows, app, out)?;
        if list.rows.iter().any(|row| row.is_inferred) {
            out.note("?: inferred from the session file");
        }
    }
    error::print_warnings(&list.failures, out);
    Ok(Exit::from_found(!list.rows.is_empty()))
}

/// Prints running sessions as a table, in the given order.
fn print_table(rows: &[RunningSession], app: &AppContext, out: &mut Out) -> Result<(), CliError> {
    let (title_width, project_width) = match out.table_width() {
        Some(..76) => (20, 0),
        Some(76..110) => (24, 14),
        Some(110..140) => (32, 18),
        _ => (48, 26),
    };
    let mut table = Table::new(0)
        .column("state", Align::Left, 8)
        .column("since", Align::Right, 6)
        .column("id", Align::Left, 36)
        .column("context", Align::Right, 8)
        .omitted_at(2)
        .column("project", Align::Left, project_width)
        .column("title", Align::Left, title_width)
        .omitted_at(1)
        .column("last prompt", Align::Left, 200);
    let ids: Vec<&str> = rows.iter().map(|row| row.client.session.as_str()).collect();
    for row in rows {
        let title = display_title(&row.title);
        table.row(vec![
            state_cell(row),
            Cell::new(QUIET, app.clock.format_age(row.since)),
            Cell::new(NAME, clean::line(shorten_id(&row.client.session, &ids))),
            Cell::new(QUIET, row.context_tokens.map(format_tokens).unwrap_or_default()),
            folder_name(&row.project).into(),
            if title.is_empty() { Cell::new(QUIET, "(no messages)") } else { Cell::new(PLAIN, title) },
            Cell::new(QUIET, clean::line(&row.last_prompt)),
        ]);
    }
    table.print(out)
}

/// Builds the cell of the state, with `?` if it is inferred.
fn state_cell(row: &RunningSession) -> Cell {
    let style = match row.state {
        ActivityState::Waiting => MARK,
        ActivityState::Busy => GOOD,
        ActivityState::Idle | ActivityState::Unknown => QUIET,
    };
    let mark = if row.is_inferred { "?" } else { "" };
    Cell::new(style, format!("{}{mark}", row.state.name()))
}
