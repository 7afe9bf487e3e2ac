//! `restore`: brings a session back to what it was before rethread first changed it.

use rethread_engine::ops::{self, RestoreRequest};

use super::args::Restore;
use super::error::{CliError, Exit};
use super::out::Out;
use super::{AppContext, clean, effects};
use crate::json;

pub(crate) fn run(args: &Restore, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let request = RestoreRequest {
        name: args.session.clone(),
        even_if_live: args.pen.even_if_live,
        dry_run: args.pen.dry_run,
    };
    let restored = ops::restore(&place.pen, &place.roots, &request)?;
    let any = !restored.effects.is_empty();
    if out.is_json() {
        out.json(&json::restore(&restored, args.pen.dry_run))?;
        return Ok(Exit::found(any));
    }
    let session = clean::line(&restored.session);
    if restored.pruned {
        out.note("what was before that is not known any more: its backups were pruned");
    }
    if !any {
        out.note(&format!("session {session} is as it was before op {}: nothing to do", restored.first));
        return Ok(Exit::Nothing);
    }
    let done = if restored.op.is_some() { "is as it was" } else { "would be as it was" };
    out.line(&format!("session {session} {done} before op {}", restored.first))?;
    effects::print(&restored.effects, restored.op, place, out)?;
    Ok(Exit::Done)
}
