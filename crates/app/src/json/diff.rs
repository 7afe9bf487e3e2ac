//! Two branches beside each other in `--json`.

use std::collections::BTreeMap;

use rethread_engine::core::diff::{MatchBasis, SideTurn, Totals};
use rethread_engine::ops;
use serde::Serialize;

use super::find::{Near, near};
use super::{Usage, Wire, time, wire};

#[derive(Serialize)]
pub(crate) struct Diff<'a> {
    common: Common<'a>,
    a: Branch<'a>,
    b: Branch<'a>,
}

#[derive(Serialize)]
struct Common<'a> {
    known_by: Option<&'static str>,
    turns: usize,
    entries: usize,
    last_a: Option<Near<'a>>,
    last_b: Option<Near<'a>>,
}

#[derive(Serialize)]
struct Branch<'a> {
    session: &'a str,
    active: bool,
    tip_line: Option<u32>,
    turns: Vec<Turn<'a>>,
    totals: Sums<'a>,
}

#[derive(Serialize)]
struct Turn<'a> {
    turn: Option<u32>,
    goes_on: bool,
    line: u32,
    first: Option<String>,
    prompt: Option<&'a str>,
    answer: Option<&'a str>,
    calls: Vec<Call<'a>>,
    stopped: bool,
    compacted: bool,
    error: Option<&'a str>,
}

#[derive(Serialize)]
struct Call<'a> {
    name: &'a str,
    id: &'a str,
    line: u32,
    is_error: Option<bool>,
}

#[derive(Serialize)]
struct Sums<'a> {
    turns: usize,
    responses: usize,
    usage: Usage,
    tools: BTreeMap<&'a str, Calls>,
    files: BTreeMap<&'a str, usize>,
    first: Option<String>,
    last: Option<String>,
}

#[derive(Serialize)]
struct Calls {
    calls: usize,
    errors: usize,
}

/// What `diff` found.
pub(crate) fn diff(diff: &ops::Diff) -> Wire<Diff<'_>> {
    let known_by = match diff.by {
        MatchBasis::Uuid => Some("uuid"),
        MatchBasis::Message => Some("message"),
        MatchBasis::Words => Some("words"),
        MatchBasis::Nothing => None,
    };
    let last = |k: usize| diff.last.as_ref().map(|last| near(&last[k]));
    let (turns, entries) = (diff.common_turns, diff.common_entries);
    let common = Common { known_by, turns, entries, last_a: last(0), last_b: last(1) };
    let [a, b] = diff.branches.each_ref().map(branch);
    wire("diff", Diff { common, a, b })
}

fn branch(branch: &ops::Branch) -> Branch<'_> {
    Branch {
        session: &branch.head.id,
        active: branch.active,
        tip_line: branch.tip,
        turns: branch.side.turns.iter().map(turn).collect(),
        totals: sums(&branch.side.totals),
    }
}

fn turn(turn: &SideTurn) -> Turn<'_> {
    let calls = turn.calls.iter().map(|call| Call {
        name: &call.name,
        id: &call.id,
        line: call.line,
        is_error: call.result.as_ref().map(|result| result.is_error),
    });
    Turn {
        turn: turn.no,
        goes_on: turn.goes_on,
        line: turn.line,
        first: time(turn.from),
        prompt: turn.prompt.as_deref(),
        answer: turn.answer.as_deref(),
        calls: calls.collect(),
        stopped: turn.stopped,
        compacted: turn.compacted,
        error: turn.error.as_deref(),
    }
}

fn sums(totals: &Totals) -> Sums<'_> {
    Sums {
        turns: totals.turns,
        responses: totals.spent.responses,
        usage: (&totals.spent.usage).into(),
        tools: totals
            .tools
            .iter()
            .map(|(name, calls, errors)| (name.as_str(), Calls { calls: *calls, errors: *errors }))
            .collect(),
        files: totals.files.iter().map(|(path, changes)| (path.as_str(), *changes)).collect(),
        first: time(totals.first),
        last: time(totals.last),
    }
}
