//! Builds turns from entries: a prompt and the parts of the conversation that follow it.

use std::collections::HashMap;

use super::command::{SlashCommand, extract_tag};
use super::media::{Media, list_media};
use super::merge::{BlockChange, MessageMerger};
use crate::entry::{
    Block, BlockKind, Content, Entry, EntryRole, JsonStr, Kind, SystemKind, Timestamp, Usage, find_member,
    parse_content, value_text,
};
use crate::id::Id;

/// A turn: a prompt and everything up to the next one.
#[derive(Debug, Clone, Default)]
pub struct Turn {
    /// The prompt that started the turn. `None` for lines before the first prompt.
    pub prompt: Option<Prompt>,
    /// The parts after the prompt, in the order in which they were first written.
    pub parts: Vec<TurnItem>,
    /// The tokens of its responses. A response counts once, by its line with the most output tokens.
    pub usage: Usage,
    /// The number of distinct responses with token counts.
    pub responses: usize,
    /// The models that responded, in order of first occurrence.
    pub models: Vec<String>,
    /// Why the last response stopped: `end_turn`, `tool_use`, … `None` if none of its lines states it.
    pub stop_reason: Option<String>,
    /// The earliest time of a line with a uuid. `None` if no such line has a time.
    pub started_at: Option<Timestamp>,
    /// The latest time of a line with a uuid. `None` if no such line has a time.
    pub ended_at: Option<Timestamp>,
    /// The duration reported by the client, in milliseconds. `None` if it reported none.
    pub duration_ms: Option<u64>,
}

/// A part of a turn, and the number of the line that it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnItem {
    /// The line number. For a tool call, the line of the call.
    pub line: u32,
    /// The content of the part.
    pub part: TurnPart,
}

/// The prompt of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The role: a prompt, images only, a command or a shell command.
    pub role: EntryRole,
    /// The text of the prompt. For a command, the command as typed.
    pub text: String,
    /// Attached images and documents.
    pub media: Vec<Media>,
    /// The line number.
    pub line: u32,
}

/// A part of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnPart {
    /// Text of the model.
    Text(String),
    /// Thinking of the model. Empty if only the signature was kept.
    Thinking(String),
    /// A tool call.
    Tool(Box<ToolCall>),
    /// A further prompt, typed while the model was working.
    Queued(String),
    /// The output of a local or shell command.
    Output(String),
    /// A command within the turn.
    Command(String),
    /// The user interrupted the model.
    Interrupt(String),
    /// A report from a background task, teammate or hook.
    Notification(String),
    /// Text that the client added in the user's name.
    Meta(String),
    /// The context was compacted here.
    Compaction {
        /// `auto` or `manual`.
        trigger: String,
        /// The tokens of the context before the compaction. `None` if unknown.
        before: Option<u64>,
        /// The tokens of the context after the compaction. `None` if unknown.
        after: Option<u64>,
        /// Whether only old tool results were cleared.
        micro: bool,
    },
    /// The summary that replaces compacted entries.
    CompactSummary(String),
    /// An error of the API or the client.
    Error(String),
    /// The JSON of any other block.
    Other(String),
}

impl Turn {
    /// Removes the texts in the user's name that no user typed.
    pub fn remove_untyped(&mut self) {
        self.parts.retain(|item| !item.part.is_untyped());
    }
}

impl TurnPart {
    /// Returns `true` for text in the user's name that no user typed: an output, a notification or a text of the client.
    pub fn is_untyped(&self) -> bool {
        matches!(self, TurnPart::Output(_) | TurnPart::Notification(_) | TurnPart::Meta(_))
    }

    /// Returns the text of the part. Returns `None` for thinking, tool calls, compactions and other blocks.
    pub fn text(&self) -> Option<&str> {
        match self {
            TurnPart::Text(text)
            | TurnPart::Queued(text)
            | TurnPart::Output(text)
            | TurnPart::Command(text)
            | TurnPart::Interrupt(text)
            | TurnPart::Notification(text)
            | TurnPart::Meta(text)
            | TurnPart::CompactSummary(text)
            | TurnPart::Error(text) => Some(text),
            TurnPart::Thinking(_) | TurnPart::Tool(_) | TurnPart::Compaction { .. } | TurnPart::Other(_) => {
                None
            }
        }
    }
}

/// A tool call and its result.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolCall {
    /// The name of the tool. Empty if only the result was found.
    pub name: String,
    /// The id of the call.
    pub id: String,
    /// The input of the tool, as JSON.
    pub input: String,
    /// The number of the line with the call, or with the result if only the result was found.
    pub line: u32,
    /// The time of the call.
    pub called_at: Option<Timestamp>,
    /// The result. `None` if the entries contain none.
    pub result: Option<ToolResult>,
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolResult {
    /// The texts of the result, separated by blank lines.
    pub text: String,
    /// The images and documents of the result.
    pub media: Vec<Media>,
    /// Whether the result is marked as an error.
    pub is_error: bool,
    /// The number of the line with the result.
    pub line: u32,
    /// The time of the result.
    pub answered_at: Option<Timestamp>,
}

