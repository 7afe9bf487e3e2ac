//! `rethread rm`: moves sessions and their files to the trash.

use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead, IsTerminal};
use std::path::PathBuf;

use rethread_engine::ops;
use rethread_engine::ops::list::{SessionFilter, SessionRow};
use rethread_engine::ops::resolve::is_exact_name;
use rethread_engine::ops::rm::{RemoveOutcome, RemoveRequest};

use super::args::Rm;
use super::error::{self, CliError, Exit};
use super::figures::{count_noun, format_size};
use super::ls::{folder_name, shorten_id};
use super::out::Out;
use super::style::{NAME, PLAIN, QUIET};
use super::table::{Align, Cell, Table};
use super::{AppContext, archive, clean, effects, write_report};
use crate::json;
use crate::text::command::{build_command, quote_command};

/// The maximum number of sessions that a confirmation lists.
const MAX_LISTED: usize = 20;

/// A session to remove.
struct Candidate {
    /// The outcome of a dry run.
    outcome: RemoveOutcome,
    path: PathBuf,
    /// Its row in the list of sessions. `None` for a subagent file.
    row: Option<SessionRow>,
}

/// Runs `rethread rm`: moves each session to the trash, as one operation per session, after a confirmation.
///
/// Returns [`Exit::Nothing`] if no session matches the filter or the user declines.
pub(crate) fn run(args: &Rm, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let candidates = match (args.session.is_empty(), args.filter.is_unset()) {
        (true, true) => return Err(CliError::NothingToRemove),
        (false, false) => return Err(CliError::NamesAndFilter { command: "rm" }),
        (false, true) => find_named(args, app, out)?,
        (true, false) => find_filtered(args, app, out)?,
    };
    if candidates.is_empty() {
        out.note("no matching sessions");
        return Ok(Exit::Nothing);
    }
    if !args.write.dry_run && !confirm(args, &candidates, app, out)? {
        out.note("nothing was changed");
        return Ok(Exit::Nothing);
    }
    let is_bulk = args.session.is_empty();
    if is_bulk && args.write.dry_run && !out.is_json() {
        build_table(&candidates, app).print(out)?;
        out.line(&format!("would move to the trash: {}", summarize(&candidates)))?;
        if args.forget {
            let paths: Vec<PathBuf> = candidates.into_iter().map(|candidate| candidate.path).collect();
            archive::forget_removed(&paths, true, app, out)?;
        }
        return Ok(Exit::Done);
    }
    let mut removed: Vec<RemoveOutcome> = Vec::new();
    let mut removed_paths = Vec::new();
    let mut failures = Vec::new();
    for candidate in candidates {
        let request = RemoveRequest {
            path: candidate.path.clone(),
            even_if_live: args.write.even_if_live,
            dry_run: args.write.dry_run,
        };
        let result = ops::rm::remove(&app.writer, &request);
        removed_paths.extend(result.is_ok().then_some(candidate.path));
        match result {
            Ok(outcome) if out.is_json() => out.json(&json::build_remove(&outcome))?,
            Ok(outcome) if is_bulk => removed.push(outcome),
            Ok(outcome) => print_outcome(&outcome, app, out)?,
            // One session of many that is in use does not stop the clean-up.
            Err(error) if is_bulk => failures.push(error),
            Err(error) => return Err(error.into()),
        }
    }
    if is_bulk && !out.is_json() {
        print_bulk_outcome(&removed, out)?;
    }
    error::print_warnings(&failures, out);
    if args.forget {
        archive::forget_removed(&removed_paths, args.write.dry_run, app, out)?;
    }
    Ok(if failures.is_empty() { Exit::Done } else { Exit::Failed })
}

