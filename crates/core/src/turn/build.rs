//! Entries to told turns: what a reader wants to see of a conversation.

use std::collections::HashMap;

use super::command::{Command, tag};
use super::media::{Media, media};
use super::merge::{Change, MessageMerger};
use crate::entry::{
    Block, BlockKind, Content, Entry, EntryRole, JsonStr, Kind, System, Timestamp, Usage, content_of, member,
    value_text,
};
use crate::id::Id;

/// A turn, told.
#[derive(Debug, Clone, Default)]
pub struct Turn {
    /// What started it; `None` for lines before the first prompt.
    pub prompt: Option<Prompt>,
    /// What followed, in order.
    pub parts: Vec<TurnItem>,
    /// The tokens of its responses, each counted once.
    pub usage: Usage,
    /// How many responses it took.
    pub responses: usize,
    /// The models that answered.
    pub models: Vec<String>,
    /// When it began.
    pub from: Option<Timestamp>,
    /// When its last line was written.
    pub to: Option<Timestamp>,
    /// How long the client says it took, in milliseconds.
    pub millis: Option<u64>,
}

/// A part, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnItem {
    /// The line it was told from; of a call, the line of the call.
    pub line: u32,
    /// What it is.
    pub part: TurnPart,
}

/// What started a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// Who speaks: a prompt, a command, a shell line.
    pub voice: EntryRole,
    /// The words; of a command, the command as typed.
    pub text: String,
    /// Pictures and documents that came with it.
    pub media: Vec<Media>,
    /// The line it stands on.
    pub line: u32,
}

/// A piece of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnPart {
    /// Words of the model.
    Text(String),
    /// Its thoughts; empty where only the signature was kept.
    Thinking(String),
    /// A call of a tool.
    Tool(Box<ToolCall>),
    /// A further prompt typed while the model was at work.
    Queued(String),
    /// What a local or shell command printed.
    Output(String),
    /// A command that the model did not answer.
    Command(String),
    /// The user stopped the model.
    Interrupt(String),
    /// A background task, teammate or hook reported.
    Notice(String),
    /// The client added words in the user's name.
    Meta(String),
    /// The context was compacted here: trigger, tokens before and after.
    Compaction {
        /// `auto` or `manual`.
        trigger: String,
        /// Tokens before.
        before: Option<u64>,
        /// Tokens after.
        after: Option<u64>,
        /// Whether only old tool results were cleared.
        micro: bool,
    },
    /// The summary that stands for what was compacted.
    Recap(String),
    /// The API or the client failed.
    Error(String),
    /// Anything else that a block held.
    Other(String),
}

impl TurnPart {
    /// Returns what somebody says in it: no thoughts, calls or compactions.
    pub fn words(&self) -> Option<&str> {
        match self {
            TurnPart::Text(text)
            | TurnPart::Queued(text)
            | TurnPart::Output(text)
            | TurnPart::Command(text)
            | TurnPart::Interrupt(text)
            | TurnPart::Notice(text)
            | TurnPart::Meta(text)
            | TurnPart::Recap(text)
            | TurnPart::Error(text) => Some(text),
            TurnPart::Thinking(_) | TurnPart::Tool(_) | TurnPart::Compaction { .. } | TurnPart::Other(_) => {
                None
            }
        }
    }
}

/// A call of a tool and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolCall {
    /// Which tool.
    pub name: String,
    /// The id of the call.
    pub id: String,
    /// Its input, as JSON.
    pub input: String,
    /// The line of the call.
    pub line: u32,
    /// When it was called.
    pub called: Option<Timestamp>,
    /// What it answered, once it did.
    pub result: Option<ToolResult>,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolResult {
    /// The words.
    pub text: String,
    /// Pictures and documents.
    pub media: Vec<Media>,
    /// Whether the tool failed.
    pub is_error: bool,
    /// The line of the result.
    pub line: u32,
    /// When it answered.
    pub answered: Option<Timestamp>,
}