/// Builds a turn from its entries in path order, each with its line number. The first prompt becomes its prompt.
pub fn build_turn(entries: &[(u32, Entry<'_>)]) -> Turn {
    TurnBuilder::default().build(entries)
}

/// Builds a turn from entries in the middle of a turn, after its prompt. Any prompt among them becomes a part.
pub fn build_turn_continuation(entries: &[(u32, Entry<'_>)]) -> Turn {
    TurnBuilder { is_started: true, ..TurnBuilder::default() }.build(entries)
}

#[derive(Default)]
struct TurnBuilder<'a> {
    turn: Turn,
    /// Whether the turn was started before these entries, or by a response, which may have no blocks.
    is_started: bool,
    /// The index in the parts of each call or result without a call, by the id of the call.
    calls: HashMap<Id, usize>,
    /// The merged blocks of each message, with the indices of their parts. Repeated blocks add no parts.
    messages: HashMap<Id, (MessageMerger<'a>, Vec<usize>)>,
    usage: HashMap<Id, Usage>,
    /// The id of the last response.
    last_response: Option<Id>,
}

impl<'a> TurnBuilder<'a> {
    fn build(mut self, entries: &[(u32, Entry<'a>)]) -> Turn {
        for (line, entry) in entries {
            self.add_entry(*line, entry);
        }
        self.turn
    }

    /// Adds an entry to the turn by its role. State lines and synthetic replies are ignored.
    fn add_entry(&mut self, line: u32, entry: &Entry<'a>) {
        if let Some(time) = entry.time()
            && entry.uuid.is_some()
            && !entry.is_resume_marker()
        {
            self.turn.started_at = Some(self.turn.started_at.map_or(time, |from| from.min(time)));
            self.turn.ended_at = Some(self.turn.ended_at.map_or(time, |to| to.max(time)));
        }
        // Lines of several roles have results: also an interruption and text of the client.
        if entry.kind == Kind::User {
            self.add_results(line, entry);
        }
        match entry.role() {
            role @ (EntryRole::Prompt | EntryRole::ImageOnly | EntryRole::Command | EntryRole::Shell) => {
                self.add_prompt(line, entry, role);
            }
            EntryRole::Answer => self.add_answer(line, entry),
            EntryRole::Results => self.add_result_texts(line, entry),
            EntryRole::Output => {
                self.push_part(line, TurnPart::Output(strip_output_tags(entry_text(entry))));
            }
            EntryRole::Interrupt => self.push_part(line, TurnPart::Interrupt(entry_text(entry))),
            EntryRole::Notification => self.push_part(line, TurnPart::Notification(entry_text(entry))),
            EntryRole::CompactSummary => self.push_part(line, TurnPart::CompactSummary(entry_text(entry))),
            EntryRole::ApiError => self.push_part(line, TurnPart::Error(entry_text(entry))),
            EntryRole::Meta => self.push_part(line, TurnPart::Meta(entry_text(entry))),
            EntryRole::CompactBoundary => self.push_part(line, build_compaction_part(entry, false)),
            EntryRole::Structural => self.add_structural(line, entry),
            EntryRole::SyntheticReply | EntryRole::State => {}
        }
    }

    /// Adds the texts next to results: of the user, or of the client if a text starts with a bracket.
    fn add_result_texts(&mut self, line: u32, entry: &Entry<'a>) {
        for text in entry.message.iter().flat_map(|message| message.content.texts()) {
            let text = text.decode().into_owned();
            let is_from_client = text.starts_with(['<', '[']);
            self.push_part(line, if is_from_client { TurnPart::Meta(text) } else { TurnPart::Queued(text) });
        }
    }

    fn push_part(&mut self, line: u32, part: TurnPart) {
        self.turn.parts.push(TurnItem { line, part });
    }

    /// Sets the prompt of the turn, or adds a part if the turn has started already. A text after images joins them.
    fn add_prompt(&mut self, line: u32, entry: &Entry<'a>, role: EntryRole) {
        let text = entry_text(entry);
        let text = match role {
            EntryRole::Command => SlashCommand::parse(&text).map_or(text, |command| command.to_string()),
            EntryRole::Shell => match extract_tag(&text, "bash-input") {
                Some(shell) => format!("! {shell}"),
                None => text,
            },
            _ => text,
        };
        let media =
            entry.message.as_ref().map(|message| list_media(&message.content, line)).unwrap_or_default();
        // Images may be on a line of their own before the text.
        if role == EntryRole::Prompt
            && let Some(image_prompt) =
                self.turn.prompt.as_mut().filter(|prompt| prompt.role == EntryRole::ImageOnly)
        {
            image_prompt.media.extend(media);
            let media = std::mem::take(&mut image_prompt.media);
            *image_prompt = Prompt { role, text, media, line };
            return;
        }
        if !self.is_started
            && self.turn.prompt.is_none()
            && self.turn.parts.iter().all(|item| matches!(item.part, TurnPart::Meta(_)))
        {
            self.turn.prompt = Some(Prompt { role, text, media, line });
        } else if role == EntryRole::ImageOnly {
            self.push_part(
                line,
                TurnPart::Other(media.iter().map(|media| format!("[{}]", media.kind)).collect()),
            );
        } else if role == EntryRole::Prompt {
            self.push_part(line, TurnPart::Queued(text));
        } else {
            self.push_part(line, TurnPart::Command(text));
        }
    }

    /// Adds the new blocks, the model and the token counts of a line of a response.
    fn add_answer(&mut self, line: u32, entry: &Entry<'a>) {
        self.is_started = true;
        let Some(message) = &entry.message else { return };
        if let Some(model) = entry.model() {
            let model = model.decode();
            if !self.turn.models.iter().any(|name| *name == model) {
                self.turn.models.push(model.into_owned());
            }
        }
        let response_id = message.id.map_or_else(|| Id::from_text(entry.raw), JsonStr::to_id);
        if self.last_response.replace(response_id) != Some(response_id) {
            self.turn.stop_reason = None;
        }
        if let Some(reason) = message.stop_reason {
            self.turn.stop_reason = Some(reason.decode().into_owned());
        }
        if let Some(usage) = message.usage
            && entry.model().is_some()
        {
            self.count_usage(response_id, usage);
        }
        if let Content::Text(text) = &message.content {
            self.push_part(line, TurnPart::Text(text.decode().into_owned()));
        }
        let (mut merger, mut part_indices) = self.messages.remove(&response_id).unwrap_or_default();
        for change in merger.add(message.content.blocks()) {
            match change {
                // Replace the part of a block that grew.
                BlockChange::Grown(block_idx) => {
                    self.turn.parts[part_indices[block_idx]].part =
                        build_block_part(&merger.blocks()[block_idx], line, entry.time());
                }
                BlockChange::Added(block_idx) => {
                    part_indices.push(self.add_block(&merger.blocks()[block_idx], line, entry.time()));
                }
            }
        }
        self.messages.insert(response_id, (merger, part_indices));
    }

    /// Adds a block of a response and returns the index of its part. A call fills the part of its earlier result.
    fn add_block(&mut self, block: &Block<'a>, line: u32, time: Option<Timestamp>) -> usize {
        let part = build_block_part(block, line, time);
        if let (TurnPart::Tool(call), Some(id)) = (&part, block.id) {
            // The result may be written before the call.
            if let Some(&at) = self.calls.get(&id.to_id())
                && let TurnItem { line: item_line, part: TurnPart::Tool(placeholder) } =
                    &mut self.turn.parts[at]
                && placeholder.name.is_empty()
            {
                let result = placeholder.result.take();
                *placeholder = call.clone();
                placeholder.result = result;
                *item_line = line;
                return at;
            }
            self.calls.insert(id.to_id(), self.turn.parts.len());
        }
        self.push_part(line, part);
        self.turn.parts.len() - 1
    }

    /// Counts the tokens of a response once, by its line with the most output tokens.
    fn count_usage(&mut self, response_id: Id, usage: Usage) {
        let best = self.usage.entry(response_id).or_insert_with(|| {
            self.turn.responses += 1;
            Usage::default()
        });
        if usage.output >= best.output {
            self.turn.usage.subtract(best);
            self.turn.usage.add(&usage);
            *best = usage;
        }
    }

    /// Adds the tool results of an entry to the parts of their calls. A result without a call gets a part of its own.
    fn add_results(&mut self, line: u32, entry: &Entry<'a>) {
        for block in entry.blocks() {
            if block.kind != BlockKind::ToolResult {
                continue;
            }
            let content = block.result_content();
            let result = ToolResult {
                text: join_texts(&content),
                media: list_media(&content, line),
                is_error: block.is_error,
                line,
                answered_at: entry.time(),
            };
            let call = block.id.and_then(|id| self.calls.get(&id.to_id())).copied();
            if call.is_none()
                && let Some(id) = block.id
            {
                self.calls.insert(id.to_id(), self.turn.parts.len());
            }
            match call.map(|at| &mut self.turn.parts[at].part) {
                Some(TurnPart::Tool(call)) => call.result = Some(result),
                _ => self.push_part(
                    line,
                    TurnPart::Tool(Box::new(ToolCall {
                        id: block.id.map(|id| id.decode().into_owned()).unwrap_or_default(),
                        line,
                        result: Some(result),
                        ..ToolCall::default()
                    })),
                ),
            }
        }
    }

    /// Adds the duration, compaction, error or notice of a system line. Other structural entries are ignored.
    fn add_structural(&mut self, line: u32, entry: &Entry<'a>) {
        match (entry.kind, entry.system_kind()) {
            (Kind::System, SystemKind::TurnDuration) => {
                if let Some(ms) = entry.duration_ms {
                    self.turn.duration_ms = Some(self.turn.duration_ms.unwrap_or(0).saturating_add(ms));
                }
            }
            (Kind::System, SystemKind::MicrocompactBoundary) => {
                self.push_part(line, build_compaction_part(entry, true));
            }
            (Kind::System, SystemKind::ApiError) => {
                self.push_part(
                    line,
                    TurnPart::Error(
                        entry.field("error").map_or_else(String::new, |e| value_text(e).into_owned()),
                    ),
                );
            }
            (
                Kind::System,
                SystemKind::AwaySummary | SystemKind::ScheduledTaskFire | SystemKind::Informational,
            ) => {
                self.push_part(
                    line,
                    TurnPart::Notification(
                        entry.content.map_or_else(String::new, |c| value_text(c).into_owned()),
                    ),
                );
            }
            _ => {}
        }
    }
}

/// Returns the texts of a message, system line or queued prompt, separated by blank lines.
///
/// Returns an empty string for other entries and if there is no text.
pub(crate) fn entry_text(entry: &Entry<'_>) -> String {
    match entry.kind {
        Kind::Attachment => match entry.detail() {
            crate::entry::EntryDetail::Attachment { prompt: Some(prompt), .. } => {
                join_texts(&parse_content(prompt))
            }
            _ => String::new(),
        },
        Kind::System => entry.content.map_or_else(String::new, |content| value_text(content).into_owned()),
        _ => entry.message.as_ref().map_or_else(String::new, |message| join_texts(&message.content)),
    }
}

/// Joins the texts with blank lines between them, and adds a line for each loaded tool.
fn join_texts(content: &Content<'_>) -> String {
    let mut joined = String::new();
    for text in content.texts() {
        if !joined.is_empty() {
            joined.push_str("\n\n");
        }
        text.decode_into(&mut joined);
    }
    for block in content.blocks().iter().filter(|block| block.kind == BlockKind::ToolReference) {
        if let Some(tool) = block.tool_name {
            let separator = if joined.is_empty() { "" } else { "\n" };
            joined.push_str(&format!("{separator}tool loaded: {}", tool.decode()));
        }
    }
    joined
}

/// Converts a block of a response to a part. `line` and `called_at` are those of a tool call.
fn build_block_part(block: &Block<'_>, line: u32, called_at: Option<Timestamp>) -> TurnPart {
    let text = || block.text.map(|text| text.decode().into_owned()).unwrap_or_default();
    match block.kind {
        BlockKind::Text => TurnPart::Text(text()),
        BlockKind::Thinking => TurnPart::Thinking(text()),
        BlockKind::RedactedThinking => TurnPart::Thinking(String::new()),
        BlockKind::ToolUse | BlockKind::ServerToolUse => TurnPart::Tool(Box::new(ToolCall {
            name: block.tool_name.map(|tool| tool.decode().into_owned()).unwrap_or_default(),
            id: block.id.map(|id| id.decode().into_owned()).unwrap_or_default(),
            input: block.body.map(|body| String::from_utf8_lossy(body).into_owned()).unwrap_or_default(),
            line,
            called_at,
            result: None,
        })),
        _ => TurnPart::Other(String::from_utf8_lossy(block.raw).into_owned()),
    }
}

fn build_compaction_part(entry: &Entry<'_>, is_micro: bool) -> TurnPart {
    let metadata = entry.compact_metadata.or_else(|| entry.field("microcompactMetadata")).unwrap_or_default();
    let field = |name| find_member(metadata, name);
    let count = |name| field(name).and_then(|value| std::str::from_utf8(value).ok()?.parse().ok());
    TurnPart::Compaction {
        trigger: field("trigger").map(|value| value_text(value).into_owned()).unwrap_or_default(),
        before: count("preTokens"),
        after: count("postTokens"),
        micro: is_micro,
    }
}

/// Returns the outputs of a command without their tags, one per line. Returns a text without output tags unchanged.
fn strip_output_tags(text: String) -> String {
    let tags = ["local-command-stdout", "local-command-stderr", "bash-stdout", "bash-stderr"];
    let parts: Vec<&str> =
        tags.iter().filter_map(|name| extract_tag(&text, name)).filter(|part| !part.is_empty()).collect();
    if parts.is_empty() && tags.iter().all(|name| extract_tag(&text, name).is_none()) {
        return text;
    }
    parts.join("\n")
}
