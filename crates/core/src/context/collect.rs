//! Classifies the blocks of a file and estimates their tokens while the file is read.

use std::collections::HashMap;

use super::block::{
    CompactionInfo, ContextBlock, ContextCause, FileRead, NO_INDEX, ReportedUsage, parse_file_read,
    parse_number,
};
use super::estimate::{
    ANSWER_RATE, CALL_TOKENS, DOCUMENT_TOKENS, IMAGE_TOKENS, INPUT_RATE, PROSE_RATE, REMINDER_TOKENS,
    RESULT_MARKUP_TOKENS, RESULT_RATE, SIGNATURE_RATE, THINKING_RATE, estimate_by_length,
    estimate_image_tokens, estimate_tokens,
};
use crate::block_table::{BlockTable, ToolCallIds, ToolCallIdx};
use crate::check::sniff_image;
use crate::entry::{
    AttachmentKind, Block, BlockKind, Content, Entry, EntryRole, Flags, JsonStr, Kind, SystemKind,
    find_member, parse_content, value_text,
};
use crate::id::{Id, IdSet};
use crate::tree::{EntryVisitor, LineSpan, NodeId};

/// A tool call.
#[derive(Debug, Clone, Copy)]
struct CallInfo {
    /// The index of the tool's name.
    tool: u32,
    id: Id,
    /// The entry that makes the call.
    node: NodeId,
}

/// Collects the blocks of a file. Receives entries in file order, in addition to a `TreeBuilder`.
#[derive(Debug, Clone, Default)]
pub struct ContextCollector {
    blocks: BlockTable<ContextBlock>,
    pub(super) reported_usages: Vec<ReportedUsage>,
    pub(super) compactions: HashMap<NodeId, CompactionInfo>,
    call_ids: ToolCallIds,
    calls: Vec<CallInfo>,
    file_reads: HashMap<ToolCallIdx, FileRead>,
    /// The names of models, tools and attachment kinds, without duplicates.
    names: Vec<String>,
    name_ids: HashMap<String, u32>,
    /// The blocks of responses seen so far. A block that a later line repeats counts once.
    seen_blocks: IdSet,
}

impl ContextCollector {
    /// Adds the next entry.
    pub fn add(&mut self, entry: &Entry<'_>, span: LineSpan) {
        if entry.uuid.is_none() {
            return;
        }
        let node = self.blocks.start_node();
        match entry.kind {
            Kind::User => self.add_user(entry),
            Kind::Assistant => self.add_assistant(entry, node),
            Kind::Attachment => self.add_attachment(entry),
            Kind::System => self.add_system(entry, node),
            _ => {}
        }
        self.add_truncated_bytes(entry, span);
    }

    /// Adds a block to the current entry. See [`ContextBlock`] for `subject`.
    fn add_block(&mut self, cause: ContextCause, subject: u32, tokens: u64) {
        self.blocks.push(ContextBlock { cause, subject, tokens: u32::try_from(tokens).unwrap_or(u32::MAX) });
    }

    /// Adds the texts, tool results and images of a user entry.
    fn add_user(&mut self, entry: &Entry<'_>) {
        let Some(message) = &entry.message else { return };
        let role = entry.role();
        let has_several_blocks = message.content.blocks().len() > 1;
        match &message.content {
            Content::None => {}
            Content::Text(text) => self.add_user_text(*text, role, has_several_blocks),
            Content::Blocks(blocks) => {
                for block in blocks {
                    match block.kind {
                        BlockKind::Text => {
                            self.add_user_text(
                                block.text.unwrap_or(JsonStr::new(b"")),
                                role,
                                has_several_blocks,
                            );
                        }
                        BlockKind::ToolResult => self.add_result(block),
                        _ => self.add_media(block),
                    }
                }
            }
        }
    }

