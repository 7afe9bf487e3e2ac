//! From a hit to its session: to read it, or to go on with it.

use rethread_engine::ops::{ContextStatus, SearchHit};

use super::super::args::{Detail, Show};
use super::super::error::{CliError, Exit};
use super::super::out::Out;
use super::super::style::{QUIET, paint};
use super::super::{AppContext, show};
use super::label::is_orphan;
use crate::json;
use crate::text::shell::typed;

/// Shows the session of a hit, at its turn.
pub(super) fn show_hit(hit: SearchHit, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    if hit.beside && is_orphan(&hit) {
        return Err(CliError::SessionGone(hit.path));
    }
    let (path, name) = match hit.beside {
        // The file holds nothing but a result: its session is shown, from the beginning.
        true => (hit.session_path, None),
        false if hit.standing == ContextStatus::Outside => (hit.path, None),
        false => (hit.path, Some(format!("L{}", hit.line))),
    };
    let show = Show {
        session: path.display().to_string(),
        turns: hit.turn.filter(|_| name.is_some()).map(|turn| turn.to_string()),
        tools: Detail::Brief,
        thinking: false,
        raw: false,
        branch: name,
        everything: false,
    };
    show::run(&show, place, out)
}

/// Prints the command that resumes the session of a hit, and says what the client will not see.
pub(super) fn resume(hit: &SearchHit, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    if is_orphan(hit) {
        return Err(CliError::SessionGone(hit.path.clone()));
    }
    let command = place.resume_command(&hit.session, &hit.project);
    if out.is_json() {
        out.json(&json::search_resume(hit, &command))?;
    } else {
        out.line(&command)?;
    }
    let session = typed(&hit.session);
    let point = format!("L{}", hit.line);
    let (lost, hints) = match hit.standing {
        _ if hit.agent.is_some() => ("a subagent said it: Claude has only what it reported", vec![]),
        ContextStatus::Active | ContextStatus::Outside => return Ok(Exit::Done),
        ContextStatus::Agent => ("a subagent said it: Claude has only what it reported", vec![]),
        ContextStatus::Compacted => {
            ("it stands before a compaction: Claude has only its summary", ways(&session, &point))
        }
        ContextStatus::Aside => {
            ("it stands on another branch: Claude will not see it", ways(&session, &point))
        }
        ContextStatus::Island => (
            "it is cut off: Claude will not see it",
            vec![format!("`rethread repair {session}` hangs cut off parts together in a new session")],
        ),
    };
    out.note(&format!("note: {lost}"));
    for hint in hints {
        out.note(&format!("{} {hint}", paint(QUIET, "hint:")));
    }
    Ok(Exit::Done)
}

fn ways(session: &str, point: &str) -> Vec<String> {
    vec![
        format!("`rethread goto {session} {point}` makes Claude go on from there"),
        format!("`rethread fork {session} {point}` makes a new session of what was said up to there"),
    ]
}
