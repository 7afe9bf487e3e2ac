//! `rethread restore`: brings a session back from the archive, or restores it to its state before rethread changed it.

use rethread_engine::core::resume::{PathResume, find_first_path_resume};
use rethread_engine::ops;
use rethread_engine::ops::archive::{
    ArchiveLocation, ArchiveRestoreOutcome, ArchiveRestoreRequest, restore_from_archive,
};
use rethread_engine::ops::restore::{RestoreRequest, RestoreSource, choose_source};

use super::archive::find_archive;
use super::args::Restore;
use super::error::{CliError, Exit, print_hint};
use super::figures::count_noun;
use super::out::Out;
use super::style::{NAME, QUIET, paint};
use super::{AppContext, clean, effects, write_report};
use crate::json;
use crate::text::command::quote_command;

/// Runs `rethread restore`. Returns [`Exit::Nothing`] if nothing has to be restored.
pub(crate) fn run(args: &Restore, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    // A machine without an archive gets no id.
    let has_archive = app.archive_dir.as_ref().is_some_and(|dir| dir.is_dir());
    let needs_archive = args.generation.is_some() || args.as_new || args.into.is_some();
    let location = if has_archive || needs_archive { Some(find_archive(None, app)?) } else { None };
    let source = match needs_archive {
        true => RestoreSource::Archive,
        false if args.backup_file => RestoreSource::Backups,
        false => choose_source(&app.writer, location.as_ref(), &args.session)?,
    };
    match location.filter(|_| source == RestoreSource::Archive) {
        Some(location) => restore_archived(&location, args, app, out),
        None => restore_from_backups(args, app, out),
    }
}

/// Restores a session from the archive, or from a backup file next to it if the arguments name one.
pub(crate) fn restore_archived(
    location: &ArchiveLocation,
    args: &Restore,
    app: &AppContext,
    out: &mut Out,
) -> Result<Exit, CliError> {
    if args.backup_file {
        return restore_from_backups(args, app, out);
    }
    let request = ArchiveRestoreRequest {
        name: args.session.clone(),
        generation: args.generation,
        as_new: args.as_new,
        into: args.into.clone(),
        dry_run: args.write.dry_run,
    };
    let outcome = restore_from_archive(&app.writer, location, &app.roots, &request)?;
    if out.is_json() {
        out.json(&json::build_archive_restore(&outcome, request.dry_run))?;
        return Ok(Exit::from_found(!outcome.effects.is_empty()));
    }
    print_notes(&outcome, app, out);
    let session = clean::line(&outcome.session.id);
    if outcome.effects.is_empty() {
        out.note(&format!("nothing to do: all files of session {session} exist"));
        return Ok(Exit::Nothing);
    }
    let verb = if outcome.op.is_some() { "restored" } else { "would restore" };
    let files = count_noun(outcome.effects.len() as u64, "file");
    let name = match (args.as_new, outcome.op) {
        (true, Some(_)) => format!("{session} as {}", outcome.id),
        (true, None) => format!("{session} as a new one"),
        (false, _) => session,
    };
    out.line(&format!("{verb} session {name} from the archive: {files}"))?;
    out.line(&format!("a client loads {}", count_noun(outcome.messages as u64, "message")))?;
    let is_resumable = outcome.messages > 0 && !outcome.is_next_to_live;
    let is_new_id_known = !args.as_new || outcome.op.is_some();
    if is_resumable && is_new_id_known && args.into.is_none() {
        write_report::print_resume(&outcome.id, &outcome.folder, app, out)?;
    }
    if is_resumable && args.into.is_some() {
        let first = find_first_path_resume(PathResume::Appended);
        let command = app.resume_command(&outcome.path.display().to_string(), "");
        out.line(&format!("{} {}", paint(QUIET, "resume:"), paint(NAME, &command)))?;
        out.note(&format!("note: from any folder; Claude Code before {first} continues in a copy"));
    }
    effects::print(&outcome.effects, outcome.op, app, out)?;
    Ok(Exit::Done)
}

/// Prints what differs between the archive and the files that exist.
fn print_notes(outcome: &ArchiveRestoreOutcome, app: &AppContext, out: &mut Out) {
    for path in &outcome.kept {
        let path = app.format_path(&path.display().to_string());
        out.note(&format!("`{path}` has other content than in the archive; it stays as it is"));
    }
    if outcome.is_next_to_live {
        out.note("the session file has other content; the archived state is written next to it");
        let generation = outcome.generation.to_string();
        let id = clean::line(&outcome.session.id);
        let command = ["restore", &id, "--generation", &generation, "--as-new"];
        print_hint(&format!("{} makes it a session that can be resumed", quote_command(&command)), out);
    }
}

/// Restores a session to its state before the first change with a backup.
fn restore_from_backups(args: &Restore, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let request = RestoreRequest {
        name: args.session.clone(),
        from_backup_file: args.backup_file,
        even_if_live: args.write.even_if_live,
        dry_run: args.write.dry_run,
    };
    let outcome = ops::restore::restore(&app.writer, &app.roots, &request)?;
    let has_effects = !outcome.effects.is_empty();
    if out.is_json() {
        out.json(&json::build_restore(&outcome, args.write.dry_run))?;
        return Ok(Exit::from_found(has_effects));
    }
    let session = clean::line(&outcome.session);
    if outcome.pruned {
        out.note("older backups were pruned, so an earlier state cannot be restored");
    }
    let state = match outcome.first {
        Some(first) => format!("its state before operation {first}"),
        None => "the content of its backup file".to_owned(),
    };
    if let Some(file) = outcome.backup_file.as_ref().filter(|_| outcome.first.is_some()) {
        let file = app.format_path(&file.display().to_string());
        out.note(&format!("another program left `{file}`; --backup-file restores it"));
    }
    if !has_effects {
        out.note(&format!("nothing to do: session {session} already has {state}"));
        return Ok(Exit::Nothing);
    }
    let verb = if outcome.op.is_some() { "restored" } else { "would restore" };
    out.line(&format!("{verb} session {session} to {state}"))?;
    effects::print(&outcome.effects, outcome.op, app, out)?;
    Ok(Exit::Done)
}
