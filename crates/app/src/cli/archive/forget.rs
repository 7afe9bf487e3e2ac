//! `rethread archive forget` and `rethread archive prune`.

use std::path::PathBuf;

use rethread_engine::Error;
use rethread_engine::core::entry::Timestamp;
use rethread_engine::ops::archive::{
    self, ArchiveLocation, ForgetCandidate, ForgetPlan, ForgetRequest, ForgottenSession,
};
use rethread_engine::ops::resolve::is_exact_name;

use super::{MAX_LISTED, print_damages};
use crate::cli::args::{ArchivePruneArgs, Forget};
use crate::cli::error::{CliError, Exit};
use crate::cli::figures::{count_noun, format_size, group_digits};
use crate::cli::out::Out;
use crate::cli::rm::{ask, can_ask};
use crate::cli::style::{NAME, QUIET};
use crate::cli::table::{Align, Cell, Table};
use crate::cli::{AppContext, clean};
use crate::json;
use crate::text::command::{build_command, quote_command};

/// Runs `rethread archive forget`: shows the sessions, asks, and records that they are forgotten.
///
/// Returns [`Exit::Nothing`] if no session matches or the user declines.
pub(super) fn run(
    args: &Forget,
    location: &ArchiveLocation,
    app: &AppContext,
    out: &mut Out,
) -> Result<Exit, CliError> {
    match (args.session.is_empty(), args.older_than.is_none() && args.project.is_none()) {
        (true, true) => return Err(CliError::NothingToForget),
        (false, false) => return Err(CliError::NamesAndFilter { command: "archive forget" }),
        _ => {}
    }
    if args.undo {
        return undo(args, location, app, out);
    }
    let plan = archive::plan_forget(location, &build_request(args, app)?)?;
    if plan.sessions.is_empty() {
        out.note("no matching sessions in the archive");
        return Ok(Exit::Nothing);
    }
    if !args.dry_run && !confirm(args, &plan, app, out)? {
        out.note("nothing was changed");
        return Ok(Exit::Nothing);
    }
    let sessions = plan.sessions.clone();
    if !args.dry_run {
        archive::forget(location, plan, now(app))?;
    }
    if out.is_json() {
        for session in &sessions {
            out.json(&json::build_archive_forget(session, args.dry_run))?;
        }
        return Ok(Exit::Done);
    }
    if args.dry_run {
        build_table(&sessions, app).print(out)?;
        out.line(&format!("would forget: {}", summarize(&sessions)))?;
        return Ok(Exit::Done);
    }
    out.line(&format!("forgotten: {}", summarize(&sessions)))?;
    note_live_files(&sessions, out);
    if let Some(first) = sessions.first() {
        let undo = build_command(&["archive", "forget", &clean::line(&first.session.id), "--undo"]);
        out.note(&format!("`{undo}` takes it back, until {}", quote_command(&["archive", "prune"])));
    }
    Ok(Exit::Done)
}

/// Says that files of forgotten sessions exist.
fn note_live_files(sessions: &[ForgetCandidate], out: &mut Out) {
    let live = sessions.iter().filter(|candidate| candidate.is_live).count();
    if live > 0 {
        let files = count_noun(live as u64, "session file");
        out.note(&format!("{files} of these still there: not changed, and not archived again"));
    }
}

fn now(app: &AppContext) -> Timestamp {
    Timestamp(app.clock.now().as_millisecond())
}

fn build_request(args: &Forget, app: &AppContext) -> Result<ForgetRequest, CliError> {
    let parse = |text: &String| app.clock.parse_time(text).ok_or_else(|| CliError::BadTime(text.clone()));
    Ok(ForgetRequest {
        names: args.session.clone(),
        older_than: args.older_than.as_ref().map(parse).transpose()?,
        project: args.project.clone(),
    })
}

/// Shows what would be forgotten and asks the user. `--yes` is an answer.
///
/// Returns an error if there is no answer and no terminal, or if a name may match another session tomorrow.
fn confirm(args: &Forget, plan: &ForgetPlan, app: &AppContext, out: &mut Out) -> Result<bool, CliError> {
    if !can_ask(out) {
        let is_named = |name: &&String, candidate: &ForgetCandidate| {
            let ForgetCandidate { session, .. } = candidate;
            is_exact_name(name, &session.path, &session.id)
        };
        let is_inexact = |name: &&String| !plan.sessions.iter().any(|candidate| is_named(name, candidate));
        if let Some(name) = args.session.iter().find(is_inexact) {
            let starts = |candidate: &&ForgetCandidate| candidate.session.id.starts_with(name.as_str());
            let id = plan.sessions.iter().find(starts).map_or("ID", |candidate| &candidate.session.id);
            let command = build_command(&["archive", "forget", id, "--yes"]);
            return Err(CliError::InexactName { name: name.clone(), command });
        }
    }
    if args.yes {
        return Ok(true);
    }
    if out.is_json() || !can_ask(out) {
        let action =
            format!("removing {} from the archive", count_noun(plan.sessions.len() as u64, "session"));
        return Err(CliError::Unconfirmed { action, command: repeat_with_yes(args) });
    }
    let listed = &plan.sessions[..plan.sessions.len().min(MAX_LISTED)];
    for line in build_table(listed, app).render(Some(out.width())) {
        out.note(&line);
    }
    if plan.sessions.len() > MAX_LISTED {
        out.note(&format!("… and {} more", group_digits((plan.sessions.len() - MAX_LISTED) as u64)));
    }
    ask(&format!("forget {}?", summarize(&plan.sessions)), out)
}

