//! `rename`: gives a session a title.

use rethread_engine::ops::{self, RenameRequest};

use super::args::Rename;
use super::error::{CliError, Exit};
use super::out::Out;
use super::style::{STRONG, paint};
use super::{AppContext, clean, effects};
use crate::json;

pub(crate) fn run(args: &Rename, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let title = args.title.join(" ");
    let request = RenameRequest {
        path: place.session_to_change(&args.session)?,
        title,
        even_if_live: args.pen.even_if_live,
        dry_run: args.pen.dry_run,
    };
    let rename = ops::rename(&place.pen, &request)?;
    if out.is_json() {
        out.json(&json::rename(&rename))?;
        return Ok(Exit::Done);
    }
    let done = if rename.op.is_some() { "is now called" } else { "would be called" };
    let before = if rename.before.is_empty() { &rename.session } else { &rename.before };
    let before = super::table::truncate_to_width(&clean::line(before), out.width() / 2);
    out.line(&format!("\"{before}\" {done} \"{}\"", paint(STRONG, &clean::line(&rename.title))))?;
    effects::print(&rename.effects, rename.op, place, out)?;
    Ok(Exit::Done)
}
