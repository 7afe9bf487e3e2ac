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
    if !has_effects {
        out.note(&format!(
            "nothing to do: session {session} is unchanged since before operation {}",
            outcome.first
        ));
        return Ok(Exit::Nothing);
    }
    let verb = if outcome.op.is_some() { "restored" } else { "would restore" };
    out.line(&format!("{verb} session {session} to its state before operation {}", outcome.first))?;
    effects::print(&outcome.effects, outcome.op, app, out)?;
    Ok(Exit::Done)
}
