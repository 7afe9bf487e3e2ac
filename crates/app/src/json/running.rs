//! JSON of `ps`.

use rethread_engine::ops::running::RunningSession;
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
