//! Turns removals into the lines of the copy: paired removals, edits of the remaining lines, and new parents.

use super::boundary::edit_boundary;
use super::count::lower_context_count;
use super::input::TrimInput;
use super::inventory::BlockClass;
use super::options::TrimOptions;
use super::removals::Removals;
use super::savings::{RemovalCause, SavingsByCause};
use super::stub;
use crate::edit::{DraftSegment, JsonEdit, PathSegment, quote_json};
use crate::entry::Timestamp;
use crate::resume::IMAGE_BYTES;
use crate::tree::{LineSpan, NodeId};

/// The lines of a trimmed copy, as edits of the original lines.
#[derive(Debug)]
pub struct TrimmedPath {
    /// The entries that stay, in file order, with the edits of their lines.
    pub lines: Vec<(NodeId, Vec<JsonEdit>)>,
    /// The entry to resume from. `None` if the whole path was removed.
    pub leaf: Option<NodeId>,
    /// The removed content.
    pub savings: SavingsByCause,
    /// The position of the note that replaces removed turns. `None` if no turns were removed or no note is wanted.
    pub note: Option<NotePosition>,
}

/// The position of the note that replaces removed turns, and the facts that it states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotePosition {
    /// The number of lines of the copy before the note.
    pub line_idx: usize,
    /// The uuid of the note's parent. `None` if no entry remains above it.
    pub parent: Option<String>,
    /// The latest time of the removed entries. `None` if none has a time.
    pub time: Option<Timestamp>,
    /// The numbers of the first and the last removed line in the original file.
    pub lines: (u32, u32),
    /// The number of removed turns.
    pub turns: u32,
}

impl TrimmedPath {
    /// Builds the copy without the content that the options select. Calls `read` for each line with edits that depend on
    /// its text.
    ///
    /// Returns an error only if `read` returns one.
    pub fn from_options<E>(
        input: &TrimInput<'_>,
        options: &TrimOptions,
        read: impl FnMut(LineSpan) -> Result<Vec<u8>, E>,
    ) -> Result<TrimmedPath, E> {
        TrimmedPath::build(input, Removals::from_options(input, options), None, read)
    }

    /// Builds the copy without the selected content. With `note_uuid`, the copy gets a note with this uuid, which replaces
    /// parents that were removed with their turn. Returns an error only if `read` returns one.
    pub(super) fn build<E>(
        input: &TrimInput<'_>,
        removals: Removals,
        note_uuid: Option<&str>,
        mut read: impl FnMut(LineSpan) -> Result<Vec<u8>, E>,
    ) -> Result<TrimmedPath, E> {
        let plan = RemovalPlan::new(input, removals);
        let mut trimmed = plan.build_path(note_uuid);
        let edits_by_node = plan.build_text_dependent_edits(&mut read)?;
        for (node_id, edits) in edits_by_node {
            if let Ok(idx) = trimmed.lines.binary_search_by_key(&node_id, |(node_id, _)| *node_id) {
                trimmed.lines[idx].1.extend(edits);
            }
        }
        Ok(trimmed)
    }

    /// Returns the lines as segments of a draft. `note` is the line of the note that replaces removed turns; it is
    /// omitted if `self.note` is `None`.
    pub fn into_segments(
        self,
        span_of: impl Fn(NodeId) -> LineSpan,
        note: Option<Vec<u8>>,
    ) -> Vec<DraftSegment> {
        let line = |(node_id, edits): (NodeId, Vec<JsonEdit>)| DraftSegment::Line(span_of(node_id), edits);
        let mut segments: Vec<DraftSegment> = self.lines.into_iter().map(line).collect();
        if let (Some(position), Some(note)) = (self.note, note) {
            segments.insert(position.line_idx.min(segments.len()), DraftSegment::New(note));
        }
        segments
    }
}

/// Removals with all their consequences.
pub(super) struct RemovalPlan<'s, 'a> {
    input: &'s TrimInput<'a>,
    removals: Removals,
    /// By message index: whether the response lost a tool call.
    lost_calls: Vec<bool>,
    pub(super) savings: SavingsByCause,
    /// The last remaining entry that records a context size, and the reduced size in tokens. `None` if the size is
    /// unchanged.
    reduced_context: Option<(NodeId, u64)>,
    /// For each removed entry: its closest remaining ancestor, and whether turns were removed between them.
    surviving_ancestors: Vec<Option<(NodeId, bool)>>,
}

/// The value for "no entry".
const NONE: NodeId = NodeId::MAX;

