//! Branches and nodes of a tree in `--json`.

use rethread_engine::core::tree::{OutlineItem, ParentLink, Row};
use rethread_engine::ops::{BranchRow, DrawnRow, EntryPreview, PreviewedEntry};
use serde::Serialize;

use super::{Usage, Wire, time, wire};
use crate::json::standing;

#[derive(Serialize)]
pub(crate) struct Branch<'a> {
    session: &'a str,
    handle: &'a str,
    tip: &'a str,
    line: u32,
    active: bool,
    island: bool,
    cut: Option<&'static str>,
    kind: Option<&'static str>,
    way: Option<usize>,
    ways: Option<usize>,
    from: Option<&'a str>,
    from_line: Option<u32>,
    from_turn: Option<u32>,
    first_line: u32,
    first_uuid: &'a str,
    voice: &'static str,
    gist: String,
    own_turns: usize,
    turns: usize,
    own_entries: usize,
    own_usage: Usage,
    usage: Usage,
    last: Option<String>,
}

/// A row of `branches`.
pub(crate) fn branch<'a>(session: &'a str, row: &'a BranchRow) -> Wire<Branch<'a>> {
    let branch = &row.branch;
    wire(
        "branch",
        Branch {
            session,
            handle: &row.handle,
            tip: &row.tip,
            line: row.line,
            active: row.active,
            island: branch.orphaned,
            cut: branch.cut.map(cut),
            kind: branch.from.map(|from| from.kind.name()),
            way: branch.from.map(|from| from.way),
            ways: branch.from.map(|from| from.ways),
            from: row.from.as_ref().map(|from| from.handle.as_str()),
            from_line: row.from.as_ref().map(|from| from.line),
            from_turn: row.from.as_ref().and_then(|from| from.turn),
            first_line: row.first_line,
            first_uuid: &row.first.uuid,
            voice: row.voice.name(),
            gist: gist(&row.first),
            own_turns: branch.own_turns,
            turns: branch.turns,
            own_entries: branch.entries,
            own_usage: (&row.own_usage).into(),
            usage: (&row.usage).into(),
            last: time(branch.last),
        },
    )
}

fn cut(link: ParentLink) -> &'static str {
    match link {
        ParentLink::Cut => "cycle",
        ParentLink::Missing | ParentLink::Root | ParentLink::Child => "missing_parent",
    }
}

fn gist(said: &PreviewedEntry) -> String {
    match &said.gist {
        EntryPreview::Words(text) | EntryPreview::Thinking(text) | EntryPreview::Media(text) => text.clone(),
        EntryPreview::Call(call) => format!("{} {}", call.name, call.input),
        EntryPreview::Compaction(trigger, ..) => trigger.clone(),
        EntryPreview::Nothing => String::new(),
    }
}

#[derive(Serialize)]
pub(crate) struct TreeNode<'a> {
    session: &'a str,
    row: usize,
    parent: Option<usize>,
    depth: usize,
    node: &'static str,
    standing: Option<&'static str>,
    named: bool,
    turn: Option<u32>,
    handle: Option<&'a str>,
    line: Option<u32>,
    uuid: Option<&'a str>,
    kind: Option<&'static str>,
    voice: Option<&'static str>,
    gist: Option<String>,
    time: Option<String>,
    answers: usize,
    tools: usize,
    fork: Option<&'static str>,
    way: Option<usize>,
    ways: Option<usize>,
    cut: Option<&'static str>,
    tip: Option<&'a str>,
    active: bool,
    gap: Option<Gap>,
}

#[derive(Serialize)]
struct Gap {
    turns: usize,
    rows: usize,
    tips: usize,
}

/// A row of `tree`.
pub(crate) fn tree_node<'a>(
    session: &'a str,
    number: usize,
    row: &Row,
    read: Option<&'a DrawnRow>,
) -> Wire<TreeNode<'a>> {
    let (node, gap) = match row.what {
        OutlineItem::Turn(_) => ("turn", None),
        OutlineItem::Compaction(_) => ("compaction", None),
        OutlineItem::Entry(_) => ("entry", None),
        OutlineItem::Gap { turns, rows, tips } => ("gap", Some(Gap { turns, rows, tips })),
    };
    let tip = read.and_then(|read| read.tip.as_ref());
    wire(
        "tree_node",
        TreeNode {
            session,
            row: number,
            parent: row.parent,
            depth: row.depth,
            node,
            standing: read.map(|_| standing(row.standing)),
            named: row.named,
            turn: read.and_then(|read| read.turn),
            handle: read.map(|read| read.handle.as_str()),
            line: read.map(|read| read.line),
            uuid: read.map(|read| read.said.uuid.as_str()),
            kind: read.map(|read| read.kind.name()),
            voice: read.map(|read| read.voice.name()),
            gist: read.map(|read| gist(&read.said)),
            time: time(read.and_then(|read| read.time)),
            answers: read.map_or(0, |read| read.answers),
            tools: read.map_or(0, |read| read.tools),
            fork: row.from.map(|from| from.kind.name()),
            way: row.from.map(|from| from.way),
            ways: row.from.map(|from| from.ways),
            cut: row.cut.map(cut),
            tip: tip.map(|(handle, _)| handle.as_str()),
            active: tip.is_some_and(|(_, active)| *active),
            gap,
        },
    )
}
