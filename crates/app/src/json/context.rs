//! The context of a session in `--json`.

use rethread_engine::core::context::{CauseTotal, ContextDrop, Dropped, Reread};
use rethread_engine::ops::{self, Growth, Large};
use serde::Serialize;

use super::{Wire, wire};

#[derive(Serialize)]
pub(crate) struct Context<'a> {
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
    responses_elsewhere: usize,
    drops: usize,
    cut_line: Option<u32>,
}

/// What `context` says of the whole.
pub(crate) fn context(context: &ops::Context) -> Wire<Context<'_>> {
    let (window, curve) = (&context.window, &context.curve);
    wire(
        "context",
        Context {
            session: &context.head.id,
            title: &context.head.title.text,
            client: &context.client,
            model: Some(curve.model.as_str()).filter(|model| !model.is_empty()),
            window: context.limit,
            used: window.used(),
            sent: window.context,
            output: window.output.0,
            output_measured: window.output.1,
            since: window.since,
            peak: curve.peak(),
            turns: context.turns.iter().filter(|turn| turn.no.is_some()).count(),
            responses: curve.points.len(),
            responses_measured: curve.points.iter().filter(|point| point.measured).count(),
            responses_elsewhere: context.elsewhere,
            drops: curve.drops.len(),
            cut_line: context.cut,
        },
    )
}

#[derive(Serialize)]
pub(crate) struct Turn<'a> {
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

/// A turn of `context --turns`; `before` is the size at the end of the turn before.
pub(crate) fn context_turn<'a>(session: &'a str, turn: &Growth, before: u64) -> Wire<Turn<'a>> {
    let signed = |size: u64| i64::try_from(size).unwrap_or(i64::MAX);
    wire(
        "context_turn",
        Turn {
            session,
            turn: turn.no,
            line: turn.line,
            responses: turn.points.len(),
            first: turn.first,
            last: turn.last,
            growth: signed(turn.last) - signed(before),
            measured: turn.measured,
            drops: turn.drops,
        },
    )
}

#[derive(Serialize)]
pub(crate) struct Dip<'a> {
    session: &'a str,
    line: u32,
    turn: Option<u32>,
    how: &'static str,
    trigger: Option<&'a str>,
    before: Option<u64>,
    after: Option<u64>,
}

/// A place where the context became smaller.
pub(crate) fn context_drop<'a>(
    session: &'a str,
    drop: &'a ContextDrop,
    (line, turn): (u32, Option<u32>),
) -> Wire<Dip<'a>> {
    let (how, trigger) = match &drop.how {
        Dropped::Compacted(trigger) => ("compacted", Some(trigger.as_str())),
        Dropped::Cleared => ("cleared", None),
        Dropped::Unsaid => ("unsaid", None),
    };
    let trigger = trigger.filter(|trigger| !trigger.is_empty());
    wire("context_drop", Dip { session, line, turn, how, trigger, before: drop.before, after: drop.after })
}

#[derive(Serialize)]
pub(crate) struct Part<'a> {
    session: &'a str,
    cause: &'static str,
    name: Option<&'a str>,
    blocks: usize,
    tokens: u64,
    measured: u64,
}

/// A cause of what is in the window.
pub(crate) fn context_cause<'a>(session: &'a str, row: &'a CauseTotal) -> Wire<Part<'a>> {
    let name = Some(row.name.as_str()).filter(|name| !name.is_empty());
    let (cause, blocks) = (row.cause.name(), row.items);
    wire("context_cause", Part { session, cause, name, blocks, tokens: row.tokens, measured: row.measured })
}

#[derive(Serialize)]
pub(crate) struct Again<'a> {
    session: &'a str,
    path: &'a str,
    reads: usize,
    repeats: usize,
    tokens: u64,
}

/// A file that was read again.
pub(crate) fn context_reread<'a>(session: &'a str, reread: &'a Reread) -> Wire<Again<'a>> {
    let Reread { path, reads, repeats, tokens } = reread;
    let body = Again { session, path, reads: *reads, repeats: *repeats, tokens: *tokens };
    wire("context_reread", body)
}

#[derive(Serialize)]
pub(crate) struct Piece<'a> {
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

/// One of the largest blocks.
pub(crate) fn context_item<'a>(session: &'a str, large: &'a Large) -> Wire<Piece<'a>> {
    wire(
        "context_item",
        Piece {
            session,
            handle: &large.handle,
            line: large.line,
            cause: large.item.cause.name(),
            name: Some(large.name.as_str()).filter(|name| !name.is_empty()),
            tokens: large.item.tokens,
            measured: large.item.measured,
            call: large.call.as_ref().map(|call| call.id.as_str()),
            input: large.call.as_ref().map(|call| call.input.as_str()),
        },
    )
}
