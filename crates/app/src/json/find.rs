//! A match of `find` in `--json`.

use rethread_engine::core::query;
use rethread_engine::ops::{self, ContextStatus};
use serde::Serialize;

use super::{Wire, time, wire};

#[derive(Serialize)]
pub(crate) struct Match<'a> {
    session: &'a str,
    line: u32,
    turn: Option<u32>,
    uuid: Option<&'a str>,
    kind: &'static str,
    voice: &'static str,
    time: Option<String>,
    matches: usize,
    hits: Vec<Hit<'a>>,
    whereabouts: &'static str,
    active: bool,
    tip_line: Option<u32>,
    above: Vec<Near<'a>>,
    below: Vec<Near<'a>>,
    more_below: usize,
}

#[derive(Serialize)]
struct Hit<'a> {
    role: &'static str,
    tool: Option<&'a str>,
    before: &'a str,
    r#match: &'a str,
    after: &'a str,
    matches: usize,
}

#[derive(Serialize)]
pub(crate) struct Near<'a> {
    line: u32,
    turn: Option<u32>,
    voice: &'static str,
    text: &'a str,
    tool: Option<&'a str>,
}

/// A row of `find`.
pub(crate) fn found<'a>(session: &'a str, found: &'a ops::Match) -> Wire<Match<'a>> {
    wire(
        "match",
        Match {
            session,
            line: found.line,
            turn: found.turn,
            uuid: found.uuid.as_deref(),
            kind: found.kind.name(),
            voice: found.voice.name(),
            time: time(found.time),
            matches: found.found.count,
            hits: found.found.hits.iter().map(hit).collect(),
            whereabouts: whereabouts(found.whereabouts),
            active: found.whereabouts == ContextStatus::Active,
            tip_line: found.tip,
            above: found.above.iter().map(near).collect(),
            below: found.below.iter().map(near).collect(),
            more_below: found.more_below,
        },
    )
}

/// Names how an entry stands to the active path.
pub(super) fn whereabouts(whereabouts: ContextStatus) -> &'static str {
    match whereabouts {
        ContextStatus::Active => "active",
        ContextStatus::Compacted => "compacted",
        ContextStatus::Aside => "aside",
        ContextStatus::Island => "island",
        ContextStatus::Agent => "agent",
        ContextStatus::Outside => "outside",
    }
}

fn hit(hit: &query::Hit) -> Hit<'_> {
    Hit {
        role: hit.source.name(),
        tool: hit.tool.as_deref(),
        before: &hit.before,
        r#match: &hit.words,
        after: &hit.after,
        matches: hit.count,
    }
}

/// An entry in few words.
pub(super) fn near(near: &ops::NearbyEntry) -> Near<'_> {
    Near {
        line: near.line,
        turn: near.turn,
        voice: near.voice.name(),
        text: &near.words,
        tool: near.call.as_ref().map(|call| call.name.as_str()),
    }
}