    /// Adds a text of a user entry, which the user or the client wrote.
    fn add_user_text(&mut self, text: JsonStr<'_>, role: EntryRole, has_several_blocks: bool) {
        let is_client_note = (has_several_blocks || role == EntryRole::Results)
            && matches!(text.raw().first(), Some(b'<' | b'['));
        let cause = match role {
            EntryRole::CompactSummary => ContextCause::Summary,
            EntryRole::Command | EntryRole::Shell | EntryRole::Output => ContextCause::Command,
            EntryRole::Prompt | EntryRole::ImageOnly | EntryRole::Results if !is_client_note => {
                ContextCause::Prompt
            }
            _ => ContextCause::Reminder,
        };
        self.add_block(cause, NO_INDEX, estimate_tokens(text.raw(), PROSE_RATE));
    }

    /// Adds the usage and the blocks of an answer. Skips blocks that an earlier line of the response already had.
    fn add_assistant(&mut self, entry: &Entry<'_>, node: NodeId) {
        let role = entry.role();
        let Some(message) = entry.message.as_ref().filter(|_| role == EntryRole::Answer) else { return };
        if let (Some(usage), Some(_)) = (message.usage, message.id)
            && !entry.has_flag(Flags::SYNTHETIC)
        {
            let model = message.model.map_or(NO_INDEX, |model| self.intern_name(&model.decode()));
            self.reported_usages.push(ReportedUsage {
                node,
                usage,
                has_ended: message.stop_reason.is_some(),
                model,
            });
        }
        if let Content::Text(text) = &message.content {
            self.add_block(ContextCause::Answer, NO_INDEX, estimate_tokens(text.raw(), ANSWER_RATE));
        }
        for block in message.content.blocks() {
            let is_repeated = message
                .id
                .is_some_and(|id| !self.seen_blocks.insert(id.to_id().combine(Id::from_text(block.raw))));
            if !is_repeated {
                self.add_response_block(block);
            }
        }
    }

    /// Adds a text, thinking, call, server tool result or other block of a response.
    fn add_response_block(&mut self, block: &Block<'_>) {
        let text = block.text.map_or(&b""[..], JsonStr::raw);
        match block.kind {
            BlockKind::Text => {
                self.add_block(ContextCause::Answer, NO_INDEX, estimate_tokens(text, ANSWER_RATE));
            }
            BlockKind::Thinking if !text.is_empty() => {
                self.add_block(ContextCause::Thinking, NO_INDEX, estimate_tokens(text, THINKING_RATE));
            }
            // Only the signature or the encrypted data of this thinking remains.
            BlockKind::Thinking | BlockKind::RedactedThinking => {
                self.add_block(
                    ContextCause::Thinking,
                    NO_INDEX,
                    estimate_by_length(block.raw.len() as u64, SIGNATURE_RATE),
                );
            }
            BlockKind::ToolUse | BlockKind::ServerToolUse => self.add_call(block),
            _ if block.type_name.is_some_and(|name| name.raw().ends_with(b"_tool_result")) => {
                self.add_result(block);
            }
            _ => self.add_media(block),
        }
    }

    /// Adds a tool call, and records its tool, its entry and the file that it reads.
    fn add_call(&mut self, block: &Block<'_>) {
        let call = self.intern_call(block.id);
        let input = block.body.unwrap_or_default();
        if let Some(tool) = block.tool_name.filter(|_| call != NO_INDEX) {
            let name = self.intern_name(&tool.decode());
            let node = self.blocks.node_count() as NodeId - 1;
            let info = &mut self.calls[call as usize];
            if info.tool == NO_INDEX {
                (info.tool, info.node) = (name, node);
            }
            if (tool.equals("Read") || tool.equals("NotebookRead"))
                && let Some(file_read) = parse_file_read(input)
            {
                self.file_reads.insert(call, file_read);
            }
        }
        self.add_block(ContextCause::Call, call, estimate_tokens(input, INPUT_RATE) + CALL_TOKENS);
    }

