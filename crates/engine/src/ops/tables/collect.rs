//! Collects the rows of a file while it is read. The tree determines turns and context statuses later.

use std::collections::HashMap;
use std::sync::Arc;

use memchr::memmem::Finder;
use rethread_core::entry::{
    Block, BlockKind, Content, Entry, EntryRole, Flags, JsonStr, Kind, SystemKind, Timestamp, find_member,
    value_text,
};
use rethread_core::id::{IdMap, IdSet};
use rethread_core::tree::{EntryVisitor, LineSpan, NodeId};
use rethread_core::turn::{FileAccess, classify_failure, is_error_record};
use rethread_core::usage::UsageCollector;

use super::responses::ResponseNames;
use super::rows::{EntryTableRow, MessageTableRow, Name};
use super::{TableKind, TableSelection};

/// A row, and the node of its line. The node is `None` for a line without a uuid.
pub(super) type PlacedRow<R> = (Option<NodeId>, R);

/// The names of a file in all of its rows.
#[derive(Debug, Clone)]
pub(super) struct FileNames {
    pub(super) source_id: Name,
    pub(super) session_id: Name,
    /// The id of the subagent, if the file is of one.
    pub(super) agent_id: Option<Name>,
    /// The folder in which the session was started.
    pub(super) project: Option<Name>,
}

/// Collects the rows of one file.
pub(super) struct RowCollector<'s> {
    selection: &'s TableSelection,
    pub(super) file: FileNames,
    names: NameCache,
    node_count: NodeId,
    prompt_id_finder: Finder<'static>,
    pub(super) entries: Vec<PlacedRow<EntryTableRow>>,
    pub(super) messages: Vec<PlacedRow<MessageTableRow>>,
    message_idxs: IdMap<usize>,
    seen_lines: IdSet,
    pub(super) usage: UsageCollector,
    /// Whether the names of responses are collected.
    pub(super) wants_response_names: bool,
    pub(super) response_names: Vec<ResponseNames>,
    /// The response and the node of each line of a response.
    pub(super) response_nodes: Vec<(usize, Option<NodeId>)>,
    pub(super) calls: IdMap<CallFacts>,
    pub(super) prompts: HashMap<NodeId, PromptFacts>,
    /// The durations in milliseconds that the client reports, with their nodes.
    pub(super) durations: Vec<(NodeId, u64)>,
    /// The earliest and the latest time of all lines.
    pub(super) time_span: Option<(i64, i64)>,
}

/// The properties of a tool call besides its place and time.
#[derive(Debug, Default)]
pub(super) struct CallFacts {
    pub(super) id: String,
    /// The node of the line of the call.
    pub(super) node: Option<NodeId>,
    pub(super) agent_id: Option<Name>,
    pub(super) message_id: Option<String>,
    pub(super) input_bytes: u64,
    pub(super) result_bytes: Option<u64>,
    pub(super) failed: Option<&'static str>,
    pub(super) file_path: Option<String>,
    pub(super) command_word: Option<String>,
    pub(super) access: Option<FileAccess>,
}

/// The properties of the prompt of a turn.
#[derive(Debug, Default)]
pub(super) struct PromptFacts {
    pub(super) uuid: Option<String>,
    pub(super) prompt_id: Option<String>,
    pub(super) bytes: u64,
    /// The text, if it is selected.
    pub(super) text: Option<String>,
}

/// Shares equal texts.
#[derive(Default)]
struct NameCache {
    names: HashMap<Vec<u8>, Name>,
}

impl NameCache {
    fn intern(&mut self, text: JsonStr<'_>) -> Name {
        if let Some(name) = self.names.get(text.raw()) {
            return Arc::clone(name);
        }
        let name: Name = text.decode().into();
        self.names.insert(text.raw().to_vec(), Arc::clone(&name));
        name
    }
}

impl EntryVisitor for RowCollector<'_> {
    fn visit_entry(&mut self, entry: &Entry<'_>, span: LineSpan, role: EntryRole) {
        let node = entry.uuid.map(|_| self.node_count);
        self.node_count += NodeId::from(node.is_some());
        if let Some(time) = entry.time() {
            let (first, last) = self.time_span.unwrap_or((time.0, time.0));
            self.time_span = Some((first.min(time.0), last.max(time.0)));
        }
        let prompt_id = self.read_prompt_id(entry);
        if self.selection.wants(TableKind::Entries) {
            let row = self.build_entry(entry, span, role, prompt_id.clone());
            self.entries.push((node, row));
        }
        if self.selection.wants(TableKind::Messages) && entry.is_message() {
            self.add_message(entry, span, role, node, prompt_id.clone());
        }
        if self.selection.wants(TableKind::Turns) {
            self.add_to_turns(entry, span, role, node, prompt_id);
        }
        if self.selection.wants_calls() {
            self.add_calls(entry, node);
        }
    }
}

