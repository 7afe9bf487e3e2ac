//! `rm`: moves sessions with their families to the trash.

use rethread_engine::ops::{self, RemoveRequest};

use super::args::Rm;
use super::error::{CliError, Exit};
use super::figures::size;
use super::out::Out;
use super::{AppContext, clean, effects};
use crate::json;

pub(crate) fn run(args: &Rm, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    // All names first: one that is wrong must not stop half-way.
    let mut paths =
        args.session.iter().map(|name| place.session_to_change(name)).collect::<Result<Vec<_>, _>>()?;
    let mut seen = std::collections::HashSet::new();
    paths.retain(|path| seen.insert(path.clone()));
    for path in paths {
        let request = RemoveRequest { path, even_if_live: args.pen.even_if_live, dry_run: args.pen.dry_run };
        let removed = ops::remove(&place.pen, &request)?;
        if out.is_json() {
            out.json(&json::remove(&removed))?;
            continue;
        }
        let done = if removed.op.is_some() { "moved to the trash" } else { "would move to the trash" };
        out.line(&format!("{done}: {} ({})", clean::line(&removed.session), size(removed.bytes)))?;
        effects::print(&removed.effects, removed.op, place, out)?;
    }
    Ok(Exit::Done)
}
