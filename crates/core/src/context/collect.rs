//! What every block is and what it is judged to weigh: a few bytes of each, taken while the file is read.

use std::collections::HashMap;

use super::block::{
    CallNo, Cause, CompactionInfo, ContextBlock, FileRead, NONE, ReportedUsage, number, reading,
};
use super::estimate::{
    ANSWER, CALL, DOCUMENT, INPUT, PICTURE, PROSE, REMINDER, RESULT, SIGNATURE, THINKING, WRAP, of_length,
    picture, tokens,
};
use crate::check::sniff_image;
use crate::entry::{
    Attachment, Block, BlockKind, Content, Entry, EntryRole, Flags, JsonStr, Kind, System, content_of,
    member, value_text,
};
use crate::id::{Id, IdMap, IdSet};
use crate::tree::{LineSpan, NodeId};

/// Takes entries in file order, beside a `Weaver`.
#[derive(Debug, Clone, Default)]
pub struct ContextCollector {
    pieces: Vec<ContextBlock>,
    /// By node, where its pieces begin.
    starts: Vec<u32>,
    pub(super) counted: Vec<ReportedUsage>,
    pub(super) marks: HashMap<NodeId, CompactionInfo>,
    calls: IdMap<CallNo>,
    /// By call, the name of its tool, its key and the entry that makes it.
    tools: Vec<(u32, Id, NodeId)>,
    reads: HashMap<CallNo, FileRead>,
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    /// Blocks of responses that were met, so that one which a later line repeats counts once.
    met: IdSet,
}

/// Attachments that are for the client alone.
const SILENT: [Attachment; 4] = [
    Attachment::HookSuccess,
    Attachment::HookSystemMessage,
    Attachment::CommandPermissions,
    Attachment::PromptSnapshot,
];

impl ContextCollector {
    /// Takes the next entry.
    pub fn add(&mut self, entry: &Entry<'_>, place: LineSpan) {
        if entry.uuid.is_none() {
            return;
        }
        let node = self.starts.len() as NodeId;
        self.starts.push(self.pieces.len() as u32);
        match entry.kind {
            Kind::User => self.user(entry),
            Kind::Assistant => self.assistant(entry, node),
            Kind::Attachment => self.attachment(entry),
            Kind::System => self.system(entry, node),
            _ => {}
        }
        self.spread(node, entry, place);
    }

    fn push(&mut self, cause: Cause, what: u32, tokens: u64) {
        self.pieces.push(ContextBlock { cause, what, tokens: u32::try_from(tokens).unwrap_or(u32::MAX) });
    }

    fn user(&mut self, entry: &Entry<'_>) {
        let Some(message) = &entry.message else { return };
        let voice = entry.voice();
        let several = message.content.blocks().len() > 1;
        match &message.content {
            Content::None => {}
            Content::Text(text) => self.words(*text, voice, several),
            Content::Blocks(blocks) => {
                for block in blocks {
                    match block.kind {
                        BlockKind::Text => {
                            self.words(block.words.unwrap_or(JsonStr::new(b"")), voice, several)
                        }
                        BlockKind::ToolResult => self.result(block),
                        _ => self.media(block),
                    }
                }
            }
        }
    }

    /// Takes words under the user's name, whoever's they are.
    fn words(&mut self, text: JsonStr<'_>, voice: EntryRole, several: bool) {
        let noted =
            (several || voice == EntryRole::Results) && matches!(text.raw().first(), Some(b'<' | b'['));
        let cause = match voice {
            EntryRole::CompactSummary => Cause::Summary,
            EntryRole::Command | EntryRole::Shell | EntryRole::Output => Cause::Command,
            EntryRole::Prompt | EntryRole::ImageOnly | EntryRole::Results if !noted => Cause::Prompt,
            _ => Cause::Reminder,
        };
        self.push(cause, NONE, tokens(text.raw(), PROSE));
    }