    /// Adds a tool result. Images and documents in it become blocks of their own.
    fn add_result(&mut self, block: &Block<'_>) {
        let call = self.intern_call(block.id);
        let mut tokens = RESULT_MARKUP_TOKENS;
        match block.result_content() {
            Content::Text(text) => tokens += estimate_tokens(text.raw(), RESULT_RATE),
            Content::Blocks(items) => {
                for item in &items {
                    match item.kind {
                        BlockKind::Image | BlockKind::Document => self.add_media(item),
                        BlockKind::Text => {
                            tokens += estimate_tokens(item.text.map_or(&b""[..], JsonStr::raw), RESULT_RATE);
                        }
                        _ => tokens += estimate_tokens(item.raw, RESULT_RATE),
                    }
                }
            }
            Content::None => tokens += estimate_tokens(block.body.unwrap_or_default(), RESULT_RATE),
        }
        self.add_block(ContextCause::Result, call, tokens);
    }

    /// Adds an image, a document or an unknown block.
    fn add_media(&mut self, block: &Block<'_>) {
        let source = block.body.unwrap_or_default();
        let data = find_member(source, "data").and_then(JsonStr::from_value);
        let tokens = match block.kind {
            BlockKind::Image => {
                data.and_then(|data| sniff_image(data.raw()).1).map_or(IMAGE_TOKENS, estimate_image_tokens)
            }
            BlockKind::Document => {
                let is_plain_text = find_member(source, "type")
                    .and_then(JsonStr::from_value)
                    .is_some_and(|kind| kind.equals("text"));
                data.filter(|_| is_plain_text)
                    .map_or(DOCUMENT_TOKENS, |data| estimate_tokens(data.raw(), PROSE_RATE))
            }
            _ => {
                return self.add_block(
                    ContextCause::Reminder,
                    NO_INDEX,
                    estimate_tokens(block.raw, PROSE_RATE),
                );
            }
        };
        self.add_block(ContextCause::Image, NO_INDEX, tokens);
    }

    /// Adds an attachment unless it is never sent. A queued prompt counts as text of the user.
    fn add_attachment(&mut self, entry: &Entry<'_>) {
        let kind = entry.attachment_kind();
        let body = entry.payload.unwrap_or_default();
        if kind.is_client_only() {
            return;
        }
        if kind == AttachmentKind::QueuedCommand {
            let role = entry.role();
            match find_member(body, "prompt").map(parse_content) {
                Some(Content::Text(text)) => self.add_user_text(text, role, false),
                Some(Content::Blocks(blocks)) => {
                    for block in &blocks {
                        match block.text {
                            Some(text) => self.add_user_text(text, role, true),
                            None => self.add_media(block),
                        }
                    }
                }
                _ => {}
            }
            return;
        }
        let reminder_tokens = if matches!(kind, AttachmentKind::TodoReminder | AttachmentKind::TaskReminder) {
            REMINDER_TOKENS
        } else {
            0
        };
        let name = entry.payload_type.map_or(NO_INDEX, |name| self.intern_name(&name.decode()));
        self.add_block(ContextCause::Attachment, name, estimate_tokens(body, PROSE_RATE) + reminder_tokens);
    }

    /// Adds a compaction or the output of a local command. Ignores other system entries.
    fn add_system(&mut self, entry: &Entry<'_>, node: NodeId) {
        match entry.system_kind() {
            SystemKind::CompactBoundary => self.add_compaction(entry, node, false),
            SystemKind::MicrocompactBoundary => self.add_compaction(entry, node, true),
            SystemKind::LocalCommand => {
                let tokens = entry
                    .content
                    .and_then(JsonStr::from_value)
                    .map_or(0, |text| estimate_tokens(text.raw(), PROSE_RATE));
                self.add_block(ContextCause::Command, NO_INDEX, tokens);
            }
            _ => {}
        }
    }

