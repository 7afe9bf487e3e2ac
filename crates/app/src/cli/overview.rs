//! `rethread` without a command: an overview and next steps.

use rethread_engine::ops;
use rethread_engine::ops::list::{SessionFilter, SessionList};

use super::error::{self, CliError, Exit};
use super::figures::{count_noun, format_size, group_digits};
use super::out::Out;
use super::style::{MARK, NAME, QUIET, STRONG, paint};
use super::table::{Align, Cell, Table, truncate_to_width};
use super::{AppContext, ls};
use crate::config::Config;
use crate::json;
use crate::text::command::build_command;

/// The maximum number of listed projects.
const MAX_PROJECTS: usize = 8;
/// The maximum number of listed sessions.
const MAX_SESSIONS: usize = 12;

/// Runs `rethread` without a command: prints projects, the newest sessions and suggested commands.
///
/// If there are no sessions, prints invented ones, unless the user named the folder to read.
pub(crate) fn run(app: AppContext, settings: &Config, out: &mut Out) -> Result<Exit, CliError> {
    let listing = ops::list::list_sessions(&app.roots, &SessionFilter::default(), app.cache.as_ref());
    if listing.files == 0 && settings.has_named_root() && !out.is_json() {
        super::print_no_sessions(&app, out);
        error::print_warnings(&listing.failures, out);
        return Ok(Exit::Nothing);
    }
    if listing.files == 0 && !app.is_demo && !out.is_json() {
        return print_demo(app, settings, &listing, out);
    }
    print_overview(&app, settings, &listing, out)
}

/// Prints the searched folders, then the overview of invented sessions.
fn print_demo(
    app: AppContext,
    settings: &Config,
    listing: &SessionList,
    out: &mut Out,
) -> Result<Exit, CliError> {
    super::print_searched_folders(&app, out);
    error::print_warnings(&listing.failures, out);
    out.note("hint: use --root for another folder; below is an example with invented sessions");
    out.note("");
    let (_store, app) = super::open_demo_instead(app)?;
    let listing = ops::list::list_sessions(&app.roots, &SessionFilter::default(), None);
    print_overview(&app, settings, &listing, out)
}

/// Prints up to 8 projects, up to 12 sessions and suggested commands, or all sessions as JSON.
///
/// The text states if the sessions are those of the demo store.
fn print_overview(
    app: &AppContext,
    settings: &Config,
    listing: &SessionList,
    out: &mut Out,
) -> Result<Exit, CliError> {
    if out.is_json() {
        for row in &listing.rows {
            out.json(&json::build_session(row, app.find_root(&row.path)))?;
        }
        error::print_warnings(&listing.failures, out);
        error::print_cache_warning(listing.warning.as_ref(), out);
        return Ok(Exit::from_found(!listing.rows.is_empty()));
    }
    if app.is_demo {
        print_banner("DEMO: these sessions are invented, not yours", out)?;
    }
    let projects = listing.projects();
    let bytes = projects.iter().map(|project| project.bytes).sum();
    out.line(&format!(
        "{} in {}, {}",
        paint(STRONG, &count_noun(listing.rows.len() as u64, "session")),
        count_noun(projects.len() as u64, "project"),
        format_size(bytes),
    ))?;
    out.line("")?;
    let mut table = Table::new(0)
        .column("project", Align::Left, 60)
        .column("last used", Align::Right, 9)
        .omitted_at(1)
        .column("sessions", Align::Right, 8)
        .column("size", Align::Right, 8)
        .omitted_at(2);
    for project in projects.iter().take(MAX_PROJECTS) {
        table.row(vec![
            Cell::from(app.format_path(&project.path)).keeping_end(),
            Cell::new(QUIET, app.clock.format_age(project.last)),
            group_digits(project.sessions as u64).into(),
            Cell::new(QUIET, format_size(project.bytes)),
        ]);
    }
    table.print(out)?;
    if projects.len() > MAX_PROJECTS {
        out.line(&paint(
            QUIET,
            &format!("… and {} more", group_digits((projects.len() - MAX_PROJECTS) as u64)),
        ))?;
    }
    out.line("")?;
    ls::print_table(&listing.rows[..listing.rows.len().min(MAX_SESSIONS)], &settings.ls_columns, app, out)?;
    if listing.rows.len() > MAX_SESSIONS {
        out.line(&paint(
            QUIET,
            &format!("… and {} more", group_digits((listing.rows.len() - MAX_SESSIONS) as u64)),
        ))?;
    }
    out.line("")?;
    print_next_steps(listing, out)?;
    if app.is_demo {
        print_banner("DEMO: end of the invented sessions", out)?;
    }
    if let Some(note) = ls::hidden_note_with_hint(&listing.hidden) {
        out.note(&note);
    }
    error::print_warnings(&listing.failures, out);
    error::print_cache_warning(listing.warning.as_ref(), out);
    Ok(Exit::Done)
}

fn print_banner(text: &str, out: &mut Out) -> Result<(), CliError> {
    let rule = "═".repeat(out.width().min(100).saturating_sub(text.len() + 5));
    out.line(&paint(MARK, &format!("══ {text} {rule}")))
}

/// Prints suggested commands with a short description of each.
fn print_next_steps(listing: &SessionList, out: &mut Out) -> Result<(), CliError> {
    let ids: Vec<&str> = listing.rows.iter().map(|row| row.id.as_str()).collect();
    let example = listing.rows.get(1).or(listing.rows.first());
    let id = example.map_or("", |row| ls::shorten_id(&row.id, &ids));
    let mut hints = vec![
        (build_command(&["show", "last"]), "read the newest session"),
        (build_command(&["show", id]), "read any session, by id, words from its title, or path"),
        (
            build_command(&["ls", "--since", "7d"]),
            "list sessions by time, project, title, model or git branch",
        ),
        (build_command(&["search", "WORDS"]), "search all sessions, including compacted and abandoned parts"),
        (build_command(&["tools", "last", "--errors"]), "list failed tool calls"),
        (build_command(&["stats"]), "count everything"),
        ("rethread --help".to_owned(), "all commands"),
    ];
    if example.is_none() {
        hints.remove(1);
    }
    let width = hints.iter().map(|(command, _)| command.len()).max().unwrap_or(0);
    for (command, text) in hints {
        let gap = " ".repeat(width - command.len() + 2);
        let text = truncate_to_width(text, out.width().saturating_sub(width + 4));
        out.line(&format!("  {}{gap}{}", paint(NAME, &command), paint(QUIET, &text)))?;
    }
    Ok(())
}