impl<'s> RowCollector<'s> {
    pub(super) fn new(selection: &'s TableSelection, file: FileNames) -> RowCollector<'s> {
        RowCollector {
            selection,
            file,
            names: NameCache::default(),
            node_count: 0,
            prompt_id_finder: Finder::new("\"promptId\""),
            entries: Vec::new(),
            messages: Vec::new(),
            message_idxs: IdMap::default(),
            seen_lines: IdSet::default(),
            usage: UsageCollector::default(),
            wants_response_names: false,
            response_names: Vec::new(),
            response_nodes: Vec::new(),
            calls: IdMap::default(),
            prompts: HashMap::new(),
            durations: Vec::new(),
            time_span: None,
        }
    }

    /// Sets the session of a file whose path does not name it.
    pub(super) fn set_session(&mut self, id: &str) {
        let id = Name::from(id);
        self.entries.iter_mut().for_each(|(_, row)| row.session_id = Arc::clone(&id));
        self.messages.iter_mut().for_each(|(_, row)| row.session_id = Arc::clone(&id));
        self.file.session_id = id;
    }

    fn intern(&mut self, text: Option<JsonStr<'_>>) -> Option<Name> {
        text.filter(|text| !text.is_empty()).map(|text| self.names.intern(text))
    }

    /// Returns `promptId` of a user line, if a selected table has it.
    fn read_prompt_id(&self, entry: &Entry<'_>) -> Option<String> {
        let is_selected = entry.kind == Kind::User && self.selection.wants_column("prompt_id");
        let has_id = is_selected && self.prompt_id_finder.find(entry.raw).is_some();
        has_id.then(|| entry.text_field("promptId")).flatten().map(to_text)
    }

    /// Returns the subagent that wrote a line.
    fn agent_of(&mut self, entry: &Entry<'_>) -> Option<Name> {
        match &self.file.agent_id {
            Some(agent) => Some(Arc::clone(agent)),
            None if entry.has_flag(Flags::SIDECHAIN) => self.intern(entry.agent_id),
            None => None,
        }
    }

    fn build_entry(
        &mut self,
        entry: &Entry<'_>,
        span: LineSpan,
        role: EntryRole,
        prompt_id: Option<String>,
    ) -> EntryTableRow {
        EntryTableRow {
            source_id: Arc::clone(&self.file.source_id),
            line: span.line,
            session_id: Arc::clone(&self.file.session_id),
            agent_id: self.agent_of(entry),
            uuid: entry.uuid.map(to_text),
            parent_uuid: entry.parent_uuid.map(to_text),
            kind: self.intern(entry.type_name),
            subtype: self.intern(entry.subtype.or(entry.payload_type)),
            role: role.name(),
            ts: entry.time(),
            bytes: span.len,
            message_id: entry.message.as_ref().and_then(|message| message.id).map(to_text),
            request_id: entry.request_id.map(to_text),
            prompt_id,
            client_version: self.intern(entry.client_version()),
            git_branch: self.intern(entry.git_branch),
            cwd: self.intern(entry.cwd),
            is_error: entry.has_flag(Flags::API_ERROR) || entry.blocks().iter().any(|block| block.is_error),
            ..EntryTableRow::default()
        }
    }

    /// Adds a line of a message: a row of its own, or to the row of its response.
    fn add_message(
        &mut self,
        entry: &Entry<'_>,
        span: LineSpan,
        role: EntryRole,
        node: Option<NodeId>,
        prompt_id: Option<String>,
    ) {
        if entry.uuid.is_some_and(|uuid| !self.seen_lines.insert(uuid.to_id())) {
            return;
        }
        let Some(message) = &entry.message else { return };
        let response = message.id.filter(|_| entry.kind == Kind::Assistant);
        let next = self.messages.len();
        let idx = response.map_or(next, |id| *self.message_idxs.entry(id.to_id()).or_insert(next));
        if idx == next {
            let row = MessageTableRow {
                source_id: Arc::clone(&self.file.source_id),
                line: span.line,
                session_id: Arc::clone(&self.file.session_id),
                agent_id: self.agent_of(entry),
                uuid: entry.uuid.map(to_text),
                message_id: message.id.map(to_text),
                role: role.name(),
                model: self.intern(entry.model()),
                ts: entry.time(),
                prompt_id,
                ..MessageTableRow::default()
            };
            self.messages.push((node, row));
        }
        let stop_reason = self.intern(message.stop_reason);
        let row = &mut self.messages[idx].1;
        row.lines += 1;
        row.stop_reason = stop_reason.or(row.stop_reason.take());
        if let Content::Text(text) = &message.content {
            row.text_bytes += text.decode().len() as u64;
        }
        for block in message.content.blocks() {
            row.add_block(block);
        }
    }

    /// Adds the prompt, the tokens and the duration that an entry contributes to its turn.
    fn add_to_turns(
        &mut self,
        entry: &Entry<'_>,
        span: LineSpan,
        role: EntryRole,
        node: Option<NodeId>,
        prompt_id: Option<String>,
    ) {
        if let Some(response) = (!entry.has_flag(Flags::RECOVERED)).then(|| self.usage.add(entry)).flatten() {
            self.response_nodes.push((response, node));
            if self.wants_response_names {
                ResponseNames::add_line(&mut self.response_names, response, entry, span.line);
            }
        }
        let Some(node) = node else { return };
        if role.starts_turn() {
            let texts = entry.message.iter().flat_map(|message| message.content.texts());
            let text = texts.map(JsonStr::decode).collect::<Vec<_>>().join("\n\n");
            let facts = PromptFacts {
                uuid: entry.uuid.map(to_text),
                prompt_id,
                bytes: text.len() as u64,
                text: self.selection.wants_column("prompt").then_some(text),
            };
            self.prompts.insert(node, facts);
        }
        if entry.kind == Kind::System
            && entry.system_kind() == SystemKind::TurnDuration
            && let Some(millis) = entry.duration_ms
        {
            self.durations.push((node, millis));
        }
    }

    /// Adds the tool calls and results of an entry.
    fn add_calls(&mut self, entry: &Entry<'_>, node: Option<NodeId>) {
        for block in entry.blocks() {
            let Some(id) = block.id else { continue };
            match (entry.kind, block.kind) {
                (Kind::Assistant, BlockKind::ToolUse) => {
                    let agent_id = self.agent_of(entry);
                    let facts = self.calls.entry(id.to_id()).or_default();
                    // The first line of a call counts, also if it follows the result.
                    if facts.id.is_empty() {
                        facts.id = to_text(id);
                        facts.node = node;
                        facts.agent_id = agent_id;
                        facts.message_id = entry.message.as_ref().and_then(|message| message.id).map(to_text);
                        facts.add_input(block);
                    }
                }
                (Kind::User, BlockKind::ToolResult) => {
                    let facts = self.calls.entry(id.to_id()).or_default();
                    facts.add_result(entry, block);
                }
                _ => {}
            }
        }
    }
}

impl MessageTableRow {
    fn add_block(&mut self, block: &Block<'_>) {
        let text_len = || block.text.map_or(0, |text| text.decode().len() as u64);
        match block.kind {
            BlockKind::Text => self.text_bytes += text_len(),
            BlockKind::Thinking => self.thinking_bytes += text_len(),
            BlockKind::ToolUse | BlockKind::ServerToolUse => self.tool_calls += 1,
            BlockKind::ToolResult => self.tool_results += 1,
            BlockKind::Image | BlockKind::Document => self.images += 1,
            _ => {}
        }
    }
}

impl CallFacts {
    fn add_input(&mut self, block: &Block<'_>) {
        let tool = block.tool_name.map(JsonStr::decode).unwrap_or_default();
        let input = block.body.unwrap_or_default();
        self.input_bytes = input.len() as u64;
        let member = |name: &str| find_member(input, name).map(value_text).filter(|text| !text.is_empty());
        self.access = FileAccess::from_call(&tool, input);
        self.file_path = match &self.access {
            Some(access) => Some(access.path.clone()),
            None => ["file_path", "notebook_path", "path"]
                .into_iter()
                .find_map(member)
                .map(std::borrow::Cow::into_owned),
        };
        if tool == "Bash" {
            self.command_word = member("command").and_then(|command| find_command_word(&command));
        }
    }

