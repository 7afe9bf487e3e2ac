//! `rethread restore`: restores a session to its state before rethread changed it.

use rethread_engine::ops;
use rethread_engine::ops::restore::RestoreRequest;

use super::args::Restore;
use super::error::{CliError, Exit};
use super::out::Out;
use super::{AppContext, clean, effects};
use crate::json;

/// Runs `rethread restore`: restores a session to its state before the first change with a backup.
///
/// Returns [`Exit::Nothing`] if it is already in that state.
pub(crate) fn run(args: &Restore, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
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
