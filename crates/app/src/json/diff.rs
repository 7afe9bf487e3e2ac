//! JSON of `diff`.

use std::collections::BTreeMap;

use rethread_engine::core::diff::{MatchBasis, SideTotals, SideTurn};
use rethread_engine::ops;
use serde::Serialize;

use super::find::{NearbyEntryJson, build_nearby_entry};
use super::object::{ObjectJson, UsageJson, build_object, format_time};

#[derive(Serialize)]
pub(crate) struct DiffJson<'a> {
    common: CommonJson<'a>,
    a: DiffBranchJson<'a>,
    b: DiffBranchJson<'a>,
}

#[derive(Serialize)]
struct CommonJson<'a> {
    match_basis: Option<&'static str>,
    turns: usize,
    entries: usize,
    last_a: Option<NearbyEntryJson<'a>>,
    last_b: Option<NearbyEntryJson<'a>>,
}

#[derive(Serialize)]
struct DiffBranchJson<'a> {
    session: &'a str,
    active: bool,
    tip_line: Option<u32>,
    turns: Vec<DiffTurnJson<'a>>,
    totals: TotalsJson<'a>,
}

#[derive(Serialize)]
struct DiffTurnJson<'a> {
    turn: Option<u32>,
    is_continuation: bool,
    line: u32,
    first: Option<String>,
    prompt: Option<&'a str>,
    answer: Option<&'a str>,
    calls: Vec<DiffCallJson<'a>>,
    interrupted: bool,
    compacted: bool,
    error: Option<&'a str>,
}

#[derive(Serialize)]
struct DiffCallJson<'a> {
    name: &'a str,
    id: &'a str,
    line: u32,
    is_error: Option<bool>,
}

#[derive(Serialize)]
struct TotalsJson<'a> {
    turns: usize,
    responses: usize,
    usage: UsageJson,
    tools: BTreeMap<&'a str, CallCountsJson>,
    files: BTreeMap<&'a str, usize>,
    first: Option<String>,
    last: Option<String>,
}

#[derive(Serialize)]
struct CallCountsJson {
    calls: usize,
    errors: usize,
}

/// Builds the `diff` object of `diff`: the common part of two branches, and both remainders.
pub(crate) fn build_diff(diff: &ops::diff::BranchDiff) -> ObjectJson<DiffJson<'_>> {
    let match_basis = match diff.match_basis {
        MatchBasis::Uuid => Some("uuid"),
        MatchBasis::Message => Some("message"),
        MatchBasis::Text => Some("text"),
        MatchBasis::NoMatch => None,
    };
    let last = |side: usize| diff.last_common.as_ref().map(|last| build_nearby_entry(&last[side]));
    let (turns, entries) = (diff.common_turns, diff.common_entries);
    let common = CommonJson { match_basis, turns, entries, last_a: last(0), last_b: last(1) };
    let [a, b] = diff.branches.each_ref().map(build_branch);
    build_object("diff", DiffJson { common, a, b })
}

fn build_branch(branch: &ops::diff::DiffBranch) -> DiffBranchJson<'_> {
    DiffBranchJson {
        session: &branch.header.id,
        active: branch.active,
        tip_line: branch.tip_line,
        turns: branch.side.turns.iter().map(build_turn).collect(),
        totals: build_totals(&branch.side.totals),
    }
}

fn build_turn(turn: &SideTurn) -> DiffTurnJson<'_> {
    let calls = turn.calls.iter().map(|call| DiffCallJson {
        name: &call.name,
        id: &call.id,
        line: call.line,
        is_error: call.result.as_ref().map(|result| result.is_error),
    });
    DiffTurnJson {
        turn: turn.number,
        is_continuation: turn.is_continuation,
        line: turn.line,
        first: format_time(turn.started_at),
        prompt: turn.prompt.as_deref(),
        answer: turn.answer.as_deref(),
        calls: calls.collect(),
        interrupted: turn.interrupted,
        compacted: turn.compacted,
        error: turn.error.as_deref(),
    }
}

fn build_totals(totals: &SideTotals) -> TotalsJson<'_> {
    TotalsJson {
        turns: totals.turns,
        responses: totals.tokens.responses,
        usage: (&totals.tokens.usage).into(),
        tools: totals
            .tools
            .iter()
            .map(|(name, calls, errors)| (name.as_str(), CallCountsJson { calls: *calls, errors: *errors }))
            .collect(),
        files: totals.files.iter().map(|(path, changes)| (path.as_str(), *changes)).collect(),
        first: format_time(totals.first_time),
        last: format_time(totals.last_time),
    }
}
