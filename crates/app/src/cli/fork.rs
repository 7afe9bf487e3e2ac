//! `rethread fork`: creates a new session from the path to an entry.

use rethread_engine::ops;
use rethread_engine::ops::fork::ForkRequest;
use rethread_engine::ops::{EntrySelector, NewSession};

use super::args;
use super::clean;
use super::error::{CliError, Exit};
use super::figures::count_noun;
use super::out::Out;
use super::style::{NAME, STRONG, paint};
use super::{AppContext, write_report};
use crate::json;

/// Runs `rethread fork`: creates a session from the path to an entry, by default to the resume point.
pub(crate) fn run(args: &args::Fork, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let target = (!args.target.is_empty()).then(|| args.target.join(" "));
    let request = ForkRequest {
        path: app.find_session_to_copy(&args.session)?,
        at: target.map(|name| EntrySelector { name, before: args.before, exact: false }),
        title: args.title.clone(),
        now: write_report::now(&app.clock),
        dry_run: args.dry_run,
    };
    let session = ops::fork::fork(&request, &app.writer)?;
    if out.is_json() {
        out.json(&json::build_new_session("fork", &session))?;
    } else {
        super::print_header(&session.origin, app, out)?;
        print_new_session(&session, app, out)?;
    }
    Ok(Exit::Done)
}

/// Prints the id, file, size and expected loads of a new session, and the commands to resume and undo it.
pub(crate) fn print_new_session(
    session: &NewSession,
    app: &AppContext,
    out: &mut Out,
) -> Result<(), CliError> {
    let dry_run = session.op.is_none();
    let title = paint(STRONG, &clean::line(&session.title));
    if dry_run {
        write_report::print_field("would create", &title, out)?;
    } else {
        write_report::print_field("new session", &format!("{}  {title}", paint(NAME, &session.id)), out)?;
        write_report::print_field("file", &write_report::format_path(&session.path, app), out)?;
    }
    let side_files = if session.side_files > 0 {
        format!(" and {}", count_noun(session.side_files as u64, "side file"))
    } else {
        String::new()
    };
    write_report::print_field(
        "contains",
        &format!("{}{side_files}; the original is not changed", count_noun(session.lines as u64, "line")),
        out,
    )?;
    write_report::print_loads(&session.expected_loads, dry_run, out)?;
    if dry_run {
        write_report::print_dry_run_note(out);
        return Ok(());
    }
    out.line("")?;
    write_report::print_resume(&session.id, &session.folder, app, out)?;
    session.op.map_or(Ok(()), |op| write_report::print_undo(op, out))
}
