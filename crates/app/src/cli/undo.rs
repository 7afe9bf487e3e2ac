//! `rethread undo`: undoes an operation.

use rethread_engine::ops;
use rethread_engine::ops::undo::UndoRequest;

use super::args::Undo;
use super::error::{CliError, Exit};
use super::out::Out;
use super::{AppContext, clean, effects};
use crate::json;

/// Runs `rethread undo`: undoes the given or the newest operation, and prints the restored files.
pub(crate) fn run(args: &Undo, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let request =
        UndoRequest { op: args.op, even_if_live: args.write.even_if_live, dry_run: args.write.dry_run };
    let outcome = ops::undo::undo(&app.writer, &request)?;
    if out.is_json() {
        out.json(&json::build_undo(&outcome))?;
        return Ok(Exit::Done);
    }
    let operation = format!("operation {}: {} {}", outcome.undone, outcome.command, outcome.about);
    let verb = if outcome.op.is_some() { "undid" } else { "would undo" };
    out.line(&format!("{verb} {}", clean::line(operation.trim_end())))?;
    effects::print(&outcome.effects, outcome.op, app, out)?;
    Ok(Exit::Done)
}