impl<'s, 'a> RemovalPlan<'s, 'a> {
    pub(super) fn new(input: &'s TrimInput<'a>, removals: Removals) -> RemovalPlan<'s, 'a> {
        let lost_calls = vec![false; input.tree.message_count()];
        let (savings, surviving_ancestors) = (SavingsByCause::default(), Vec::new());
        let mut plan =
            RemovalPlan { input, removals, lost_calls, savings, reduced_context: None, surviving_ancestors };
        plan.remove_counterparts();
        plan.remove_emptied_lines();
        plan.find_surviving_ancestors();
        plan.compute_savings();
        plan
    }

    /// Returns the call of a block that is a tool call or a tool result. Returns `None` for other blocks.
    fn call_of(&self, block_idx: usize) -> Option<u32> {
        match self.input.inventory.block(block_idx).class {
            BlockClass::Call(call) | BlockClass::Result(call, _) | BlockClass::ServerTool(call) => Some(call),
            _ => None,
        }
    }

    /// Selects the counterparts of calls and results on removed lines, and records which responses lost a call.
    fn remove_counterparts(&mut self) {
        for &node_id in self.input.path {
            if let Some(cause) = self.removals.lines[node_id as usize] {
                for block_idx in self.input.inventory.block_range(node_id) {
                    if let Some(call) = self.call_of(block_idx) {
                        self.removals.calls[call as usize].get_or_insert(cause);
                    }
                }
            }
        }
        for &node_id in self.input.path {
            let is_lost = |block_idx| {
                self.call_of(block_idx).is_some_and(|call| self.removals.calls[call as usize].is_some())
            };
            if let Some(message) = self.input.tree.message_of(node_id)
                && self.input.inventory.block_range(node_id).any(is_lost)
            {
                self.lost_calls[message as usize] = true;
            }
        }
    }

    /// Returns the cause of removing a block. Returns `None` if it stays or a stub replaces it.
    fn find_block_cause(&self, node_id: NodeId, block_idx: usize) -> Option<RemovalCause> {
        let class = self.input.inventory.block(block_idx).class;
        match class {
            BlockClass::Call(call) | BlockClass::Result(call, _) | BlockClass::ServerTool(call) => {
                self.removals.calls[call as usize]
            }
            // Thinking is signed together with the whole response. It is invalid if the response loses a call,
            // as are the blank texts between.
            BlockClass::Thinking | BlockClass::Blank => {
                let message = self.input.tree.message_of(node_id);
                let lost_call = message.is_some_and(|message| self.lost_calls[message as usize]);
                let selected = self.removals.blocks[block_idx].filter(|_| class == BlockClass::Thinking);
                selected.or(lost_call.then_some(RemovalCause::Tools))
            }
            _ => None,
        }
    }

    /// Selects the lines that lost blocks and have no remaining block, or only blank ones.
    ///
    /// The cause is that of the largest removed block.
    fn remove_emptied_lines(&mut self) {
        for &node_id in self.input.path {
            if self.removals.lines[node_id as usize].is_some() {
                continue;
            }
            let range = self.input.inventory.block_range(node_id);
            let is_kept = |block_idx: usize| {
                self.find_block_cause(node_id, block_idx).is_none()
                    && self.input.inventory.block(block_idx).class != BlockClass::Blank
            };
            let largest = range
                .clone()
                .filter_map(|block_idx| {
                    Some((
                        self.input.inventory.block(block_idx).len,
                        self.find_block_cause(node_id, block_idx)?,
                    ))
                })
                .max_by_key(|(len, _)| *len);
            if let Some((_, cause)) = largest
                && !range.clone().any(is_kept)
            {
                self.removals.lines[node_id as usize] = Some(cause);
            }
        }
    }

    /// Returns whether an entry is on the path and its line stays.
    pub(super) fn is_kept(&self, node_id: NodeId) -> bool {
        self.input.is_on_path(node_id) && self.removals.lines[node_id as usize].is_none()
    }

    /// Renders the stub that replaces a block. Returns `None` if no stub replaces it.
    fn render_stub(&self, node_id: NodeId, block_idx: usize) -> Option<String> {
        let line = self.input.tree.node(node_id).span.line;
        let block_info = self.input.inventory.block(block_idx);
        let session = self.input.session;
        match (block_info.class, self.removals.blocks[block_idx]?) {
            (BlockClass::Result(..), RemovalCause::Reads) => {
                Some(stub::render_repeated_read(block_info.len, session, line))
            }
            (BlockClass::Result(..), _) => Some(stub::render_result(block_info.len, session, line)),
            (BlockClass::Image, _) => Some(stub::render_image(block_info.len, session, line)),
            _ => None,
        }
    }

