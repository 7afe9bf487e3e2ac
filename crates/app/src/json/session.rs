//! JSON of `ls`, `agents` and `schema`.

use std::path::Path;

use rethread_engine::core::schema::{Occurrences, SchemaItemKind};
use rethread_engine::ops;
use serde::Serialize;

use super::object::{ObjectJson, UsageJson, build_object, format_time};

#[derive(Serialize)]
pub(crate) struct SessionJson<'a> {
    id: &'a str,
    path: String,
    store: Option<String>,
    title: &'a str,
    title_source: &'static str,
    first_prompt: Option<&'a str>,
    project: String,
    git_branch: Option<&'a str>,
    versions: &'a [String],
    models: &'a [String],
    first: Option<String>,
    last: Option<String>,
    turns: usize,
    branches: usize,
    agents: usize,
    compactions: usize,
    lines: usize,
    bytes: u64,
    problems: usize,
    live: bool,
    archived: bool,
    headless: bool,
    empty: bool,
    plan: Option<&'a str>,
    implementation: Option<&'a str>,
    forked_from: Option<&'a str>,
    continued_from: Option<&'a str>,
    copies: &'a [String],
    pull_requests: Vec<PullRequestJson<'a>>,
}

#[derive(Serialize)]
struct PullRequestJson<'a> {
    number: &'a str,
    url: &'a str,
    repository: &'a str,
}

/// Builds the `session` object of `ls`. `store` is the root with the file.
pub(crate) fn build_session<'a>(
    row: &'a ops::list::SessionRow,
    store: Option<&Path>,
) -> ObjectJson<SessionJson<'a>> {
    let (info, links) = (&row.info, &row.links);
    let pull_requests = row.pull_requests().iter();
    let pull_requests = pull_requests.map(|pr| PullRequestJson {
        number: &pr.number,
        url: &pr.url,
        repository: &pr.repository,
    });
    build_object(
        "session",
        SessionJson {
            id: &row.id,
            path: row.path.display().to_string(),
            store: store.map(|store| store.display().to_string()),
            title: &row.title.text,
            title_source: row.title.source.name(),
            first_prompt: info.first_prompt.as_deref(),
            project: row.project(),
            git_branch: info.git_branch.as_deref(),
            versions: &info.versions,
            models: &info.models,
            first: format_time(info.first_time),
            last: format_time(info.last_time),
            turns: info.turns,
            branches: info.branches,
            agents: row.agents,
            compactions: info.compactions,
            lines: info.lines,
            bytes: row.bytes,
            problems: info.problem_count,
            live: row.live,
            archived: row.archived,
            headless: info.is_headless(),
            empty: info.is_empty(),
            plan: links.plan.as_deref(),
            implementation: links.implementation.as_deref(),
            forked_from: links.forked_from.as_deref(),
            continued_from: links.continued_from.as_deref(),
            copies: &links.copies,
            pull_requests: pull_requests.collect(),
        },
    )
}

#[derive(Serialize)]
pub(crate) struct AgentJson<'a> {
    session: &'a str,
    id: &'a str,
    kind: &'a str,
    description: &'a str,
    prompt: &'a str,
    parent: Option<&'a str>,
    depth: usize,
    tool_use: Option<&'a str>,
    call_line: Option<u32>,
    entries: usize,
    tools: usize,
    responses: usize,
    usage: UsageJson,
    first: Option<String>,
    last: Option<String>,
    warmup: bool,
    path: Option<String>,
}

/// Builds the `agent` object of `agents`. `session` is the id of the session that started the subagent.
pub(crate) fn build_agent<'a>(session: &'a str, row: &'a ops::agents::AgentRow) -> ObjectJson<AgentJson<'a>> {
    build_object(
        "agent",
        AgentJson {
            session,
            id: &row.id,
            kind: &row.kind,
            description: &row.description,
            prompt: &row.prompt,
            parent: row.parent.as_deref(),
            depth: row.depth,
            tool_use: row.tool_use_id.as_deref(),
            call_line: row.call_line,
            entries: row.entries,
            tools: row.tools,
            responses: row.responses,
            usage: (&row.usage).into(),
            first: format_time(row.started_at),
            last: format_time(row.ended_at),
            warmup: row.warmup,
            path: row.path.as_ref().map(|path| path.display().to_string()),
        },
    )
}

#[derive(Serialize)]
pub(crate) struct SchemaItemJson<'a> {
    item: &'static str,
    name: &'a str,
    count: u64,
    oldest: Option<&'a str>,
    newest: Option<&'a str>,
    known: bool,
}

/// Builds the `schema_item` object of `schema`. `known` is `true` if rethread knows the type or field.
pub(crate) fn build_schema_item<'a>(
    kind: SchemaItemKind,
    name: &'a str,
    occurrences: &'a Occurrences,
    known: bool,
) -> ObjectJson<SchemaItemJson<'a>> {
    let oldest = occurrences.oldest.as_ref().map(|version| version.text.as_str());
    let newest = occurrences.newest.as_ref().map(|version| version.text.as_str());
    build_object(
        "schema_item",
        SchemaItemJson { item: kind.name(), name, count: occurrences.count, oldest, newest, known },
    )
}
