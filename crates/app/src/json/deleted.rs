//! JSON of `ls --deleted`, and of `show` with a deleted session.

use rethread_engine::ops::deleted::{DeletedPrompt, DeletedSession};
use serde::Serialize;

use super::object::{ObjectJson, build_object, format_time};

#[derive(Serialize)]
pub(crate) struct DeletedSessionJson<'a> {
    id: &'a str,
    project: Option<&'a str>,
    first: Option<String>,
    last: Option<String>,
    first_prompt: Option<&'a str>,
    prompts: usize,
    commands: usize,
    bytes: u64,
    traces: Vec<TraceJson>,
}

#[derive(Serialize)]
struct TraceJson {
    kind: &'static str,
    count: usize,
    bytes: u64,
    paths: Vec<String>,
}

/// Builds the `deleted_session` object of `ls --deleted`.
pub(crate) fn build_deleted_session(session: &DeletedSession) -> ObjectJson<DeletedSessionJson<'_>> {
    let traces = session.traces.iter().map(|trace| TraceJson {
        kind: trace.kind.name(),
        count: trace.count,
        bytes: trace.bytes,
        paths: trace.paths.iter().map(|path| path.display().to_string()).collect(),
    });
    build_object(
        "deleted_session",
        DeletedSessionJson {
            id: &session.id,
            project: session.project.as_deref(),
            first: format_time(session.first_time),
            last: format_time(session.last_time),
            first_prompt: session.first_prompt.as_deref(),
            prompts: session.prompts,
            commands: session.commands,
            bytes: session.bytes(),
            traces: traces.collect(),
        },
    )
}

#[derive(Serialize)]
pub(crate) struct DeletedPromptJson<'a> {
    session: &'a str,
    number: usize,
    time: Option<String>,
    project: Option<&'a str>,
    text: &'a str,
    pasted: Vec<PastedJson<'a>>,
}

#[derive(Serialize)]
struct PastedJson<'a> {
    number: &'a str,
    image: bool,
    text: Option<&'a str>,
}

/// Builds the `deleted_prompt` object of `show`. `number` counts from 1.
pub(crate) fn build_deleted_prompt<'a>(
    session: &'a str,
    number: usize,
    prompt: &'a DeletedPrompt,
) -> ObjectJson<DeletedPromptJson<'a>> {
    let prompt = &prompt.prompt;
    let pasted = prompt.pasted.iter().map(|pasted| PastedJson {
        number: &pasted.number,
        image: pasted.is_image,
        text: pasted.text.as_deref(),
    });
    build_object(
        "deleted_prompt",
        DeletedPromptJson {
            session,
            number,
            time: format_time(prompt.time),
            project: prompt.project.as_deref(),
            text: &prompt.text,
            pasted: pasted.collect(),
        },
    )
}
