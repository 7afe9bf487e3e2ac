//! Shows or resumes the session of a hit.

use rethread_engine::core::resume::ContextStatus;
use rethread_engine::ops::search::SearchHit;

use super::label::is_orphan;
use crate::cli::args::{Detail, Show};
use crate::cli::error::{CliError, Exit};
use crate::cli::out::Out;
use crate::cli::style::{QUIET, paint};
use crate::cli::{AppContext, show};
use crate::json;
use crate::text::command::quote_command;
use crate::text::session::restore_command;

/// Shows the turn of a hit, on its branch. Shows the whole session if the hit is in a side file or not linked.
///
/// Returns an error if the session of a result file no longer exists.
pub(super) fn show_hit(hit: SearchHit, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    if hit.in_side_file && is_orphan(&hit) {
        return Err(CliError::SessionGone(hit.path));
    }
    let (path, branch) = match hit.in_side_file {
        // A side file contains only a tool result, so its session is shown from the start.
        true => (hit.session_path, None),
        false if hit.context_status == ContextStatus::Unlinked => (hit.path, None),
        false => (hit.path, Some(format!("L{}", hit.line))),
    };
    let show = Show {
        session: path.display().to_string(),
        turns: hit.turn.filter(|_| branch.is_some()).map(|turn| turn.to_string()),
        tools: Detail::Brief,
        thinking: false,
        only_typed: false,
        raw: false,
        branch,
        all: false,
        plain: false,
    };
    show::run(&show, app, out)
}

/// Prints the command that resumes the session of a hit, and warns if the hit is not in context.
///
/// Returns an error if the session no longer exists.
pub(super) fn print_resume_command(
    hit: &SearchHit,
    app: &AppContext,
    out: &mut Out,
) -> Result<Exit, CliError> {
    if is_orphan(hit) {
        return Err(CliError::SessionGone(hit.path.clone()));
    }
    let command = match hit.archived {
        true => restore_command(&hit.session),
        false => app.resume_command(&hit.session, &hit.project),
    };
    if out.is_json() {
        out.json(&json::build_search_resume(hit, &command))?;
    } else {
        out.line(&command)?;
        if hit.archived {
            out.note("note: only the archive has this session; the command brings it back");
        } else if let Some(obstacle) = app.resume_obstacle(&hit.session, &hit.project) {
            out.note(&format!("note: {obstacle}"));
        }
    }
    let session = hit.session.as_str();
    let target = format!("L{}", hit.line);
    let (reason, hints) = match hit.context_status {
        _ if hit.agent.is_some() => ("this is text of a subagent; only its report is in context", vec![]),
        ContextStatus::Active | ContextStatus::Unlinked => return Ok(Exit::Done),
        ContextStatus::Subagent => ("this is text of a subagent; only its report is in context", vec![]),
        ContextStatus::Compacted => {
            ("this was compacted; only the summary is in context", build_resume_hints(session, &target))
        }
        ContextStatus::OtherBranch => (
            "this is on an abandoned branch; it will not be in context",
            build_resume_hints(session, &target),
        ),
        ContextStatus::Orphaned => (
            "this is orphaned; it will not be in context",
            vec![format!(
                "{} reconnects orphaned parts in a new session",
                quote_command(&["repair", session])
            )],
        ),
    };
    out.note(&format!("note: {reason}"));
    for hint in hints {
        out.note(&format!("{} {hint}", paint(QUIET, "hint:")));
    }
    Ok(Exit::Done)
}

/// Returns hints for resuming from an entry. `target` is its line handle.
fn build_resume_hints(session: &str, target: &str) -> Vec<String> {
    vec![
        format!("{} makes Claude resume from there", quote_command(&["goto", session, target])),
        format!("{} creates a new session up to there", quote_command(&["fork", session, target])),
    ]
}