    fn add_result(&mut self, entry: &Entry<'_>, block: &Block<'_>) {
        let content = block.result_content();
        // The whole text is needed only without a client version.
        let first = content.texts().next().map(JsonStr::decode).unwrap_or_default();
        let has_error_record = entry.tool_use_result.is_some_and(is_error_record);
        let has_version = entry.version.is_some();
        let is_error = block.is_error || self.failed == Some("is_error");
        self.failed = if has_version {
            classify_failure(&first, is_error, has_error_record, true)
        } else {
            let texts: Vec<_> = content.texts().map(JsonStr::decode).collect();
            classify_failure(&texts.join("\n\n"), is_error, has_error_record, false)
        };
        self.result_bytes = Some(block.body.map_or(0, <[u8]>::len) as u64);
        if let (Some(access), Some(record)) = (&mut self.access, entry.tool_use_result) {
            access.add_result(record);
        }
    }
}

/// Returns the first word of a shell command that is not an assignment. Returns `None` if there is none.
fn find_command_word(command: &str) -> Option<String> {
    let is_assignment = |word: &&str| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        })
    };
    command.split_whitespace().find(|word| !is_assignment(word)).map(str::to_owned)
}

fn to_text(text: JsonStr<'_>) -> String {
    text.decode().into_owned()
}

/// Returns `true` if a time span has a time at or after `since` and one before `until`.
pub(super) fn overlaps(span: (i64, i64), since: Option<Timestamp>, until: Option<Timestamp>) -> bool {
    since.is_none_or(|since| span.1 >= since.0) && until.is_none_or(|until| span.0 < until.0)
}

#[cfg(test)]
mod tests {
    use super::find_command_word;

    #[test]
    fn the_command_word_is_no_assignment() {
        assert_eq!(find_command_word("TOKEN=abc  cargo test").as_deref(), Some("cargo"));
        assert_eq!(find_command_word("./a=b").as_deref(), Some("./a=b"));
        assert_eq!(find_command_word("A=1"), None);
        assert_eq!(find_command_word(" "), None);
    }
}