    fn assistant(&mut self, entry: &Entry<'_>, node: NodeId) {
        let voice = entry.voice();
        let Some(message) = entry.message.as_ref().filter(|_| voice == EntryRole::Answer) else { return };
        if let (Some(usage), Some(_)) = (message.usage, message.id)
            && !entry.is(Flags::SYNTHETIC)
        {
            let model = message.model.map_or(NONE, |model| self.number_of(&model.decode()));
            self.counted.push(ReportedUsage { node, usage, ended: message.stop_reason.is_some(), model });
        }
        if let Content::Text(text) = &message.content {
            self.push(Cause::Answer, NONE, tokens(text.raw(), ANSWER));
        }
        for block in message.content.blocks() {
            let again = message.id.is_some_and(|id| !self.met.insert(id.id().combine(Id::of(block.raw))));
            if !again {
                self.answer(block);
            }
        }
    }

    fn answer(&mut self, block: &Block<'_>) {
        let words = block.words.map_or(&b""[..], JsonStr::raw);
        match block.kind {
            BlockKind::Text => self.push(Cause::Answer, NONE, tokens(words, ANSWER)),
            BlockKind::Thinking if !words.is_empty() => {
                self.push(Cause::Thinking, NONE, tokens(words, THINKING));
            }
            // All that is left of these thoughts is the signature, or what is encrypted.
            BlockKind::Thinking | BlockKind::RedactedThinking => {
                self.push(Cause::Thinking, NONE, of_length(block.raw.len() as u64, SIGNATURE));
            }
            BlockKind::ToolUse | BlockKind::ServerToolUse => self.call_block(block),
            _ if block.name.is_some_and(|name| name.raw().ends_with(b"_tool_result")) => self.result(block),
            _ => self.media(block),
        }
    }

    fn call_block(&mut self, block: &Block<'_>) {
        let call = self.call_no(block.id);
        let input = block.body.unwrap_or_default();
        if let Some(tool) = block.tool.filter(|_| call != NONE) {
            let name = self.number_of(&tool.decode());
            let (known, _, node) = &mut self.tools[call as usize];
            if *known == NONE {
                (*known, *node) = (name, self.starts.len() as NodeId - 1);
            }
            if (tool.is("Read") || tool.is("NotebookRead"))
                && let Some(reading) = reading(input)
            {
                self.reads.insert(call, reading);
            }
        }
        self.push(Cause::Call, call, tokens(input, INPUT) + CALL);
    }

    fn result(&mut self, block: &Block<'_>) {
        let call = self.call_no(block.id);
        let mut said = WRAP;
        match block.result() {
            Content::Text(text) => said += tokens(text.raw(), RESULT),
            Content::Blocks(items) => {
                for item in &items {
                    match item.kind {
                        BlockKind::Image | BlockKind::Document => self.media(item),
                        BlockKind::Text => said += tokens(item.words.map_or(&b""[..], JsonStr::raw), RESULT),
                        _ => said += tokens(item.raw, RESULT),
                    }
                }
            }
            Content::None => said += tokens(block.body.unwrap_or_default(), RESULT),
        }
        self.push(Cause::Result, call, said);
    }

    /// Takes a picture, a document, or what nobody knows.
    fn media(&mut self, block: &Block<'_>) {
        let source = block.body.unwrap_or_default();
        let data = member(source, "data").and_then(JsonStr::of_value);
        let weight = match block.kind {
            BlockKind::Image => data.and_then(|data| sniff_image(data.raw()).1).map_or(PICTURE, picture),
            BlockKind::Document => {
                let plain =
                    member(source, "type").and_then(JsonStr::of_value).is_some_and(|kind| kind.is("text"));
                data.filter(|_| plain).map_or(DOCUMENT, |data| tokens(data.raw(), PROSE))
            }
            _ => return self.push(Cause::Reminder, NONE, tokens(block.raw, PROSE)),
        };
        self.push(Cause::Picture, NONE, weight);
    }

    fn attachment(&mut self, entry: &Entry<'_>) {
        let kind = entry.attachment();
        let body = entry.payload.unwrap_or_default();
        if SILENT.contains(&kind) {
            return;
        }
        if kind == Attachment::QueuedCommand {
            let voice = entry.voice();
            match member(body, "prompt").map(content_of) {
                Some(Content::Text(text)) => self.words(text, voice, false),
                Some(Content::Blocks(blocks)) => {
                    for block in &blocks {
                        match block.words {
                            Some(text) => self.words(text, voice, true),
                            None => self.media(block),
                        }
                    }
                }
                _ => {}
            }
            return;
        }
        let more =
            if matches!(kind, Attachment::TodoReminder | Attachment::TaskReminder) { REMINDER } else { 0 };
        let name = entry.part.map_or(NONE, |part| self.number_of(&part.decode()));
        self.push(Cause::Attachment, name, tokens(body, PROSE) + more);
    }

