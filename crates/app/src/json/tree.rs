//! JSON of `branches` and `tree`.

use rethread_engine::core::tree::{OutlineItem, OutlineRow, ParentLink};
use rethread_engine::ops::branches::BranchRow;
use rethread_engine::ops::tree::TreeRowDetails;
use rethread_engine::ops::{EntryPreview, PreviewedEntry};
use serde::Serialize;

use super::object::{ObjectJson, UsageJson, build_object, format_time};
use super::path_relation_name;

#[derive(Serialize)]
pub(crate) struct BranchJson<'a> {
    session: &'a str,
    handle: &'a str,
    tip: &'a str,
    line: u32,
    active: bool,
    orphaned: bool,
    broken_link: Option<&'static str>,
    kind: Option<&'static str>,
    branch_number: Option<usize>,
    branch_count: Option<usize>,
    from: Option<&'a str>,
    from_line: Option<u32>,
    from_turn: Option<u32>,
    first_line: u32,
    first_uuid: &'a str,
    entry_role: &'static str,
    preview: String,
    own_turns: usize,
    turns: usize,
    own_entries: usize,
    own_usage: UsageJson,
    usage: UsageJson,
    last: Option<String>,
}

/// Builds the `branch` object of `branches`. `session` is the session id.
pub(crate) fn build_branch<'a>(session: &'a str, row: &'a BranchRow) -> ObjectJson<BranchJson<'a>> {
    let branch = &row.branch;
    build_object(
        "branch",
        BranchJson {
            session,
            handle: &row.tip_handle,
            tip: &row.tip_uuid,
            line: row.tip_line,
            active: row.active,
            orphaned: branch.orphaned,
            broken_link: branch.broken_link.map(broken_link_name),
            kind: branch.fork_point.map(|from| from.kind.name()),
            branch_number: branch.fork_point.map(|from| from.branch_number),
            branch_count: branch.fork_point.map(|from| from.branch_count),
            from: row.forked_from.as_ref().map(|from| from.handle.as_str()),
            from_line: row.forked_from.as_ref().map(|from| from.line),
            from_turn: row.forked_from.as_ref().and_then(|from| from.turn),
            first_line: row.first_line,
            first_uuid: &row.first_preview.uuid,
            entry_role: row.first_role.name(),
            preview: format_preview(&row.first_preview),
            own_turns: branch.own_turns,
            turns: branch.turns,
            own_entries: branch.entries,
            own_usage: (&row.own_usage).into(),
            usage: (&row.usage).into(),
            last: format_time(branch.last_time),
        },
    )
}

/// Returns the value of `broken_link`: why the chain of parents of an entry ends before a root.
fn broken_link_name(link: ParentLink) -> &'static str {
    match link {
        ParentLink::CycleBroken => "cycle",
        ParentLink::MissingParent | ParentLink::Root | ParentLink::Child => "missing_parent",
    }
}

/// Returns the previewed text of an entry, the name and input of a tool call, or the trigger of a compaction.
fn format_preview(entry: &PreviewedEntry) -> String {
    match &entry.preview {
        EntryPreview::Text(text) | EntryPreview::Thinking(text) | EntryPreview::Media(text) => text.clone(),
        EntryPreview::ToolCall(call) => format!("{} {}", call.name, call.input),
        EntryPreview::Compaction(trigger, ..) => trigger.clone(),
        EntryPreview::Empty => String::new(),
    }
}

#[derive(Serialize)]
pub(crate) struct TreeNodeJson<'a> {
    session: &'a str,
    row: usize,
    parent: Option<usize>,
    depth: usize,
    node: &'static str,
    path_relation: Option<&'static str>,
    requested: bool,
    turn: Option<u32>,
    handle: Option<&'a str>,
    line: Option<u32>,
    uuid: Option<&'a str>,
    kind: Option<&'static str>,
    entry_role: Option<&'static str>,
    preview: Option<String>,
    time: Option<String>,
    answers: usize,
    tools: usize,
    fork_kind: Option<&'static str>,
    branch_number: Option<usize>,
    branch_count: Option<usize>,
    broken_link: Option<&'static str>,
    tip: Option<&'a str>,
    active: bool,
    resume: Option<&'a str>,
    gap: Option<GapJson>,
}

#[derive(Serialize)]
struct GapJson {
    turns: usize,
    rows: usize,
    tips: usize,
}

/// Builds the `tree_node` object of the command `tree`. `session` is the session id. `details` is `None` for a gap, a row
/// that replaces hidden rows.
pub(crate) fn build_tree_node<'a>(
    session: &'a str,
    row_idx: usize,
    row: &OutlineRow,
    details: Option<&'a TreeRowDetails>,
) -> ObjectJson<TreeNodeJson<'a>> {
    let (node, gap) = match row.item {
        OutlineItem::Turn(_) => ("turn", None),
        OutlineItem::Compaction(_) => ("compaction", None),
        OutlineItem::Entry(_) => ("entry", None),
        OutlineItem::Gap { turns, rows, tips } => ("gap", Some(GapJson { turns, rows, tips })),
    };
    let tip = details.and_then(|details| details.tip.as_ref());
    build_object(
        "tree_node",
        TreeNodeJson {
            session,
            row: row_idx,
            parent: row.parent,
            depth: row.depth,
            node,
            path_relation: details.map(|_| path_relation_name(row.relation)),
            requested: row.requested,
            turn: details.and_then(|details| details.turn),
            handle: details.map(|details| details.handle.as_str()),
            line: details.map(|details| details.line),
            uuid: details.map(|details| details.preview.uuid.as_str()),
            kind: details.map(|details| details.kind.name()),
            entry_role: details.map(|details| details.role.name()),
            preview: details.map(|details| format_preview(&details.preview)),
            time: format_time(details.and_then(|details| details.time)),
            answers: details.map_or(0, |details| details.answers),
            tools: details.map_or(0, |details| details.tools),
            fork_kind: row.fork_point.map(|from| from.kind.name()),
            branch_number: row.fork_point.map(|from| from.branch_number),
            branch_count: row.fork_point.map(|from| from.branch_count),
            broken_link: row.broken_link.map(broken_link_name),
            tip: tip.map(|tip| tip.handle.as_str()),
            active: tip.is_some_and(|tip| tip.is_active),
            resume: details.and_then(|details| {
                let tip = tip.filter(|tip| tip.is_active).map(|tip| &tip.handle);
                details.resume_handle.as_ref().or(tip).map(String::as_str)
            }),
            gap,
        },
    )
}