    /// Adds up the removed content in conversation order, and finds the last recorded context size that
    /// became too large.
    fn compute_savings(&mut self) {
        let mut savings = SavingsByCause::default();
        let (mut removed_bytes, mut kept_bytes) = (0, 0);
        for &node_id in &self.input.ordered {
            let before = savings.total().context_bytes;
            if let Some(cause) = self.removals.lines[node_id as usize] {
                let is_call = |block_idx: &usize| {
                    matches!(self.input.inventory.block(*block_idx).class, BlockClass::Call(_))
                };
                let count = match cause {
                    RemovalCause::Turns => 0,
                    RemovalCause::Tools => {
                        self.input.inventory.block_range(node_id).filter(is_call).count() as u64
                    }
                    _ => 1,
                };
                let bytes = u64::from(self.input.tree.node(node_id).span.len) + 1;
                let context_bytes =
                    if self.input.is_sent(node_id) { self.input.resume_index.text_bytes(node_id) } else { 0 };
                savings.add(cause, count, bytes, context_bytes);
                savings.add_lines(cause, 1);
            } else {
                self.add_block_savings(node_id, &mut savings);
            }
            if !self.input.is_sent(node_id) {
                continue;
            }
            let removed = savings.total().context_bytes - before;
            removed_bytes += removed;
            kept_bytes += self.input.resume_index.text_bytes(node_id).saturating_sub(removed);
            if let (true, Some(count)) =
                (self.is_kept(node_id), self.input.resume_index.context_tokens(node_id))
            {
                let reduced_count = count.saturating_sub(removed_bytes / 4).max(kept_bytes / 4).min(count);
                self.reduced_context = (reduced_count < count).then_some((node_id, reduced_count));
            }
        }
        let turns: std::collections::BTreeSet<u32> = self.removed_turns().collect();
        savings.add(RemovalCause::Turns, turns.len() as u64, 0, 0);
        self.savings = savings;
    }

