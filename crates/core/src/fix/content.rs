//! What is sent and would be refused: blocks that leave, results that are added. Done once it is known what is loaded.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::context::{RepairContext, with_entry};
use super::fix_set::{Edit, FixAction, FixSet, RelinkReason};
use super::images;
use crate::check::{Code, Location, Severity};
use crate::edit::{JsonEdit, PathSegment, format_timestamp, quote};
use crate::entry::{Block, BlockKind, JsonStr, Timestamp, member};
use crate::id::{Id, IdSet};
use crate::tree::NodeId;

/// How to mend what may be mended in several ways.
#[derive(Debug, Clone, Copy, Default)]
pub struct FixOptions {
    /// Calls without a result leave, and do not get one.
    pub drop_unpaired: bool,
    /// Pictures that leave are handed out.
    pub extract: bool,
}

/// What a result says that stands for one that was never written.
const INTERRUPTED: &str = "interrupted; no result was kept; added by rethread";
/// What it says where the result is elsewhere in the file.
const ELSEWHERE: &str = "the result stands on another branch; added by rethread";

/// Mends what is sent. `answered` are the calls that got a result in an earlier round: where that did not help, they
/// leave.
pub fn fix_content(ward: &mut RepairContext<'_>, wishes: FixOptions, answered: &mut IdSet) -> FixSet {
    let mut treatment = FixSet::default();
    images::mend(ward, wishes.extract, &mut treatment);
    if !treatment.is_empty() {
        return treatment;
    }
    let mut drops = Drops::default();
    for (code, least, fits) in [
        (Code::UnpairedResult, Severity::Harmless, is_result as fn(&Block<'_>) -> bool),
        (Code::ThinkingUnsigned, Severity::Warning, is_thought),
        (Code::ThinkingLast, Severity::Warning, is_thought),
        (Code::EmptyContent, Severity::Warning, is_text),
    ] {
        for spot in spots(ward, code, least) {
            drops.add(ward, code, &spot, &fits);
        }
    }
    let mut calls: BTreeMap<NodeId, Vec<String>> = BTreeMap::new();
    for spot in spots(ward, Code::UnpairedCall, Severity::Harmless) {
        let Some(no) = spot.node else { continue };
        for (block, id) in unanswered(ward, no, spot.block) {
            if wishes.drop_unpaired || answered.contains(&Id::of(id.as_bytes())) {
                drops.put(Code::UnpairedCall, no, block);
            } else {
                calls.entry(no).or_default().push(id);
            }
        }
    }
    if !drops.blocks.is_empty() {
        drops.make(ward, &mut treatment);
        return treatment;
    }
    add_results(ward, calls, answered, &mut treatment);
    treatment
}

fn is_result(block: &Block<'_>) -> bool {
    block.kind == BlockKind::ToolResult
}

fn is_thought(block: &Block<'_>) -> bool {
    matches!(block.kind, BlockKind::Thinking | BlockKind::RedactedThinking)
}

fn is_text(block: &Block<'_>) -> bool {
    block.kind == BlockKind::Text
}

fn spots(ward: &RepairContext<'_>, code: Code, least: Severity) -> Vec<Location> {
    let own = |spot: &Location| spot.line <= ward.lines;
    ward.found(code, least).flat_map(|finding| finding.spots.clone()).filter(own).collect()
}

/// Lists the calls of an entry, or the one in a block of it.
fn unanswered(ward: &mut RepairContext<'_>, no: NodeId, block: Option<u16>) -> Vec<(u16, String)> {
    let bytes = ward.bytes(no);
    let calls = with_entry(&bytes, |entry| {
        let blocks = (0..).zip(entry.blocks());
        let calls =
            blocks.filter(|(k, call)| call.kind == BlockKind::ToolUse && block.is_none_or(|b| b == *k));
        calls.map(|(k, call)| (k, call.id.map(|id| id.decode().into_owned()).unwrap_or_default())).collect()
    });
    calls.unwrap_or_default()
}

/// Blocks that leave, by entry.
#[derive(Default)]
struct Drops {
    blocks: BTreeMap<NodeId, (Code, BTreeSet<u16>)>,
}

impl Drops {
    fn put(&mut self, code: Code, no: NodeId, block: u16) {
        self.blocks.entry(no).or_insert_with(|| (code, BTreeSet::new())).1.insert(block);
    }

    /// Takes the block of a spot, or all blocks of its entry that fit.
    fn add(
        &mut self,
        ward: &mut RepairContext<'_>,
        code: Code,
        spot: &Location,
        fits: &dyn Fn(&Block<'_>) -> bool,
    ) {
        let Some(no) = spot.node else { return };
        if let Some(block) = spot.block {
            return self.put(code, no, block);
        }
        let bytes = ward.bytes(no);
        let found = with_entry(&bytes, |entry| {
            (0u16..).zip(entry.blocks()).filter(|(_, block)| fits(block)).map(|(k, _)| k).collect::<Vec<_>>()
        });
        found.unwrap_or_default().into_iter().for_each(|block| self.put(code, no, block));
    }

    /// Takes the blocks out. A line in which nothing is left goes, and what hung on it hangs on what it hung on.
    fn make(self, ward: &mut RepairContext<'_>, treatment: &mut FixSet) {
        let mut gone: BTreeMap<NodeId, Code> = BTreeMap::new();
        for (no, (code, blocks)) in self.blocks {
            let bytes = ward.bytes(no);
            let stays = with_entry(&bytes, |entry| {
                let left = (0u16..).zip(entry.blocks()).filter(|(k, _)| !blocks.contains(k));
                // A thought alone is no answer.
                left.filter(|(_, block)| !is_thought(block)).count() > 0
            });
            if stays != Some(true) {
                gone.insert(no, code);
                continue;
            }
            let path = |block: u16| {
                [
                    PathSegment::from("message"),
                    PathSegment::from("content"),
                    PathSegment::from(usize::from(block)),
                ]
            };
            // From the last: places before it stay.
            let changes = blocks.iter().rev().map(|&block| JsonEdit::remove(path(block))).collect();
            let line = ward.line(no);
            treatment.edits.push(Edit::Change(line, changes));
            treatment.mend(code, line, FixAction::BlocksLeftOut(blocks.into_iter().collect()));
        }
        leave_out(ward, &gone, treatment);
    }
}

/// Leaves lines out and hangs their children on what is above.
fn leave_out(ward: &mut RepairContext<'_>, gone: &BTreeMap<NodeId, Code>, treatment: &mut FixSet) {
    let tree = ward.patient.tree;
    for (&no, &code) in gone {
        let mut above = tree.node(no).parent();
        while let Some(on) = above.filter(|on| gone.contains_key(on)) {
            above = tree.node(on).parent();
        }
        let line = ward.line(no);
        treatment.edits.push(Edit::Drop(line));
        treatment.mend(code, line, FixAction::LeftOut);
        for &child in tree.children(no) {
            if !gone.contains_key(&child) && ward.line(child) <= ward.lines {
                ward.set_parent(child, above, (code, RelinkReason::Above), treatment);
            }
        }
        let from = ward.uuid(no);
        let to = above.map(|above| ward.uuid(above));
        treatment.moved.push((from, to));
    }
}

/// Puts a result for each call behind the last line of its response.
fn add_results(
    ward: &mut RepairContext<'_>,
    calls: BTreeMap<NodeId, Vec<String>>,
    answered: &mut IdSet,
    treatment: &mut FixSet,
) {
    let tree = ward.patient.tree;
    let loaded: HashSet<NodeId> = ward.patient.resume.chain.iter().copied().collect();
    let mut by_end: BTreeMap<NodeId, Vec<(NodeId, String)>> = BTreeMap::new();
    for (no, ids) in calls {
        let mut end = no;
        let goes_on = |end: NodeId| {
            let mut below = tree.children(end).iter().copied();
            below.find(|&on| loaded.contains(&on) && tree.same_message(no, on) && ward.line(on) <= ward.lines)
        };
        while let Some(next) = goes_on(end) {
            end = next;
        }
        by_end.entry(end).or_default().extend(ids.into_iter().map(|id| (no, id)));
    }
    for (end, calls) in by_end {
        let uuid = (ward.fresh)();
        let line = ward.line(end);
        let result = result_line(ward, end, &calls, &uuid);
        treatment.edits.push(Edit::Insert(line, result));
        for (no, id) in &calls {
            answered.insert(Id::of(id.as_bytes()));
            let line = ward.line(*no);
            treatment.mend(Code::UnpairedCall, line, FixAction::Answered(vec![id.clone()]));
        }
        for &child in tree.children(end) {
            if loaded.contains(&child) && ward.line(child) <= ward.lines {
                ward.hang_on(
                    child,
                    Some(uuid.clone()),
                    None,
                    (Code::UnpairedCall, RelinkReason::Added),
                    treatment,
                );
            }
        }
        let from = ward.uuid(end);
        treatment.moved.push((from, Some(uuid)));
    }
}

/// Writes a line of results in the envelope of another line.
fn result_line(ward: &mut RepairContext<'_>, end: NodeId, calls: &[(NodeId, String)], uuid: &str) -> Vec<u8> {
    let bytes = ward.bytes(end);
    let results: Vec<String> = calls
        .iter()
        .map(|(_, id)| {
            let words = if ward.calls.is_answered(Id::of(id.as_bytes())) { ELSEWHERE } else { INTERRUPTED };
            format!(
                r#"{{"tool_use_id":{},"type":"tool_result","content":{},"is_error":true}}"#,
                quote(id),
                quote(words)
            )
        })
        .collect();
    let parent = ward.uuid(end);
    let mut line = format!(r#"{{"parentUuid":{},"isSidechain":false"#, quote(&parent));
    for name in ["userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch"] {
        if let Some(value) = member(&bytes, name).and_then(JsonStr::of_value) {
            line += &format!(r#","{name}":{}"#, quote(&value.decode()));
        }
    }
    let time = ward.patient.tree.node(end).time().map(|time| Timestamp(time.0.saturating_add(1)));
    let time =
        time.map(|time| format!(r#","timestamp":{}"#, quote(&format_timestamp(time)))).unwrap_or_default();
    line += &format!(
        r#","type":"user","message":{{"role":"user","content":[{}]}},"uuid":{}{time}}}"#,
        results.join(","),
        quote(uuid)
    );
    line.into_bytes()
}