/// Finds the sessions that the arguments name, each once. Resolves all names first, so that a wrong name changes nothing.
///
/// Returns an error without a terminal if a name may match another session tomorrow.
fn find_named(args: &Rm, app: &AppContext, out: &Out) -> Result<Vec<Candidate>, CliError> {
    let named = args.session.iter().map(|name| Ok((name, app.find_session_to_change(name)?)));
    let named = named.collect::<Result<Vec<_>, CliError>>()?;
    let filter = SessionFilter { all: true, ..SessionFilter::default() };
    let listed = ops::list::list_sessions(&app.roots.without_archive(), &filter, app.cache.as_ref()).rows;
    let mut rows: HashMap<PathBuf, SessionRow> =
        listed.into_iter().map(|row| (row.path.clone(), row)).collect();
    let mut seen = HashSet::new();
    let mut candidates = Vec::new();
    for (name, path) in named {
        let outcome = plan_removal(path.clone(), args, app)?;
        if !args.write.dry_run && !can_ask(out) && !is_exact_name(name, &path, &outcome.session) {
            let command = build_command(&["rm", &outcome.session, "--yes"]);
            return Err(CliError::InexactName { name: name.clone(), command });
        }
        if seen.insert(path.clone()) {
            candidates.push(Candidate { outcome, row: rows.remove(&path), path });
        }
    }
    Ok(candidates)
}

/// Finds the sessions that `ls` lists with the same filter. Live sessions are kept, unless the arguments include them.
fn find_filtered(args: &Rm, app: &AppContext, out: &mut Out) -> Result<Vec<Candidate>, CliError> {
    let filter = args.filter.to_filter(&app.clock)?;
    let listing = ops::list::list_sessions(&app.roots.without_archive(), &filter, app.cache.as_ref());
    error::print_warnings(&listing.failures, out);
    let (kept, rows): (Vec<SessionRow>, Vec<SessionRow>) =
        listing.rows.into_iter().partition(|row| row.live && !args.write.even_if_live);
    if !kept.is_empty() {
        out.note(&format!("kept: {} that a client is using", count_noun(kept.len() as u64, "session")));
    }
    let to_candidate = |row: SessionRow| {
        let outcome = plan_removal(row.path.clone(), args, app)?;
        Ok(Candidate { outcome, path: row.path.clone(), row: Some(row) })
    };
    rows.into_iter().map(to_candidate).collect()
}

/// Returns what a removal would do.
fn plan_removal(path: PathBuf, args: &Rm, app: &AppContext) -> Result<RemoveOutcome, CliError> {
    let request = RemoveRequest { path, even_if_live: args.write.even_if_live, dry_run: true };
    Ok(ops::rm::remove(&app.writer, &request)?)
}

