//! `rethread reopen`: lists the sessions that were open before a crash, with the commands that continue them.

use rethread_engine::ops;
use rethread_engine::ops::running::InterruptedSession;

use super::AppContext;
use super::args::Reopen;
use super::clean;
use super::error::{CliError, Exit};
use super::out::Out;
use super::style::{NAME, QUIET, paint};
use crate::json;
use crate::text::session::display_title;
use crate::text::shell::quote;

/// Runs `rethread reopen`. Returns [`Exit::Nothing`] if no session was interrupted.
pub(crate) fn run(args: &Reopen, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let parse = |text: &String| app.clock.parse_time(text).ok_or_else(|| CliError::BadTime(text.clone()));
    let since = args.since.as_ref().map(parse).transpose()?;
    let mut sessions = ops::running::list_interrupted_sessions(&app.roots, app.cache.as_ref());
    sessions
        .retain(|session| since.is_none_or(|since| session.last_active.is_some_and(|time| time >= since)));
    for session in &sessions {
        let command = app.resume_command(&session.client.session, &session.project);
        if out.is_json() {
            out.json(&json::build_interrupted_session(session, command))?;
        } else if args.tmux {
            out.line(&format!("tmux new-window {}", quote(&command)))?;
        } else {
            print_session(session, &command, app, out)?;
        }
    }
    if sessions.is_empty() {
        out.note("no session was open in a client that crashed");
    }
    Ok(Exit::from_found(!sessions.is_empty()))
}

fn print_session(
    session: &InterruptedSession,
    command: &str,
    app: &AppContext,
    out: &mut Out,
) -> Result<(), CliError> {
    let title = display_title(&session.title);
    let title = if title.is_empty() { "(no messages)".to_owned() } else { title };
    let facts =
        format!("{} · {}", app.format_path(&session.project), app.clock.format_age(session.last_active));
    out.line(&format!("{}  {}", clean::line(&title), paint(QUIET, &facts)))?;
    out.line(&format!("    {}", paint(NAME, &clean::line(command))))
}
