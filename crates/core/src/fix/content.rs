//! Repairs content that the API refuses: removes blocks and adds tool results.
//!
//! Runs after the links are repaired, because it depends on which entries clients load.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::context::RepairContext;
use super::fix_set::{FixAction, FixSet, LineEdit, RelinkReason};
use super::images;
use crate::check::{Code, Location, Severity};
use crate::edit::{JsonEdit, PathSegment, format_timestamp, quote_json};
use crate::entry::{Block, BlockKind, JsonStr, Timestamp, find_member, with_entry};
use crate::id::{Id, IdSet};
use crate::tree::NodeId;

/// Choices for problems that have several possible fixes.
#[derive(Debug, Clone, Copy, Default)]
pub struct FixOptions {
    /// Remove calls without a result instead of adding a result.
    pub drop_unpaired: bool,
    /// Return the decoded images that are removed, in [`FixSet::images`].
    pub extract: bool,
}

/// The text of an added result if the file contains no result for the call.
const INTERRUPTED: &str = "interrupted; the result was not recorded; added by rethread";
/// The text of an added result if the file contains the result on another branch.
const ELSEWHERE: &str = "the result is on another branch; added by rethread";

/// Repairs the content that is sent to the API. One pass repairs images, or removes blocks, or adds results.
///
/// `answered` has the ids of the calls that got a result in an earlier pass; new ones are added. If such a call is still
/// unpaired, it is removed.
pub fn fix_content(context: &mut RepairContext<'_>, options: FixOptions, answered: &mut IdSet) -> FixSet {
    let mut fixes = FixSet::default();
    images::fix_images(context, options.extract, &mut fixes);
    if !fixes.is_empty() {
        return fixes;
    }
    let mut removals = BlockRemovals::default();
    for (code, min_severity, matches) in [
        (Code::UnpairedResult, Severity::Info, is_result as fn(&Block<'_>) -> bool),
        (Code::ThinkingUnsigned, Severity::Warning, is_thinking),
        (Code::ThinkingLast, Severity::Warning, is_thinking),
        (Code::EmptyContent, Severity::Warning, is_text),
    ] {
        for location in locations_for(context, code, min_severity) {
            removals.add_location(context, code, &location, &matches);
        }
    }
    let mut calls: BTreeMap<NodeId, Vec<String>> = BTreeMap::new();
    for location in locations_for(context, Code::UnpairedCall, Severity::Info) {
        let Some(id) = location.node else { continue };
        for (block, call_id) in list_calls(context, id, location.block) {
            if options.drop_unpaired || answered.contains(&Id::from_text(call_id.as_bytes())) {
                removals.add_block(Code::UnpairedCall, id, block);
            } else {
                calls.entry(id).or_default().push(call_id);
            }
        }
    }
    if !removals.blocks.is_empty() {
        removals.apply_to(context, &mut fixes);
        return fixes;
    }
    add_results(context, calls, answered, &mut fixes);
    fixes
}

fn is_result(block: &Block<'_>) -> bool {
    block.kind == BlockKind::ToolResult
}

fn is_thinking(block: &Block<'_>) -> bool {
    matches!(block.kind, BlockKind::Thinking | BlockKind::RedactedThinking)
}

fn is_text(block: &Block<'_>) -> bool {
    block.kind == BlockKind::Text
}

/// Returns the locations of diagnostics with this code and at least this severity, within the lines of the draft.
fn locations_for(context: &RepairContext<'_>, code: Code, min_severity: Severity) -> Vec<Location> {
    let is_own = |location: &Location| location.line <= context.line_count;
    context
        .diagnostics_for(code, min_severity)
        .flat_map(|diagnostic| diagnostic.locations.clone())
        .filter(is_own)
        .collect()
}

/// Returns the block index and the id of each tool call of an entry, or only of the call in `block`.
///
/// Does not check whether the calls have results.
fn list_calls(context: &mut RepairContext<'_>, id: NodeId, block: Option<u16>) -> Vec<(u16, String)> {
    let bytes = context.line_bytes(id);
    let calls = with_entry(&bytes, |entry| {
        let blocks = (0..).zip(entry.blocks());
        let calls = blocks.filter(|(idx, call)| {
            call.kind == BlockKind::ToolUse && block.is_none_or(|wanted| wanted == *idx)
        });
        calls
            .map(|(idx, call)| (idx, call.id.map(|id| id.decode().into_owned()).unwrap_or_default()))
            .collect()
    });
    calls.unwrap_or_default()
}

/// The indices of the blocks to remove, by entry, with the code of the first problem.
#[derive(Default)]
struct BlockRemovals {
    blocks: BTreeMap<NodeId, (Code, BTreeSet<u16>)>,
}

impl BlockRemovals {
    fn add_block(&mut self, code: Code, id: NodeId, block: u16) {
        self.blocks.entry(id).or_insert_with(|| (code, BTreeSet::new())).1.insert(block);
    }

    /// Adds the block at a location, or all blocks of its entry that match if the location names none.
    fn add_location(
        &mut self,
        context: &mut RepairContext<'_>,
        code: Code,
        location: &Location,
        matches: &dyn Fn(&Block<'_>) -> bool,
    ) {
        let Some(id) = location.node else { return };
        if let Some(block) = location.block {
            return self.add_block(code, id, block);
        }
        let bytes = context.line_bytes(id);
        let blocks = with_entry(&bytes, |entry| {
            (0u16..)
                .zip(entry.blocks())
                .filter(|(_, block)| matches(block))
                .map(|(idx, _)| idx)
                .collect::<Vec<_>>()
        });
        blocks.unwrap_or_default().into_iter().for_each(|block| self.add_block(code, id, block));
    }

    /// Adds edits that remove the blocks to `fixes`. Drops lines that become empty or keep only thinking, and relinks
    /// their children to the nearest remaining ancestor.
    fn apply_to(self, context: &mut RepairContext<'_>, fixes: &mut FixSet) {
        let mut dropped: BTreeMap<NodeId, Code> = BTreeMap::new();
        for (id, (code, blocks)) in self.blocks {
            let bytes = context.line_bytes(id);
            let has_other_content = with_entry(&bytes, |entry| {
                let remaining = (0u16..).zip(entry.blocks()).filter(|(idx, _)| !blocks.contains(idx));
                // Thinking alone is not an answer.
                remaining.filter(|(_, block)| !is_thinking(block)).count() > 0
            });
            if has_other_content != Some(true) {
                dropped.insert(id, code);
                continue;
            }
            let path = |block: u16| {
                [
                    PathSegment::from("message"),
                    PathSegment::from("content"),
                    PathSegment::from(usize::from(block)),
                ]
            };
            // Remove from the end, so that the indices of earlier blocks stay valid.
            let edits = blocks.iter().rev().map(|&block| JsonEdit::remove(path(block))).collect();
            let line = context.line_of(id);
            fixes.edits.push(LineEdit::Change(line, edits));
            fixes.record_fix(code, line, FixAction::BlocksRemoved(blocks.into_iter().collect()));
        }
        drop_lines(context, &dropped, fixes);
    }
}

/// Drops lines and relinks their children to the nearest remaining ancestor.
fn drop_lines(context: &mut RepairContext<'_>, dropped: &BTreeMap<NodeId, Code>, fixes: &mut FixSet) {
    let tree = context.input.tree;
    for (&id, &code) in dropped {
        let mut ancestor = tree.node(id).parent();
        while let Some(parent) = ancestor.filter(|parent| dropped.contains_key(parent)) {
            ancestor = tree.node(parent).parent();
        }
        let line = context.line_of(id);
        fixes.edits.push(LineEdit::Drop(line));
        fixes.record_fix(code, line, FixAction::LineRemoved);
        for &child in tree.children(id) {
            if !dropped.contains_key(&child) && context.line_of(child) <= context.line_count {
                context.set_parent(child, ancestor, (code, RelinkReason::Ancestor), fixes);
            }
        }
        let from = context.uuid_of(id);
        let to = ancestor.map(|ancestor| context.uuid_of(ancestor));
        fixes.replacements.push((from, to));
    }
}

/// Inserts a line with results after the last line of each response that has unanswered calls.
///
/// `calls` are the ids of these calls by entry. They are added to `answered`.
fn add_results(
    context: &mut RepairContext<'_>,
    calls: BTreeMap<NodeId, Vec<String>>,
    answered: &mut IdSet,
    fixes: &mut FixSet,
) {
    let tree = context.input.tree;
    let loaded: HashSet<NodeId> = context.input.resume.chain.iter().copied().collect();
    let mut by_end: BTreeMap<NodeId, Vec<(NodeId, String)>> = BTreeMap::new();
    for (id, call_ids) in calls {
        let mut end = id;
        let next_line = |end: NodeId| {
            let mut children = tree.children(end).iter().copied();
            children.find(|&child| {
                loaded.contains(&child)
                    && tree.is_same_message(id, child)
                    && context.line_of(child) <= context.line_count
            })
        };
        while let Some(next) = next_line(end) {
            end = next;
        }
        by_end.entry(end).or_default().extend(call_ids.into_iter().map(|call_id| (id, call_id)));
    }
    for (end, calls) in by_end {
        let uuid = (context.new_uuid)();
        let line = context.line_of(end);
        let result = format_result_line(context, end, &calls, &uuid);
        fixes.edits.push(LineEdit::Insert(line, result));
        for (id, call_id) in &calls {
            answered.insert(Id::from_text(call_id.as_bytes()));
            let line = context.line_of(*id);
            fixes.record_fix(Code::UnpairedCall, line, FixAction::ResultAdded(vec![call_id.clone()]));
        }
        for &child in tree.children(end) {
            if loaded.contains(&child) && context.line_of(child) <= context.line_count {
                context.set_parent_uuid(
                    child,
                    Some(uuid.clone()),
                    None,
                    (Code::UnpairedCall, RelinkReason::Added),
                    fixes,
                );
            }
        }
        let from = context.uuid_of(end);
        fixes.replacements.push((from, Some(uuid)));
    }
}

/// Formats a line with a failed result for each of `calls` (entry and call id). It is a child of `end`, has the given
/// uuid, and copies the session fields of `end`.
fn format_result_line(
    context: &mut RepairContext<'_>,
    end: NodeId,
    calls: &[(NodeId, String)],
    uuid: &str,
) -> Vec<u8> {
    let bytes = context.line_bytes(end);
    let results: Vec<String> = calls
        .iter()
        .map(|(_, id)| {
            let text =
                if context.calls.is_answered(Id::from_text(id.as_bytes())) { ELSEWHERE } else { INTERRUPTED };
            format!(
                r#"{{"tool_use_id":{},"type":"tool_result","content":{},"is_error":true}}"#,
                quote_json(id),
                quote_json(text)
            )
        })
        .collect();
    let parent = context.uuid_of(end);
    let mut line = format!(r#"{{"parentUuid":{},"isSidechain":false"#, quote_json(&parent));
    for name in ["userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch"] {
        if let Some(value) = find_member(&bytes, name).and_then(JsonStr::from_value) {
            line += &format!(r#","{name}":{}"#, quote_json(&value.decode()));
        }
    }
    let time = context.input.tree.node(end).time().map(|time| Timestamp(time.0.saturating_add(1)));
    let time = time
        .map(|time| format!(r#","timestamp":{}"#, quote_json(&format_timestamp(time))))
        .unwrap_or_default();
    line += &format!(
        r#","type":"user","message":{{"role":"user","content":[{}]}},"uuid":{}{time}}}"#,
        results.join(","),
        quote_json(uuid)
    );
    line.into_bytes()
}