    /// Iterates over the turn number of each entry that is removed with its turn. Numbers repeat.
    fn removed_turns(&self) -> impl Iterator<Item = u32> + '_ {
        let is_removed =
            |node_id: &NodeId| self.removals.lines[*node_id as usize] == Some(RemovalCause::Turns);
        self.input.path.iter().copied().filter(is_removed).map(|node_id| self.input.turn_of(node_id))
    }

    /// Adds the removed and replaced blocks of a line that stays to `savings`.
    fn add_block_savings(&self, node_id: NodeId, savings: &mut SavingsByCause) {
        let sent = u64::from(self.input.is_sent(node_id));
        let mut tool_use_result_len = Some(u64::from(self.input.inventory.tool_use_result_len(node_id)));
        for block_idx in self.input.inventory.block_range(node_id) {
            let block_info = self.input.inventory.block(block_idx);
            let (len, context_len) = (u64::from(block_info.len), u64::from(block_info.context_len));
            let result_len = if matches!(block_info.class, BlockClass::Result(..)) {
                &mut tool_use_result_len
            } else {
                &mut None
            };
            if let Some(cause) = self.find_block_cause(node_id, block_idx) {
                let count = u64::from(
                    cause != RemovalCause::Tools || matches!(block_info.class, BlockClass::Call(_)),
                );
                savings.add(cause, count, len + 1 + result_len.take().unwrap_or(0), context_len * sent);
            } else if let (Some(stub), Some(cause)) =
                (self.render_stub(node_id, block_idx), self.removals.blocks[block_idx])
            {
                let stub = stub.len() as u64;
                let bytes = len.saturating_sub(stub) + result_len.take().unwrap_or(0);
                savings.add(cause, 1, bytes, context_len.saturating_sub(stub) * sent);
            } else if self.removals.nested_images[block_idx] {
                let images = self.input.inventory.nested_images(block_idx);
                let bytes: u64 = images.iter().map(|image| u64::from(image.len)).sum();
                let context_len = (IMAGE_BYTES * images.len()) as u64;
                savings.add(
                    RemovalCause::Images,
                    images.len() as u64,
                    bytes + result_len.take().unwrap_or(0),
                    context_len * sent,
                );
            }
        }
    }

    /// Finds for each removed entry its closest remaining ancestor, and whether turns were removed between
    /// them.
    fn find_surviving_ancestors(&mut self) {
        let mut surviving_ancestors: Vec<Option<(NodeId, bool)>> = vec![None; self.input.tree.nodes().len()];
        let mut visited = Vec::new();
        for &node_id in self.input.path.iter().filter(|&&node_id| !self.is_kept(node_id)) {
            let mut next = Some(node_id);
            while let Some(removed) =
                next.filter(|&removed| self.input.is_on_path(removed) && !self.is_kept(removed))
                && surviving_ancestors[removed as usize].is_none()
            {
                // Marks the node as visited, which ends a cycle.
                surviving_ancestors[removed as usize] = Some((NONE, false));
                visited.push(removed);
                next = self.input.parent(removed);
            }
            let stop =
                next.filter(|&next| self.input.is_on_path(next)).map(|next| (next, self.is_kept(next)));
            let (ancestor, mut turns_removed) = match stop {
                Some((next, true)) => (next, false),
                Some((next, false)) => surviving_ancestors[next as usize].unwrap_or((NONE, false)),
                None => (NONE, false),
            };
            for removed_id in visited.drain(..).rev() {
                turns_removed |= self.removals.lines[removed_id as usize] == Some(RemovalCause::Turns);
                surviving_ancestors[removed_id as usize] = Some((ancestor, turns_removed));
            }
        }
        self.surviving_ancestors = surviving_ancestors;
    }

    /// Returns the closest remaining ancestor of a removed entry, and whether turns were removed between
    /// them. The ancestor is `None` if none remains on the path.
    fn surviving_ancestor(&self, removed: NodeId) -> (Option<NodeId>, bool) {
        let (ancestor, turns_removed) = self.surviving_ancestors[removed as usize].unwrap_or((NONE, false));
        (Some(ancestor).filter(|&ancestor| ancestor != NONE), turns_removed)
    }

    /// Returns the uuid of an entry as it is written in the file.
    fn uuid_text(&self, node_id: NodeId) -> String {
        self.input.inventory.uuid_text(self.input.tree.node(node_id).uuid)
    }

    /// Returns the edit that replaces a removed parent, and whether turns were removed above the line.
    /// Returns `(None, false)` if the parent stays.
    fn build_parent_edit(&self, node_id: NodeId, note_uuid: Option<&str>) -> (Option<JsonEdit>, bool) {
        let is_removed = |parent: &NodeId| self.input.is_on_path(*parent) && !self.is_kept(*parent);
        let Some(parent) = self.input.parent(node_id).filter(is_removed) else {
            return (None, false);
        };
        let (ancestor, turns_removed) = self.surviving_ancestor(parent);
        let parent_uuid = match note_uuid.filter(|_| turns_removed) {
            Some(note_uuid) => Some(note_uuid.to_owned()),
            None => ancestor.map(|ancestor| self.uuid_text(ancestor)),
        };
        let json = parent_uuid.map_or_else(|| "null".to_owned(), |parent_uuid| quote_json(&parent_uuid));
        (Some(JsonEdit::set([PathSegment::from("parentUuid")], json)), turns_removed)
    }

    /// Builds the copy with all edits except those that depend on the text of lines.
    fn build_path(&self, note_uuid: Option<&str>) -> TrimmedPath {
        let mut lines = Vec::new();
        let mut note_position: Option<NotePosition> = None;
        for &node_id in self.input.path.iter().filter(|&&node_id| self.is_kept(node_id)) {
            let mut edits = self.build_block_edits(node_id);
            let (parent_edit, turns_removed) = self.build_parent_edit(node_id, note_uuid);
            if turns_removed && note_uuid.is_some() && note_position.is_none() {
                note_position = Some(self.build_note_position(node_id, lines.len()));
            }
            edits.extend(parent_edit);
            edits.extend(self.build_logical_parent_edit(node_id));
            lines.push((node_id, edits));
        }
        let leaf = Some(self.input.leaf).filter(|&leaf| self.is_kept(leaf));
        let leaf = leaf.or_else(|| self.surviving_ancestor(self.input.leaf).0);
        TrimmedPath { lines, leaf, savings: self.savings.clone(), note: note_position }
    }

    /// Builds the position of the note, which is inserted before line `line_idx` of the copy.
    ///
    /// `first` is the first remaining entry below the removed turns.
    fn build_note_position(&self, first: NodeId, line_idx: usize) -> NotePosition {
        let removed: Vec<NodeId> = self
            .input
            .path
            .iter()
            .copied()
            .filter(|&node_id| self.removals.lines[node_id as usize] == Some(RemovalCause::Turns))
            .collect();
        let ancestor = self.input.parent(first).and_then(|parent| self.surviving_ancestor(parent).0);
        let line =
            |node_id: Option<&NodeId>| node_id.map_or(0, |&node_id| self.input.tree.node(node_id).span.line);
        let turns: std::collections::BTreeSet<u32> = self.removed_turns().collect();
        NotePosition {
            line_idx,
            parent: ancestor.map(|ancestor| self.uuid_text(ancestor)),
            time: removed.iter().filter_map(|&node_id| self.input.tree.node(node_id).time()).max(),
            lines: (line(removed.first()), line(removed.last())),
            turns: turns.len() as u32,
        }
    }

    /// Returns the edits that remove or replace the blocks of a line.
    fn build_block_edits(&self, node_id: NodeId) -> Vec<JsonEdit> {
        let mut stubs = Vec::new();
        let mut removals = Vec::new();
        let mut drops_tool_use_result = false;
        for (idx, block_idx) in self.input.inventory.block_range(node_id).enumerate() {
            let is_result = matches!(self.input.inventory.block(block_idx).class, BlockClass::Result(..));
            let block_path = |suffix: &[PathSegment]| -> Vec<PathSegment> {
                let path =
                    [PathSegment::from("message"), PathSegment::from("content"), PathSegment::from(idx)];
                path.into_iter().chain(suffix.iter().cloned()).collect()
            };
            if self.find_block_cause(node_id, block_idx).is_some() {
                removals.push(JsonEdit::remove(block_path(&[])));
                drops_tool_use_result |= is_result;
            } else if let Some(text) = self.render_stub(node_id, block_idx) {
                stubs.push(match is_result {
                    true => JsonEdit::set_string(block_path(&["content".into()]), &text),
                    false => JsonEdit::set(block_path(&[]), render_text_block(&text)),
                });
                drops_tool_use_result |= is_result;
            } else if self.removals.nested_images[block_idx] {
                let line = self.input.tree.node(node_id).span.line;
                for image in self.input.inventory.nested_images(block_idx) {
                    let text = stub::render_image(image.len, self.input.session, line);
                    let path = block_path(&["content".into(), PathSegment::from(image.item_idx as usize)]);
                    stubs.push(JsonEdit::set(path, render_text_block(&text)));
                }
                drops_tool_use_result = true;
            }
        }
        // The last block first, so that the indices of earlier blocks stay valid.
        stubs.extend(removals.into_iter().rev());
        if drops_tool_use_result && self.input.inventory.tool_use_result_len(node_id) > 0 {
            stubs.push(JsonEdit::remove([PathSegment::from("toolUseResult")]));
        }
        stubs
    }

    /// Returns the edit that replaces the removed logical parent of a boundary by its closest remaining ancestor.
    ///
    /// Returns `None` if the entry has no logical parent on the path, or if that stays.
    fn build_logical_parent_edit(&self, node_id: NodeId) -> Option<JsonEdit> {
        let logical_parent = self.input.tree.logical_parent(node_id)?;
        if !self.input.is_on_path(logical_parent) || self.is_kept(logical_parent) {
            return None;
        }
        let json = self
            .surviving_ancestor(logical_parent)
            .0
            .map_or_else(|| "null".to_owned(), |ancestor| quote_json(&self.uuid_text(ancestor)));
        Some(JsonEdit::set([PathSegment::from("logicalParentUuid")], json))
    }

    /// Returns the edits that depend on the text of lines, by entry: boundaries that list removed entries, and the
    /// last recorded context size. Returns an error only if `read` returns one.
    fn build_text_dependent_edits<E>(
        &self,
        read: &mut impl FnMut(LineSpan) -> Result<Vec<u8>, E>,
    ) -> Result<Vec<(NodeId, Vec<JsonEdit>)>, E> {
        let tree = self.input.tree;
        let mut edits_by_node = Vec::new();
        for (boundary, preserved) in tree.boundaries.iter().filter(|(boundary, _)| self.is_kept(*boundary)) {
            let segment = preserved.find_segment_nodes(tree);
            let listed = preserved.resolve(tree).map(|(_, entries)| entries).unwrap_or_default();
            let is_removed = |node_id: &NodeId| self.input.is_on_path(*node_id) && !self.is_kept(*node_id);
            if segment.iter().flatten().chain(&listed).any(is_removed) {
                let kept: Option<Vec<String>> = segment.map(|segment| {
                    segment
                        .into_iter()
                        .filter(|node_id| !is_removed(node_id))
                        .map(|node_id| self.uuid_text(node_id))
                        .collect()
                });
                let line = read(tree.node(*boundary).span)?;
                let is_kept = |id| !tree.find_uuid(id).is_some_and(|node_id| is_removed(&node_id));
                edits_by_node.push((*boundary, edit_boundary(&line, is_kept, kept.as_deref())));
            }
        }
        if let Some((node_id, count)) = self.reduced_context {
            edits_by_node.push((node_id, lower_context_count(&read(tree.node(node_id).span)?, count)));
        }
        Ok(edits_by_node)
    }
}

fn render_text_block(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, quote_json(text))
}
