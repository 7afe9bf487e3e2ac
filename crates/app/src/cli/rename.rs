//! `rethread rename`: sets the title of a session.

use rethread_engine::ops;
use rethread_engine::ops::rename::RenameRequest;

use super::args::Rename;
use super::error::{CliError, Exit};
use super::out::Out;
use super::style::{STRONG, paint};
use super::{AppContext, clean, effects};
use crate::json;

/// Runs `rethread rename`: sets the title of a session and prints the old and the new one.
pub(crate) fn run(args: &Rename, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let title = args.title.join(" ");
    let request = RenameRequest {
        path: app.find_session_to_change(&args.session)?,
        title,
        even_if_live: args.write.even_if_live,
        dry_run: args.write.dry_run,
    };
    let outcome = ops::rename::rename(&app.writer, &request)?;
    if out.is_json() {
        out.json(&json::build_rename(&outcome))?;
        return Ok(Exit::Done);
    }
    let verb = if outcome.op.is_some() { "renamed to" } else { "would be renamed to" };
    let old_title = if outcome.old_title.is_empty() { &outcome.session } else { &outcome.old_title };
    let old_title = super::table::truncate_to_width(&clean::line(old_title), out.width() / 2);
    out.line(&format!("\"{old_title}\" {verb} \"{}\"", paint(STRONG, &clean::line(&outcome.title))))?;
    effects::print(&outcome.effects, outcome.op, app, out)?;
    Ok(Exit::Done)
}
