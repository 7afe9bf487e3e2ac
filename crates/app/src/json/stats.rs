//! Counts in `--json`.

use std::collections::BTreeMap;

use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::stats::{Counts, FileCounts};
use serde::Serialize;

use super::{Usage, Wire, time, wire};

#[derive(Serialize)]
pub(crate) struct File<'a> {
    path: &'a str,
    #[serde(flatten)]
    counts: Counted<'a>,
}

#[derive(Serialize)]
struct Counted<'a> {
    bytes: u64,
    lines: u64,
    malformed: u64,
    salvaged: u64,
    types: &'a BTreeMap<String, u64>,
    uuids: u64,
    uuids_repeated: u64,
    roots: u64,
    parents_missing: u64,
    messages: u64,
    tool_uses: u64,
    tool_uses_unpaired: u64,
    tool_results_unpaired: u64,
    tool_results_is_error: u64,
}

impl<'a> From<&'a FileCounts> for Counted<'a> {
    fn from(counts: &'a FileCounts) -> Counted<'a> {
        Counted {
            bytes: counts.bytes,
            lines: counts.lines,
            malformed: counts.malformed,
            salvaged: counts.salvaged,
            types: &counts.types,
            uuids: counts.uuids,
            uuids_repeated: counts.uuids_repeated,
            roots: counts.roots,
            parents_missing: counts.parents_missing,
            messages: counts.messages,
            tool_uses: counts.tool_uses,
            tool_uses_unpaired: counts.tool_uses_unpaired,
            tool_results_unpaired: counts.tool_results_unpaired,
            tool_results_is_error: counts.tool_results_is_error,
        }
    }
}

/// A row of `stats --files`.
pub(crate) fn file<'a>(path: &'a str, counts: &'a FileCounts) -> Wire<File<'a>> {
    wire("file", File { path, counts: counts.into() })
}

#[derive(Serialize)]
pub(crate) struct Stats<'a> {
    files: u64,
    #[serde(flatten)]
    counts: Counted<'a>,
    blocks: &'a BTreeMap<String, u64>,
    system_subtypes: &'a BTreeMap<String, u64>,
    tools: BTreeMap<&'a str, u64>,
    tool_calls: BTreeMap<&'a str, Calls>,
    responses: usize,
    usage: Usage,
    responses_once: usize,
    usage_once: Usage,
    models: &'a BTreeMap<String, u64>,
    turns: u64,
    turns_written: u64,
    forks: u64,
    problems: &'a BTreeMap<String, u64>,
    unknown: &'a BTreeMap<String, u64>,
    first: Option<String>,
    last: Option<String>,
    wall_ms: i64,
    active_ms: i64,
}

#[derive(Serialize)]
struct Calls {
    calls: u64,
    errors: u64,
    mean_ms: Option<u64>,
}

/// The sums of `stats`.
pub(crate) fn stats(counts: &Counts) -> Wire<Stats<'_>> {
    let (plain, once) = (counts.plain(), counts.once());
    let tools = counts.tools.iter().filter(|(_, tool)| tool.blocks > 0);
    let calls = counts.tools.iter().map(|(name, tool)| {
        let mean_ms = tool.millis.checked_div(tool.timed);
        (name.as_str(), Calls { calls: tool.calls, errors: tool.errors, mean_ms })
    });
    wire(
        "stats",
        Stats {
            files: counts.files,
            counts: (&counts.total).into(),
            blocks: &counts.blocks,
            system_subtypes: &counts.system_subtypes,
            tools: tools.map(|(name, tool)| (name.as_str(), tool.blocks)).collect(),
            tool_calls: calls.collect(),
            responses: plain.responses,
            usage: (&plain.usage).into(),
            responses_once: once.responses,
            usage_once: (&once.usage).into(),
            models: &counts.models,
            turns: counts.turns,
            turns_written: counts.turns_written,
            forks: counts.forks,
            problems: &counts.problems,
            unknown: &counts.unknown,
            first: time(counts.span.map(|(first, _)| Timestamp(first))),
            last: time(counts.span.map(|(_, last)| Timestamp(last))),
            wall_ms: counts.span.map_or(0, |(first, last)| last - first),
            active_ms: counts.active,
        },
    )
}
