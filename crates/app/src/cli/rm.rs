//! `rethread rm`: moves sessions and their files to the trash.

use rethread_engine::ops;
use rethread_engine::ops::rm::RemoveRequest;

use super::args::Rm;
use super::error::{CliError, Exit};
use super::figures::format_size;
use super::out::Out;
use super::{AppContext, clean, effects};
use crate::json;

/// Runs `rethread rm`: moves each session to the trash, as one operation per session.
pub(crate) fn run(args: &Rm, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    // Resolve all names first, so that a wrong name changes nothing.
    let mut paths =
        args.session.iter().map(|name| app.find_session_to_change(name)).collect::<Result<Vec<_>, _>>()?;
    let mut seen = std::collections::HashSet::new();
    paths.retain(|path| seen.insert(path.clone()));
    for path in paths {
        let request =
            RemoveRequest { path, even_if_live: args.write.even_if_live, dry_run: args.write.dry_run };
        let outcome = ops::rm::remove(&app.writer, &request)?;
        if out.is_json() {
            out.json(&json::build_remove(&outcome))?;
            continue;
        }
        let verb = if outcome.op.is_some() { "moved to the trash" } else { "would move to the trash" };
        out.line(&format!("{verb}: {} ({})", clean::line(&outcome.session), format_size(outcome.bytes)))?;
        effects::print(&outcome.effects, outcome.op, app, out)?;
    }
    Ok(Exit::Done)
}
