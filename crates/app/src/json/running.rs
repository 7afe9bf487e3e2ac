//! JSON of `ps` and `reopen`.

use rethread_engine::ops::running::{InterruptedSession, RunningSession};
use serde::Serialize;

use super::object::{ObjectJson, build_object, format_time};

#[derive(Serialize)]
pub(crate) struct RunningSessionJson<'a> {
    id: &'a str,
    pid: u32,
    client: Option<&'a str>,
    path: Option<String>,
    title: &'a str,
    project: &'a str,
    state: &'static str,
    inferred: bool,
    since: Option<String>,
    started: Option<String>,
    last_prompt: &'a str,
    context_tokens: Option<u64>,
}

/// Builds the `running_session` object of `ps`.
pub(crate) fn build_running_session(row: &RunningSession) -> ObjectJson<RunningSessionJson<'_>> {
    build_object(
        "running_session",
        RunningSessionJson {
            id: &row.client.session,
            pid: row.client.pid,
            client: row.client.version.as_deref(),
            path: row.path.as_ref().map(|path| path.display().to_string()),
            title: &row.title,
            project: &row.project,
            state: row.state.name(),
            inferred: row.is_inferred,
            since: format_time(row.since),
            started: format_time(row.client.started_at),
            last_prompt: &row.last_prompt,
            context_tokens: row.context_tokens,
        },
    )
}

#[derive(Serialize)]
pub(crate) struct InterruptedSessionJson<'a> {
    id: &'a str,
    pid: u32,
    client: Option<&'a str>,
    path: String,
    title: &'a str,
    project: &'a str,
    last_active: Option<String>,
    command: String,
}

/// Builds the `interrupted_session` object of `reopen`. `command` continues the session.
pub(crate) fn build_interrupted_session(
    session: &InterruptedSession,
    command: String,
) -> ObjectJson<InterruptedSessionJson<'_>> {
    build_object(
        "interrupted_session",
        InterruptedSessionJson {
            id: &session.client.session,
            pid: session.client.pid,
            client: session.client.version.as_deref(),
            path: session.path.display().to_string(),
            title: &session.title,
            project: &session.project,
            last_active: format_time(session.last_active),
            command,
        },
    )
}