    fn add_compaction(&mut self, entry: &Entry<'_>, node: NodeId, is_micro: bool) {
        let metadata =
            entry.compact_metadata.or_else(|| entry.field("microcompactMetadata")).unwrap_or_default();
        let trigger =
            find_member(metadata, "trigger").map(|value| value_text(value).into_owned()).unwrap_or_default();
        let (before, after) = (parse_number(metadata, "preTokens"), parse_number(metadata, "postTokens"));
        self.compactions.insert(node, CompactionInfo { trigger, before, after, is_micro });
    }

    /// Adds the tokens of the bytes that a truncated line is missing to its first block that is not an image.
    fn add_truncated_bytes(&mut self, entry: &Entry<'_>, span: LineSpan) {
        let missing = u64::from(span.len).saturating_sub(entry.raw.len() as u64);
        // The client stores a second form of the result in addition to the one that it sends.
        let missing = if entry.tool_use_result.is_some() { missing / 2 } else { missing };
        let long = self.blocks.last_blocks_mut().iter_mut().find(|block| block.cause != ContextCause::Image);
        if let Some(block) = long.filter(|_| missing > 0) {
            let missing = u32::try_from(estimate_by_length(missing, RESULT_RATE)).unwrap_or(u32::MAX);
            block.tokens = block.tokens.saturating_add(missing);
        }
    }

    /// Returns the index of a call. Adds the call if it is new. Returns `NO_INDEX` if there is no id.
    fn intern_call(&mut self, id: Option<JsonStr<'_>>) -> ToolCallIdx {
        let Some(id) = id else { return NO_INDEX };
        let call = self.call_ids.intern(id.to_id());
        if call as usize == self.calls.len() {
            self.calls.push(CallInfo { tool: NO_INDEX, id: id.to_id(), node: NO_INDEX });
        }
        call
    }

    fn intern_name(&mut self, name: &str) -> u32 {
        if let Some(&name_id) = self.name_ids.get(name) {
            return name_id;
        }
        let name_id = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.name_ids.insert(name.to_owned(), name_id);
        name_id
    }

    fn name_at(&self, name: u32) -> &str {
        self.names.get(name as usize).map_or("", String::as_str)
    }

    /// Returns the blocks of an entry.
    pub(super) fn blocks_of(&self, node_id: NodeId) -> &[ContextBlock] {
        self.blocks.blocks_of(node_id)
    }

    /// Returns the tool of a call or result, or the kind of an attachment. Returns an empty string for other blocks.
    pub(super) fn find_name(&self, block: &ContextBlock) -> &str {
        match block.cause {
            ContextCause::Call | ContextCause::Result => {
                self.calls.get(block.subject as usize).map_or("", |call| self.name_at(call.tool))
            }
            ContextCause::Attachment => self.name_at(block.subject),
            _ => "",
        }
    }

    /// Returns the entry that contains the call of a call or result block, and the id of the call.
    ///
    /// Returns `None` for other blocks, and if the call is not in the file.
    pub(super) fn call_of_block(&self, block: &ContextBlock) -> Option<(NodeId, Id)> {
        let is_call = matches!(block.cause, ContextCause::Call | ContextCause::Result);
        let call = self.calls.get(block.subject as usize).filter(|_| is_call)?;
        (call.node != NO_INDEX).then_some((call.node, call.id))
    }

    /// Returns the file and lines that the call of a result reads. Returns `None` if it is no result of a file read.
    pub(super) fn file_read(&self, block: &ContextBlock) -> Option<&FileRead> {
        self.file_reads.get(&block.subject).filter(|_| block.cause == ContextCause::Result)
    }

    /// Returns the model of a response. Returns an empty string if unknown.
    pub(super) fn model(&self, reported: &ReportedUsage) -> &str {
        self.name_at(reported.model)
    }
}

impl EntryVisitor for ContextCollector {
    fn visit_entry(&mut self, entry: &Entry<'_>, span: LineSpan, _: EntryRole) {
        self.add(entry, span);
    }
}
