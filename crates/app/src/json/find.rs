//! JSON of `find`.

use rethread_engine::core::query;
use rethread_engine::core::resume::ContextStatus;
use rethread_engine::ops;
use serde::Serialize;

use super::object::{ObjectJson, build_object, format_time};

#[derive(Serialize)]
pub(crate) struct MatchJson<'a> {
    session: &'a str,
    line: u32,
    turn: Option<u32>,
    uuid: Option<&'a str>,
    kind: &'static str,
    entry_role: &'static str,
    time: Option<String>,
    matches: usize,
    hits: Vec<HitJson<'a>>,
    status: &'static str,
    active: bool,
    tip_line: Option<u32>,
    above: Vec<NearbyEntryJson<'a>>,
    below: Vec<NearbyEntryJson<'a>>,
    more_below: usize,
}

#[derive(Serialize)]
struct HitJson<'a> {
    role: &'static str,
    tool: Option<&'a str>,
    before: &'a str,
    r#match: &'a str,
    after: &'a str,
    matches: usize,
}

#[derive(Serialize)]
pub(crate) struct NearbyEntryJson<'a> {
    line: u32,
    turn: Option<u32>,
    entry_role: &'static str,
    text: &'a str,
    tool: Option<&'a str>,
}

/// Builds the `match` object of `find`: one entry with its hits and nearby entries.
pub(crate) fn build_entry_match<'a>(
    session: &'a str,
    row: &'a ops::find::EntryMatch,
) -> ObjectJson<MatchJson<'a>> {
    build_object(
        "match",
        MatchJson {
            session,
            line: row.line,
            turn: row.turn,
            uuid: row.uuid.as_deref(),
            kind: row.kind.name(),
            entry_role: row.role.name(),
            time: format_time(row.time),
            matches: row.matches.count,
            hits: row.matches.hits.iter().map(build_hit).collect(),
            status: row.context_status.name(),
            active: row.context_status == ContextStatus::Active,
            tip_line: row.tip_line,
            above: row.above.iter().map(build_nearby_entry).collect(),
            below: row.below.iter().map(build_nearby_entry).collect(),
            more_below: row.more_below,
        },
    )
}

fn build_hit(hit: &query::Hit) -> HitJson<'_> {
    HitJson {
        role: hit.source.name(),
        tool: hit.tool.as_deref(),
        before: &hit.before,
        r#match: &hit.matched,
        after: &hit.after,
        matches: hit.count,
    }
}

/// Builds the short form of an entry near a match, or the last common one of a diff: line, turn, role, text and tool name.
pub(super) fn build_nearby_entry(entry: &ops::NearbyEntry) -> NearbyEntryJson<'_> {
    NearbyEntryJson {
        line: entry.line,
        turn: entry.turn,
        entry_role: entry.role.name(),
        text: &entry.text,
        tool: entry.call.as_ref().map(|call| call.name.as_str()),
    }
}
