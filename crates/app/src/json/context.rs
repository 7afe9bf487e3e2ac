//! JSON of `context`.

use rethread_engine::core::context::{CauseTotal, ContextDrop, DropReason, RepeatedRead};
use rethread_engine::ops;
use rethread_engine::ops::context::{DropLocation, LargeBlock, TurnGrowth};
use serde::Serialize;

use super::object::{ObjectJson, build_object};

#[derive(Serialize)]
pub(crate) struct ContextJson<'a> {
    session: &'a str,
    title: &'a str,
    client: &'a str,
    model: Option<&'a str>,
    window: u64,
    used: u64,
    sent: Option<u64>,
    output: u64,
    output_measured: bool,
    since: u64,
    peak: u64,
    turns: usize,
    responses: usize,
    responses_measured: usize,
    responses_off_path: usize,
    drops: usize,
    cut_off_line: Option<u32>,
}

/// Builds the `context` object of `context`: the totals in tokens.
pub(crate) fn build_context(context: &ops::context::ContextReport) -> ObjectJson<ContextJson<'_>> {
    let (window, history) = (&context.window, &context.history);
    build_object(
        "context",
        ContextJson {
            session: &context.header.id,
            title: &context.header.title.text,
            client: &context.client,
            model: Some(history.model.as_str()).filter(|model| !model.is_empty()),
            window: context.limit,
            used: window.used_tokens(),
            sent: window.context,
            output: window.output.0,
            output_measured: window.output.1,
            since: window.since,
            peak: history.peak(),
            turns: context.turns.iter().filter(|turn| turn.number.is_some()).count(),
            responses: history.samples.len(),
            responses_measured: history.samples.iter().filter(|sample| sample.measured).count(),
            responses_off_path: context.off_path_responses,
            drops: history.drops.len(),
            cut_off_line: context.cut_off_line,
        },
    )
}

#[derive(Serialize)]
pub(crate) struct ContextTurnJson<'a> {
    session: &'a str,
    turn: Option<u32>,
    line: Option<u32>,
    responses: usize,
    first: u64,
    last: u64,
    growth: i64,
    measured: bool,
    drops: usize,
}

/// Builds the `context_turn` object of one turn. `tokens_before` is the context size at the end of the previous turn.
pub(crate) fn build_context_turn<'a>(
    session: &'a str,
    turn: &TurnGrowth,
    tokens_before: u64,
) -> ObjectJson<ContextTurnJson<'a>> {
    let to_signed = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
    build_object(
        "context_turn",
        ContextTurnJson {
            session,
            turn: turn.number,
            line: turn.line,
            responses: turn.sample_range.len(),
            first: turn.first_tokens,
            last: turn.last_tokens,
            growth: to_signed(turn.last_tokens) - to_signed(tokens_before),
            measured: turn.measured,
            drops: turn.drops,
        },
    )
}

#[derive(Serialize)]
pub(crate) struct ContextDropJson<'a> {
    session: &'a str,
    line: u32,
    turn: Option<u32>,
    reason: &'static str,
    trigger: Option<&'a str>,
    before: Option<u64>,
    after: Option<u64>,
}

/// Builds the `context_drop` object of an entry at which the context became smaller.
pub(crate) fn build_context_drop<'a>(
    session: &'a str,
    drop: &'a ContextDrop,
    location: DropLocation,
) -> ObjectJson<ContextDropJson<'a>> {
    let (reason, trigger) = match &drop.reason {
        DropReason::Compacted(trigger) => ("compacted", Some(trigger.as_str())),
        DropReason::Cleared => ("cleared", None),
        DropReason::Unexplained => ("unexplained", None),
    };
    let trigger = trigger.filter(|trigger| !trigger.is_empty());
    build_object(
        "context_drop",
        ContextDropJson {
            session,
            line: location.line,
            turn: location.turn,
            reason,
            trigger,
            before: drop.before,
            after: drop.after,
        },
    )
}

#[derive(Serialize)]
pub(crate) struct ContextCauseJson<'a> {
    session: &'a str,
    cause: &'static str,
    name: Option<&'a str>,
    blocks: usize,
    tokens: u64,
    measured: u64,
}

/// Builds the `context_cause` object: the total tokens of all blocks with one cause.
pub(crate) fn build_context_cause<'a>(
    session: &'a str,
    row: &'a CauseTotal,
) -> ObjectJson<ContextCauseJson<'a>> {
    let name = Some(row.name.as_str()).filter(|name| !name.is_empty());
    let (cause, blocks) = (row.cause.name(), row.items);
    build_object(
        "context_cause",
        ContextCauseJson { session, cause, name, blocks, tokens: row.tokens, measured: row.measured },
    )
}

#[derive(Serialize)]
pub(crate) struct RepeatedReadJson<'a> {
    session: &'a str,
    path: &'a str,
    reads: usize,
    repeats: usize,
    tokens: u64,
}

/// Builds the `context_reread` object of a file that the session read repeatedly.
pub(crate) fn build_context_reread<'a>(
    session: &'a str,
    reread: &'a RepeatedRead,
) -> ObjectJson<RepeatedReadJson<'a>> {
    let RepeatedRead { path, reads, repeats, tokens } = reread;
    let body = RepeatedReadJson { session, path, reads: *reads, repeats: *repeats, tokens: *tokens };
    build_object("context_reread", body)
}

#[derive(Serialize)]
pub(crate) struct ContextBlockJson<'a> {
    session: &'a str,
    handle: &'a str,
    line: u32,
    cause: &'static str,
    name: Option<&'a str>,
    tokens: u64,
    measured: bool,
    call: Option<&'a str>,
    input: Option<&'a str>,
}

/// Builds the `context_item` object of one of the largest blocks in the context.
pub(crate) fn build_context_item<'a>(
    session: &'a str,
    large: &'a LargeBlock,
) -> ObjectJson<ContextBlockJson<'a>> {
    build_object(
        "context_item",
        ContextBlockJson {
            session,
            handle: &large.handle,
            line: large.line,
            cause: large.block.cause.name(),
            name: Some(large.name.as_str()).filter(|name| !name.is_empty()),
            tokens: large.block.tokens,
            measured: large.block.measured,
            call: large.call.as_ref().map(|call| call.id.as_str()),
            input: large.call.as_ref().map(|call| call.input.as_str()),
        },
    )
}
