//! JSON of `stats`.

use std::collections::BTreeMap;

use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::stats::{FileCounts, NotableFeature, StoreCounts};
use serde::Serialize;

use super::object::{ObjectJson, UsageJson, build_object, format_time};

#[derive(Serialize)]
pub(crate) struct FileJson<'a> {
    path: &'a str,
    #[serde(flatten)]
    counts: CountsJson<'a>,
    turns: u64,
    forks: u64,
    notable: Vec<&'static str>,
}

#[derive(Serialize)]
struct CountsJson<'a> {
    bytes: u64,
    lines: u64,
    malformed: u64,
    salvaged: u64,
    types: &'a BTreeMap<String, u64>,
    uuids: u64,
    uuids_repeated: u64,
    roots: u64,
    parents_missing: u64,
    user_messages: u64,
    messages: u64,
    tool_uses: u64,
    tool_uses_unpaired: u64,
    tool_results_unpaired: u64,
    tool_results_is_error: u64,
    longest_turn: u64,
    compactions: u64,
    siblings: &'a BTreeMap<String, u64>,
    forks_by_kind: &'a BTreeMap<String, u64>,
    prompt_versions: &'a BTreeMap<u64, u64>,
}

impl<'a> From<&'a FileCounts> for CountsJson<'a> {
    fn from(counts: &'a FileCounts) -> CountsJson<'a> {
        CountsJson {
            bytes: counts.bytes,
            lines: counts.lines,
            malformed: counts.malformed,
            salvaged: counts.salvaged,
            types: &counts.types,
            uuids: counts.uuids,
            uuids_repeated: counts.uuids_repeated,
            roots: counts.roots,
            parents_missing: counts.parents_missing,
            user_messages: counts.user_messages,
            messages: counts.messages,
            tool_uses: counts.tool_uses,
            tool_uses_unpaired: counts.tool_uses_unpaired,
            tool_results_unpaired: counts.tool_results_unpaired,
            tool_results_is_error: counts.tool_results_is_error,
            longest_turn: counts.longest_turn,
            compactions: counts.compactions,
            siblings: &counts.forks.siblings,
            forks_by_kind: &counts.forks.kinds,
            prompt_versions: &counts.forks.prompt_versions,
        }
    }
}

/// Builds the `file` object of `stats --files`.
pub(crate) fn build_file<'a>(path: &'a str, counts: &'a FileCounts) -> ObjectJson<FileJson<'a>> {
    build_object(
        "file",
        FileJson {
            path,
            counts: counts.into(),
            turns: counts.turns,
            forks: counts.forks.extra_branches,
            notable: counts.notable_features().map(NotableFeature::name).collect(),
        },
    )
}

#[derive(Serialize)]
pub(crate) struct StatsJson<'a> {
    files: u64,
    #[serde(flatten)]
    counts: CountsJson<'a>,
    blocks: &'a BTreeMap<String, u64>,
    system_subtypes: &'a BTreeMap<String, u64>,
    tools: BTreeMap<&'a str, u64>,
    tool_calls: BTreeMap<String, CallCountsJson>,
    responses: usize,
    usage: UsageJson,
    responses_once: usize,
    usage_once: UsageJson,
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
struct CallCountsJson {
    calls: u64,
    errors: u64,
    mean_ms: Option<u64>,
}

/// Builds the `stats` object of `stats`: the totals of all files.
pub(crate) fn build_stats(counts: &StoreCounts) -> ObjectJson<StatsJson<'_>> {
    let (by_request_id, once) = (counts.totals_by_request_id(), counts.deduplicated_totals());
    let tools = counts.tools.iter().filter(|(_, tool)| tool.blocks > 0);
    let calls = counts.unique_tools().into_iter().map(|(name, tool)| {
        let mean_ms = tool.millis.checked_div(tool.timed);
        (name, CallCountsJson { calls: tool.calls, errors: tool.errors, mean_ms })
    });
    build_object(
        "stats",
        StatsJson {
            files: counts.files,
            counts: (&counts.total).into(),
            blocks: &counts.blocks,
            system_subtypes: &counts.system_subtypes,
            tools: tools.map(|(name, tool)| (name.as_str(), tool.blocks)).collect(),
            tool_calls: calls.collect(),
            responses: by_request_id.responses,
            usage: (&by_request_id.usage).into(),
            responses_once: once.responses,
            usage_once: (&once.usage).into(),
            models: &counts.models,
            turns: counts.turns,
            turns_written: counts.total.turns,
            forks: counts.total.forks.extra_branches,
            problems: &counts.problems,
            unknown: &counts.unknown,
            first: format_time(counts.time_span.map(|(first, _)| Timestamp(first))),
            last: format_time(counts.time_span.map(|(_, last)| Timestamp(last))),
            wall_ms: counts.time_span.map_or(0, |(first, last)| last - first),
            active_ms: counts.active_millis,
        },
    )
}
