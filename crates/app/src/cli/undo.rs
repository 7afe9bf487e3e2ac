//! `undo`: takes an op back.

use rethread_engine::ops::{self, UndoRequest};

use super::args::Undo;
use super::error::{CliError, Exit};
use super::out::Out;
use super::{AppContext, clean, effects};
use crate::json;

pub(crate) fn run(args: &Undo, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let request = UndoRequest { op: args.op, even_if_live: args.pen.even_if_live, dry_run: args.pen.dry_run };
    let undo = ops::undo(&place.pen, &request)?;
    if out.is_json() {
        out.json(&json::undo(&undo))?;
        return Ok(Exit::Done);
    }
    let what = format!("op {}: {} {}", undo.undone, undo.command, undo.about);
    let done = if undo.op.is_some() { "undid" } else { "would undo" };
    out.line(&format!("{done} {}", clean::line(what.trim_end())))?;
    effects::print(&undo.effects, undo.op, place, out)?;
    Ok(Exit::Done)
}