/// Returns `true` if the user can answer a question, which `--quiet` hides.
pub(super) fn can_ask(out: &Out) -> bool {
    !out.is_quiet() && io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Shows what would be moved and asks the user. `--yes` is an answer.
///
/// Returns an error if there is no answer and no terminal.
fn confirm(args: &Rm, candidates: &[Candidate], app: &AppContext, out: &mut Out) -> Result<bool, CliError> {
    if args.yes {
        return Ok(true);
    }
    if out.is_json() || !can_ask(out) {
        let action = format!("moving {} to the trash", count_noun(candidates.len() as u64, "session"));
        return Err(CliError::Unconfirmed { action, command: repeat_with_yes(args) });
    }
    let table = build_table(&candidates[..candidates.len().min(MAX_LISTED)], app);
    for line in table.render(Some(out.width())) {
        out.note(&line);
    }
    if candidates.len() > MAX_LISTED {
        out.note(&format!("… and {} more", candidates.len() - MAX_LISTED));
    }
    let also = if args.forget { " and remove them from the archive" } else { "" };
    ask(&format!("move {} to the trash{also}?", summarize(candidates)), out)
}

/// Asks the user a question. Returns `true` for yes; the default is no.
pub(super) fn ask(question: &str, out: &mut Out) -> Result<bool, CliError> {
    out.note(&format!("{question} [y/N]"));
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Builds the same command with `--yes`.
fn repeat_with_yes(args: &Rm) -> String {
    let filter = &args.filter;
    let options = [
        ("--project", &filter.project),
        ("--title", &filter.title),
        ("--since", &filter.since),
        ("--until", &filter.until),
        ("--older-than", &filter.older_than),
        ("--git-branch", &filter.git_branch),
        ("--model", &filter.model),
    ];
    let mut words = vec!["rm"];
    words.extend(args.session.iter().map(String::as_str));
    words.extend(options.iter().filter_map(|(name, value)| Some([*name, value.as_deref()?])).flatten());
    words.extend(filter.empty.then_some("--empty"));
    words.extend(args.forget.then_some("--forget"));
    words.extend(args.write.even_if_live.then_some("--even-if-live"));
    words.push("--yes");
    build_command(&words)
}

/// Formats the number of sessions and their size: `3 sessions, 1.2 MB`.
fn summarize(candidates: &[Candidate]) -> String {
    let bytes = candidates.iter().map(|candidate| candidate.outcome.bytes).sum();
    format!("{}, {}", count_noun(candidates.len() as u64, "session"), format_size(bytes))
}

/// Builds a table with a row per session: id, age, size, other files, project, title.
fn build_table(candidates: &[Candidate], app: &AppContext) -> Table {
    let mut table = Table::new(0)
        .column("id", Align::Left, 36)
        .column("age", Align::Right, 6)
        .column("size", Align::Right, 8)
        .column("other files", Align::Right, 11)
        .omitted_at(2)
        .column("project", Align::Left, 26)
        .omitted_at(1)
        .column("title", Align::Left, 200);
    let ids: Vec<&str> = candidates.iter().map(|candidate| candidate.outcome.session.as_str()).collect();
    for Candidate { outcome, row, .. } in candidates {
        let title = row.as_ref().map(|row| clean::line(&row.title.text)).unwrap_or_default();
        let other_files = outcome.effects.len().saturating_sub(1);
        table.row(vec![
            Cell::new(NAME, clean::line(shorten_id(&outcome.session, &ids))),
            Cell::new(QUIET, app.clock.format_age(row.as_ref().and_then(|row| row.info.last_time))),
            format_size(outcome.bytes).into(),
            Cell::new(QUIET, if other_files == 0 { String::new() } else { other_files.to_string() }),
            row.as_ref().map(|row| folder_name(&row.project())).unwrap_or_default().into(),
            if title.is_empty() { Cell::new(QUIET, "(no messages)") } else { Cell::new(PLAIN, title) },
        ]);
    }
    table
}

/// Prints the moved files of one session, and how to undo it.
fn print_outcome(outcome: &RemoveOutcome, app: &AppContext, out: &mut Out) -> Result<(), CliError> {
    let verb = if outcome.op.is_some() { "moved to the trash" } else { "would move to the trash" };
    out.line(&format!("{verb}: {} ({})", clean::line(&outcome.session), format_size(outcome.bytes)))?;
    effects::print(&outcome.effects, outcome.op, app, out)
}

/// Prints the number and size of the removed sessions, and how to undo each.
fn print_bulk_outcome(removed: &[RemoveOutcome], out: &mut Out) -> Result<(), CliError> {
    let bytes = removed.iter().map(|outcome| outcome.bytes).sum();
    let count = count_noun(removed.len() as u64, "session");
    out.line(&format!("moved to the trash: {count}, {}", format_size(bytes)))?;
    match removed.last().and_then(|outcome| outcome.op) {
        Some(op) if removed.len() == 1 => write_report::print_undo(op, out),
        Some(_) => {
            let log = quote_command(&["log"]);
            out.note(&format!(
                "each is an operation: {log} lists them, `{} N` restores one",
                build_command(&["undo"])
            ));
            Ok(())
        }
        None => Ok(()),
    }
}