/// Tells one turn from its entries, in order, each with its line.
pub fn build_turn(entries: &[(u32, Entry<'_>)]) -> Turn {
    Teller::default().tell(entries)
}

/// Tells entries from within a turn, whose prompt stands before them.
pub fn build_turn_continuation(entries: &[(u32, Entry<'_>)]) -> Turn {
    Teller { begun: true, ..Teller::default() }.tell(entries)
}

#[derive(Default)]
struct Teller<'a> {
    turn: Turn,
    /// Whether the turn was begun before its entries, or by a response, which may hold no block.
    begun: bool,
    /// Where each call stands in the parts.
    calls: HashMap<Id, usize>,
    /// Blocks told so far by message, so that repeated ones are told once.
    told: HashMap<Id, (MessageMerger<'a>, Vec<usize>)>,
    usage: HashMap<Id, Usage>,
}

impl<'a> Teller<'a> {
    fn tell(mut self, entries: &[(u32, Entry<'a>)]) -> Turn {
        for (line, entry) in entries {
            self.entry(*line, entry);
        }
        self.turn
    }

    fn entry(&mut self, line: u32, entry: &Entry<'a>) {
        if let Some(time) = entry.time()
            && entry.uuid.is_some()
        {
            self.turn.from = Some(self.turn.from.map_or(time, |from| from.min(time)));
            self.turn.to = Some(self.turn.to.map_or(time, |to| to.max(time)));
        }
        match entry.voice() {
            voice @ (EntryRole::Prompt | EntryRole::ImageOnly | EntryRole::Command | EntryRole::Shell) => {
                self.prompt(line, entry, voice);
            }
            EntryRole::Answer => self.answer(line, entry),
            EntryRole::Results => self.results(line, entry),
            EntryRole::Output => self.push(line, TurnPart::Output(output(&words(entry)))),
            EntryRole::Interrupt => self.push(line, TurnPart::Interrupt(words(entry))),
            EntryRole::Notification => self.push(line, TurnPart::Notice(words(entry))),
            EntryRole::CompactSummary => self.push(line, TurnPart::Recap(words(entry))),
            EntryRole::ApiError => self.push(line, TurnPart::Error(words(entry))),
            EntryRole::Meta => self.push(line, TurnPart::Meta(words(entry))),
            EntryRole::CompactBoundary => self.push(line, compaction(entry, false)),
            EntryRole::Structural => self.link(line, entry),
            EntryRole::SyntheticReply | EntryRole::State => {}
        }
        // A line of results may carry words beside them: the user's, or in brackets the client's.
        if entry.voice() == EntryRole::Results {
            for text in entry.message.iter().flat_map(|message| message.content.texts()) {
                let text = text.decode().into_owned();
                self.push(
                    line,
                    if text.starts_with(['<', '[']) { TurnPart::Meta(text) } else { TurnPart::Queued(text) },
                );
            }
        }
    }

    fn push(&mut self, line: u32, part: TurnPart) {
        self.turn.parts.push(TurnItem { line, part });
    }

    fn prompt(&mut self, line: u32, entry: &Entry<'a>, voice: EntryRole) {
        let text = words(entry);
        let text = match voice {
            EntryRole::Command => Command::read(&text).map_or(text, |command| command.to_string()),
            EntryRole::Shell => {
                tag(&text, "bash-input").map_or_else(|| text.clone(), |shell| format!("! {shell}"))
            }
            _ => text,
        };
        let media = entry.message.as_ref().map(|message| media(&message.content, line)).unwrap_or_default();
        // Pictures may stand on a line of their own before the words.
        if voice == EntryRole::Prompt
            && let Some(shown) =
                self.turn.prompt.as_mut().filter(|prompt| prompt.voice == EntryRole::ImageOnly)
        {
            shown.media.extend(media);
            let media = std::mem::take(&mut shown.media);
            *shown = Prompt { voice, text, media, line };
            return;
        }
        if !self.begun
            && self.turn.prompt.is_none()
            && self.turn.parts.iter().all(|piece| matches!(piece.part, TurnPart::Meta(_)))
        {
            self.turn.prompt = Some(Prompt { voice, text, media, line });
        } else if voice == EntryRole::ImageOnly {
            self.push(line, TurnPart::Other(media.iter().map(|media| format!("[{}]", media.kind)).collect()));
        } else if voice == EntryRole::Prompt {
            self.push(line, TurnPart::Queued(text));
        } else {
            self.push(line, TurnPart::Command(text));
        }
    }

    fn answer(&mut self, line: u32, entry: &Entry<'a>) {
        self.begun = true;
        let Some(message) = &entry.message else { return };
        if let Some(model) = entry.model() {
            let model = model.decode();
            if !self.turn.models.iter().any(|known| *known == model) {
                self.turn.models.push(model.into_owned());
            }
        }
        let key = message.id.map_or_else(|| Id::of(entry.raw), JsonStr::id);
        if let Some(usage) = message.usage
            && entry.model().is_some()
        {
            self.count(key, usage);
        }
        if let Content::Text(text) = &message.content {
            self.push(line, TurnPart::Text(text.decode().into_owned()));
        }
        let (mut union, mut places) = self.told.remove(&key).unwrap_or_default();
        for change in union.add(message.content.blocks()) {
            match change {
                // A block that grew is told anew in its place.
                Change::Grown(k) => {
                    self.turn.parts[places[k]].part = part(&union.blocks()[k], line, entry.time());
                }
                Change::Added(k) => places.push(self.block(&union.blocks()[k], line, entry.time())),
            }
        }
        self.told.insert(key, (union, places));
    }

    /// Tells a block of an answer; returns where.
    fn block(&mut self, block: &Block<'a>, line: u32, time: Option<Timestamp>) -> usize {
        let told = part(block, line, time);
        if let (TurnPart::Tool(call), Some(id)) = (&told, block.id) {
            // Its result may have been written before it.
            if let Some(&at) = self.calls.get(&id.id())
                && let TurnItem { line: at_line, part: TurnPart::Tool(early) } = &mut self.turn.parts[at]
                && early.name.is_empty()
            {
                let result = early.result.take();
                *early = call.clone();
                early.result = result;
                *at_line = line;
                return at;
            }
            self.calls.insert(id.id(), self.turn.parts.len());
        }
        self.push(line, told);
        self.turn.parts.len() - 1
    }

    /// Counts a response once: of its lines the one with the most output.
    fn count(&mut self, key: Id, usage: Usage) {
        let best = self.usage.entry(key).or_insert_with(|| {
            self.turn.responses += 1;
            Usage::default()
        });
        if usage.output >= best.output {
            self.turn.usage.remove(best);
            self.turn.usage.add(&usage);
            *best = usage;
        }
    }

    fn results(&mut self, line: u32, entry: &Entry<'a>) {
        for block in entry.blocks() {
            if block.kind != BlockKind::ToolResult {
                continue;
            }
            let content = block.result();
            let told = ToolResult {
                text: join(&content),
                media: media(&content, line),
                is_error: block.is_error,
                line,
                answered: entry.time(),
            };
            let call = block.id.and_then(|id| self.calls.get(&id.id())).copied();
            if call.is_none()
                && let Some(id) = block.id
            {
                self.calls.insert(id.id(), self.turn.parts.len());
            }
            match call.map(|at| &mut self.turn.parts[at].part) {
                Some(TurnPart::Tool(call)) => call.result = Some(told),
                _ => self.push(
                    line,
                    TurnPart::Tool(Box::new(ToolCall {
                        id: block.id.map(|id| id.decode().into_owned()).unwrap_or_default(),
                        line,
                        result: Some(told),
                        ..ToolCall::default()
                    })),
                ),
            }
        }
    }

    fn link(&mut self, line: u32, entry: &Entry<'a>) {
        match (entry.kind, entry.system()) {
            (Kind::System, System::TurnDuration) => {
                self.turn.millis =
                    entry.duration_ms.map(|ms| self.turn.millis.unwrap_or(0).saturating_add(ms));
            }
            (Kind::System, System::MicrocompactBoundary) => self.push(line, compaction(entry, true)),
            (Kind::System, System::ApiError) => {
                self.push(
                    line,
                    TurnPart::Error(
                        entry.field("error").map_or_else(String::new, |e| value_text(e).into_owned()),
                    ),
                );
            }
            (Kind::System, System::AwaySummary | System::ScheduledTaskFire | System::Informational) => {
                self.push(
                    line,
                    TurnPart::Notice(entry.content.map_or_else(String::new, |c| value_text(c).into_owned())),
                );
            }
            _ => {}
        }
    }
}

/// Returns all words of an entry, wherever its kind keeps them.
pub(crate) fn words(entry: &Entry<'_>) -> String {
    match entry.kind {
        Kind::Attachment => match entry.detail() {
            crate::entry::Detail::Attachment { prompt: Some(prompt), .. } => join(&content_of(prompt)),
            _ => String::new(),
        },
        Kind::System => entry.content.map_or_else(String::new, |content| value_text(content).into_owned()),
        _ => entry.message.as_ref().map_or_else(String::new, |message| join(&message.content)),
    }
}

fn join(content: &Content<'_>) -> String {
    let mut all = String::new();
    for text in content.texts() {
        if !all.is_empty() {
            all.push_str("\n\n");
        }
        all.push_str(&text.decode());
    }
    for block in content.blocks().iter().filter(|block| block.kind == BlockKind::ToolReference) {
        if let Some(tool) = block.tool {
            all.push_str(&format!("tool loaded: {}\n", tool.decode()));
        }
    }
    all
}

fn part(block: &Block<'_>, line: u32, called: Option<Timestamp>) -> TurnPart {
    let words = || block.words.map(|words| words.decode().into_owned()).unwrap_or_default();
    match block.kind {
        BlockKind::Text => TurnPart::Text(words()),
        BlockKind::Thinking => TurnPart::Thinking(words()),
        BlockKind::RedactedThinking => TurnPart::Thinking(String::new()),
        BlockKind::ToolUse | BlockKind::ServerToolUse => TurnPart::Tool(Box::new(ToolCall {
            name: block.tool.map(|tool| tool.decode().into_owned()).unwrap_or_default(),
            id: block.id.map(|id| id.decode().into_owned()).unwrap_or_default(),
            input: block.body.map(|body| String::from_utf8_lossy(body).into_owned()).unwrap_or_default(),
            line,
            called,
            result: None,
        })),
        _ => TurnPart::Other(String::from_utf8_lossy(block.raw).into_owned()),
    }
}

fn compaction(entry: &Entry<'_>, micro: bool) -> TurnPart {
    let meta = entry.compact.or_else(|| entry.field("microcompactMetadata")).unwrap_or_default();
    let field = |name| member(meta, name);
    let count = |name| field(name).and_then(|value| std::str::from_utf8(value).ok()?.parse().ok());
    TurnPart::Compaction {
        trigger: field("trigger").map(|value| value_text(value).into_owned()).unwrap_or_default(),
        before: count("preTokens"),
        after: count("postTokens"),
        micro,
    }
}

/// Takes the output of a command out of its tags.
fn output(text: &str) -> String {
    let tags = ["local-command-stdout", "local-command-stderr", "bash-stdout", "bash-stderr"];
    let parts: Vec<&str> =
        tags.iter().filter_map(|name| tag(text, name)).filter(|part| !part.is_empty()).collect();
    if parts.is_empty() && tags.iter().all(|name| tag(text, name).is_none()) {
        return text.to_owned();
    }
    parts.join("\n")
}