/// Builds the same command with `--yes`.
fn repeat_with_yes(args: &Forget) -> String {
    let project = args.project.as_ref().map(|project| project.display().to_string());
    let options = [("--older-than", &args.older_than), ("--project", &project)];
    let mut words = vec!["archive", "forget"];
    words.extend(args.session.iter().map(String::as_str));
    words.extend(options.iter().filter_map(|(name, value)| Some([*name, value.as_deref()?])).flatten());
    words.push("--yes");
    build_command(&words)
}

/// Removes the sessions whose files `rm` removed from the archive. Sessions that are not in the archive are skipped.
pub(in crate::cli) fn forget_removed(
    paths: &[PathBuf],
    is_dry_run: bool,
    app: &AppContext,
    out: &mut Out,
) -> Result<(), CliError> {
    let location = super::find_archive(None, app)?;
    let mut names = Vec::new();
    for path in paths {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let request = ForgetRequest { names: vec![path.display().to_string()], ..ForgetRequest::default() };
        match archive::plan_forget(&location, &request) {
            Ok(_) => names.extend(request.names),
            Err(Error::UnknownSession { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let plan = archive::plan_forget(&location, &ForgetRequest { names, ..ForgetRequest::default() })?;
    let sessions = plan.sessions.clone();
    if !is_dry_run {
        archive::forget(&location, plan, now(app))?;
    }
    if out.is_json() {
        for session in &sessions {
            out.json(&json::build_archive_forget(session, is_dry_run))?;
        }
        return Ok(());
    }
    if sessions.is_empty() {
        return Ok(());
    }
    let verb = if is_dry_run { "would remove" } else { "removed" };
    out.line(&format!("{verb} from the archive: {}", summarize(&sessions)))
}

/// Formats the number of sessions, files and bytes: `2 sessions, 9 files, 1.2 MB`.
fn summarize(sessions: &[ForgetCandidate]) -> String {
    let files = sessions.iter().map(|candidate| candidate.files).sum();
    let bytes = sessions.iter().map(|candidate| candidate.bytes).sum();
    let count = count_noun(sessions.len() as u64, "session");
    format!("{count}, {}, {}", count_noun(files, "file"), format_size(bytes))
}

/// Builds a table with a row per session: id, modification time, size, files, whether the file exists, path.
fn build_table(sessions: &[ForgetCandidate], app: &AppContext) -> Table {
    let mut table = Table::new(0)
        .column("session", Align::Left, 36)
        .column("modified", Align::Right, 12)
        .column("size", Align::Right, 9)
        .column("files", Align::Right, 6)
        .omitted_at(2)
        .column("", Align::Left, 10)
        .column("path", Align::Left, 200)
        .omitted_at(1);
    for ForgetCandidate { session, files, bytes, is_live } in sessions {
        table.row(vec![
            Cell::new(NAME, clean::line(&session.id)),
            app.clock.format_age(Some(session.modified)).into(),
            format_size(*bytes).into(),
            Cell::new(QUIET, group_digits(*files)),
            Cell::new(QUIET, if *is_live { "file stays" } else { "" }),
            app.format_path(&session.path.display().to_string()).into(),
        ]);
    }
    table
}

/// Runs `rethread archive forget --undo`.
fn undo(
    args: &Forget,
    location: &ArchiveLocation,
    app: &AppContext,
    out: &mut Out,
) -> Result<Exit, CliError> {
    let sessions = archive::remember(location, &args.session, args.dry_run, now(app))?;
    for session in &sessions {
        if out.is_json() {
            out.json(&json::build_archive_remember(session, args.dry_run))?;
        } else {
            out.line(&describe_undo(session, args.dry_run))?;
        }
    }
    Ok(Exit::Done)
}

fn describe_undo(session: &ForgottenSession, is_dry_run: bool) -> String {
    let verb = if is_dry_run { "would be" } else { "is" };
    let id = clean::line(&session.id);
    match session.files {
        0 => format!("{id} {verb} archived again; a prune has deleted its earlier content"),
        files => {
            let size = format_size(session.bytes);
            format!("{id} {verb} in the archive again: {}, {size}", count_noun(files, "file"))
        }
    }
}

/// Runs `rethread archive prune`: asks, and deletes the content of forgotten sessions.
pub(super) fn prune(
    args: &ArchivePruneArgs,
    location: &ArchiveLocation,
    app: &AppContext,
    out: &mut Out,
) -> Result<Exit, CliError> {
    let planned = archive::prune(location, true, now(app))?;
    if !args.dry_run && !args.yes {
        if out.is_json() || !can_ask(out) {
            let command = build_command(&["archive", "prune", "--yes"]);
            return Err(CliError::Unconfirmed { action: "deleting archived content".to_owned(), command });
        }
        let sessions = count_noun(planned.sessions, "forgotten session");
        let question = format!("delete the archived content of {sessions}? This cannot be undone.");
        if !ask(&question, out)? {
            out.note("nothing was changed");
            return Ok(Exit::Nothing);
        }
    }
    let outcome = if args.dry_run { planned } else { archive::prune(location, false, now(app))? };
    let exit = if outcome.damages.is_empty() { Exit::Done } else { Exit::Failed };
    if out.is_json() {
        out.json(&json::build_archive_prune(&outcome, args.dry_run))?;
        return Ok(exit);
    }
    let (sessions, files) =
        (count_noun(outcome.sessions, "forgotten session"), count_noun(outcome.files, "file"));
    let freed = outcome.bytes_before.saturating_sub(outcome.bytes_after);
    out.line(&match args.dry_run {
        true => format!("would delete {sessions}: {files}"),
        false => format!("deleted {sessions}: {files}; freed {}", format_size(freed)),
    })?;
    print_damages(&outcome.damages, app, out);
    Ok(exit)
}
