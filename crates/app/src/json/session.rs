//! What `--json` prints: types of its own, version 1, described in `docs/json.md` (**wire-is-separate**).

use rethread_engine::core::schema::{Occurrences, SchemaItem as Seen};
use rethread_engine::ops;
use serde::Serialize;

use super::{Usage, Wire, time, wire};

#[derive(Serialize)]
pub(crate) struct Session<'a> {
    id: &'a str,
    path: String,
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
    headless: bool,
    empty: bool,
    plan: Option<&'a str>,
    implementation: Option<&'a str>,
    forked_from: Option<&'a str>,
    came_from: Option<&'a str>,
    copies: &'a [String],
    pull_requests: Vec<PullRequest<'a>>,
}

#[derive(Serialize)]
struct PullRequest<'a> {
    number: &'a str,
    url: &'a str,
    repository: &'a str,
}

/// A row of `ls`.
pub(crate) fn session(row: &ops::SessionRow) -> Wire<Session<'_>> {
    let (sketch, links) = (&row.sketch, &row.links);
    let requests = row.pull_requests().iter();
    let requests =
        requests.map(|pr| PullRequest { number: &pr.number, url: &pr.url, repository: &pr.repository });
    wire(
        "session",
        Session {
            id: &row.id,
            path: row.path.display().to_string(),
            title: &row.title.text,
            title_source: row.title.source.name(),
            first_prompt: sketch.first_prompt.as_deref(),
            project: row.project(),
            git_branch: sketch.git_branch.as_deref(),
            versions: &sketch.versions,
            models: &sketch.models,
            first: time(sketch.first),
            last: time(sketch.last),
            turns: sketch.turns,
            branches: sketch.branches,
            agents: row.agents,
            compactions: sketch.compactions,
            lines: sketch.lines,
            bytes: row.bytes,
            problems: sketch.problems,
            live: row.live,
            headless: sketch.is_headless(),
            empty: sketch.is_empty(),
            plan: links.plan.as_deref(),
            implementation: links.implementation.as_deref(),
            forked_from: links.forked_from.as_deref(),
            came_from: links.came_from.as_deref(),
            copies: &links.copies,
            pull_requests: requests.collect(),
        },
    )
}

#[derive(Serialize)]
pub(crate) struct Agent<'a> {
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
    usage: Usage,
    first: Option<String>,
    last: Option<String>,
    warmup: bool,
    path: Option<String>,
}

/// A row of `agents`.
pub(crate) fn agent<'a>(session: &'a str, row: &'a ops::AgentRow) -> Wire<Agent<'a>> {
    wire(
        "agent",
        Agent {
            session,
            id: &row.id,
            kind: &row.kind,
            description: &row.description,
            prompt: &row.prompt,
            parent: row.parent.as_deref(),
            depth: row.depth,
            tool_use: row.tool_use.as_deref(),
            call_line: row.call_line,
            entries: row.entries,
            tools: row.tools,
            responses: row.responses,
            usage: (&row.usage).into(),
            first: time(row.first),
            last: time(row.last),
            warmup: row.warmup,
            path: row.path.as_ref().map(|path| path.display().to_string()),
        },
    )
}

#[derive(Serialize)]
pub(crate) struct Shape<'a> {
    shape: &'static str,
    name: &'a str,
    count: u64,
    oldest: Option<&'a str>,
    newest: Option<&'a str>,
    known: bool,
}

/// A row of `schema`.
pub(crate) fn shape<'a>(shape: Seen, name: &'a str, seen: &'a Occurrences, known: bool) -> Wire<Shape<'a>> {
    let oldest = seen.oldest.as_ref().map(|version| version.text.as_str());
    let newest = seen.newest.as_ref().map(|version| version.text.as_str());
    wire("shape", Shape { shape: shape.name(), name, count: seen.count, oldest, newest, known })
}