    fn system(&mut self, entry: &Entry<'_>, node: NodeId) {
        match entry.system() {
            System::CompactBoundary => self.mark(entry, node, false),
            System::MicrocompactBoundary => self.mark(entry, node, true),
            System::LocalCommand => {
                let said =
                    entry.content.and_then(JsonStr::of_value).map_or(0, |text| tokens(text.raw(), PROSE));
                self.push(Cause::Command, NONE, said);
            }
            _ => {}
        }
    }

    fn mark(&mut self, entry: &Entry<'_>, node: NodeId, micro: bool) {
        let metadata = entry.compact.or_else(|| entry.field("microcompactMetadata")).unwrap_or_default();
        let trigger =
            member(metadata, "trigger").map(|value| value_text(value).into_owned()).unwrap_or_default();
        let (before, after) = (number(metadata, "preTokens"), number(metadata, "postTokens"));
        self.marks.insert(node, CompactionInfo { trigger, before, after, micro });
    }

    /// Adds to the result that made a line too long to hold what was not held of it.
    fn spread(&mut self, node: NodeId, entry: &Entry<'_>, place: LineSpan) {
        let more = u64::from(place.len).saturating_sub(entry.raw.len() as u64);
        // The client keeps a second form of the result beside the one that it sends.
        let more = if entry.tool_use_result.is_some() { more / 2 } else { more };
        let start = self.starts[node as usize] as usize;
        let long = self.pieces[start..].iter_mut().find(|piece| piece.cause != Cause::Picture);
        if let Some(piece) = long.filter(|_| more > 0) {
            let more = u32::try_from(of_length(more, RESULT)).unwrap_or(u32::MAX);
            piece.tokens = piece.tokens.saturating_add(more);
        }
    }

    fn call_no(&mut self, id: Option<JsonStr<'_>>) -> CallNo {
        let Some(id) = id else { return NONE };
        let next = self.tools.len() as CallNo;
        let no = *self.calls.entry(id.id()).or_insert(next);
        if no == next {
            self.tools.push((NONE, id.id(), NONE));
        }
        no
    }

    fn number_of(&mut self, name: &str) -> u32 {
        if let Some(&known) = self.numbers.get(name) {
            return known;
        }
        let no = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), no);
        no
    }

    fn named(&self, name: u32) -> &str {
        self.names.get(name as usize).map_or("", String::as_str)
    }

    /// Returns the pieces of an entry.
    pub(super) fn pieces(&self, no: NodeId) -> &[ContextBlock] {
        let end = self.starts.get(no as usize + 1).map_or(self.pieces.len(), |&next| next as usize);
        self.starts.get(no as usize).map_or(&[], |&start| &self.pieces[start as usize..end])
    }

    /// Returns the tool of a call or result, or the kind of an attachment.
    pub(super) fn name_of(&self, piece: &ContextBlock) -> &str {
        match piece.cause {
            Cause::Call | Cause::Result => {
                self.tools.get(piece.what as usize).map_or("", |&(tool, ..)| self.named(tool))
            }
            Cause::Attachment => self.named(piece.what),
            _ => "",
        }
    }

    /// Returns the entry that makes the call of a call or result, and the key of the call's id.
    pub(super) fn call_of(&self, piece: &ContextBlock) -> Option<(NodeId, Id)> {
        let is_call = matches!(piece.cause, Cause::Call | Cause::Result);
        let &(_, id, node) = self.tools.get(piece.what as usize).filter(|_| is_call)?;
        (node != NONE).then_some((node, id))
    }

    /// Returns what the call behind a result read.
    pub(super) fn reading(&self, piece: &ContextBlock) -> Option<&FileRead> {
        self.reads.get(&piece.what).filter(|_| piece.cause == Cause::Result)
    }

    /// Returns the model of a response.
    pub(super) fn model(&self, counted: &ReportedUsage) -> &str {
        self.named(counted.model)
    }
}
