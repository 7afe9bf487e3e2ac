//! The record types. They own their data, so they can outlive the line that they were read from.

use rethread_core::entry::{
    BlockKind, Content, Entry, EntryDetail, Flags, JsonStr, Kind, Message, ProgressKind, SystemKind,
    Timestamp, Usage, members, value_text,
};

/// One record of a session file, by type.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionRecord {
    /// A `user` line.
    User(UserRecord),
    /// An `assistant` line.
    Assistant(AssistantRecord),
    /// A `progress` line.
    Progress(ProgressRecord),
    /// A `system` line.
    System(SystemRecord),
    /// A `summary` line.
    Summary(SummaryRecord),
    /// A `file-history-snapshot` or `file-history-delta` line.
    FileHistory(FileHistoryRecord),
    /// A `custom-title` or `ai-title` line.
    Title(TitleRecord),
    /// A `queue-operation` line.
    QueueOperation(QueueOperationRecord),
    /// A `pr-link` line.
    PrLink(PrLinkRecord),
    /// Any other line.
    Other(OtherRecord),
}

/// The fields that records of all types share.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordHeader {
    /// The line number, from 1.
    pub line: u32,
    /// The type of the line.
    pub kind: Kind,
    /// `uuid`.
    pub uuid: Option<String>,
    /// `parentUuid`.
    pub parent_uuid: Option<String>,
    /// `timestamp`.
    pub time: Option<Timestamp>,
    /// `sessionId`.
    pub session_id: Option<String>,
    /// `agentId`.
    pub agent_id: Option<String>,
    /// `version`: the client version.
    pub version: Option<String>,
    /// `cwd`: the working directory of the client.
    pub cwd: Option<String>,
    /// `gitBranch`.
    pub git_branch: Option<String>,
    /// `isSidechain`: whether the line belongs to a subagent.
    pub is_sidechain: bool,
    /// The JSON text of the line, which contains all other fields.
    pub raw: Vec<u8>,
}

/// A prompt, tool results, or text that the client added in the user's name.
#[derive(Debug, Clone, PartialEq)]
pub struct UserRecord {
    /// The shared fields.
    pub header: RecordHeader,
    /// The content.
    pub content: Vec<ContentBlock>,
    /// `isMeta`: whether the client added the text.
    pub is_meta: bool,
    /// `isCompactSummary`: whether this is the summary that replaces compacted entries.
    pub is_compact_summary: bool,
    /// `toolUseResult` as JSON.
    pub tool_use_result: Option<String>,
    /// `sourceToolAssistantUUID`: the uuid of the assistant line with the call that this line answers.
    pub source_tool_assistant_uuid: Option<String>,
    /// `permissionMode` at a prompt.
    pub permission_mode: Option<String>,
    /// `todos` as JSON: the to-do list at a prompt.
    pub todos: Option<String>,
    /// `thinkingMetadata` as JSON: how much the model was asked to think.
    pub thinking_metadata: Option<String>,
}

/// One or more content blocks of a response.
#[derive(Debug, Clone, PartialEq)]
pub struct AssistantRecord {
    /// The shared fields.
    pub header: RecordHeader,
    /// The content.
    pub content: Vec<ContentBlock>,
    /// `message.id`. All records of one response have the same id.
    pub message_id: Option<String>,
    /// `requestId`.
    pub request_id: Option<String>,
    /// The name of the model.
    pub model: Option<String>,
    /// The reason why the model stopped.
    pub stop_reason: Option<String>,
    /// The token counts of the whole response, not of this record alone.
    pub usage: Option<Usage>,
    /// `isApiErrorMessage`: whether this is an API error shown as an answer.
    pub is_api_error: bool,
}

/// Progress of a running tool or hook.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgressRecord {
    /// The shared fields.
    pub header: RecordHeader,
    /// The type of progress.
    pub kind: ProgressKind,
    /// The tool call that the progress belongs to: `parentToolUseID`, or else `toolUseID`.
    pub tool_use_id: Option<String>,
    /// `data` as JSON.
    pub data: Option<String>,
}

/// A system event.
#[derive(Debug, Clone, PartialEq)]
pub struct SystemRecord {
    /// The shared fields.
    pub header: RecordHeader,
    /// The type of the event.
    pub subtype: SystemKind,
    /// The text.
    pub content: Option<String>,
    /// `info`, `warning`, `error` or `suggestion`.
    pub level: Option<String>,
    /// `logicalParentUuid`: the entry before a compaction boundary.
    pub logical_parent_uuid: Option<String>,
    /// `compactMetadata` or `microcompactMetadata` as JSON.
    pub compaction: Option<String>,
}

/// A title for the session that contains the entry `leaf_uuid`.
#[derive(Debug, Clone, PartialEq)]
pub struct SummaryRecord {
    /// The shared fields.
    pub header: RecordHeader,
    /// The title.
    pub summary: Option<String>,
    /// `leafUuid`.
    pub leaf_uuid: Option<String>,
    /// `version`: the version of the format, in an early description of it. No measured client writes it.
    pub format_version: Option<String>,
}

/// The backups of files at a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct FileHistoryRecord {
    /// The shared fields.
    pub header: RecordHeader,
    /// The prompt that the snapshot belongs to.
    pub message_id: Option<String>,
    /// Whether the record updates an earlier snapshot.
    pub is_update: bool,
    /// The files of the snapshot.
    pub files: Vec<BackedUpFile>,
}

/// One file of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackedUpFile {
    /// The path of the file.
    pub path: String,
    /// The name of the backup. `None` if the file did not exist.
    pub backup: Option<String>,
}

/// A title of this session.
#[derive(Debug, Clone, PartialEq)]
pub struct TitleRecord {
    /// The shared fields.
    pub header: RecordHeader,
    /// The author of the title.
    pub origin: TitleOrigin,
    /// The title.
    pub title: Option<String>,
}

/// The author of a title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TitleOrigin {
    /// The user (`custom-title`).
    Custom,
    /// A model (`ai-title`).
    Ai,
}

/// A prompt or notification that was added to or removed from the queue.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueOperationRecord {
    /// The shared fields.
    pub header: RecordHeader,
    /// `enqueue`, `dequeue`, `remove` or `popAll`.
    pub operation: Option<String>,
    /// The prompt or notification.
    pub content: Option<String>,
}

/// A pull request that was made in the session.
#[derive(Debug, Clone, PartialEq)]
pub struct PrLinkRecord {
    /// The shared fields.
    pub header: RecordHeader,
    /// The number of the pull request.
    pub number: Option<u64>,
    /// The URL of the pull request.
    pub url: Option<String>,
    /// The name of the repository.
    pub repository: Option<String>,
}

/// A record of a type without a struct of its own. All data is in `header.raw`.
#[derive(Debug, Clone, PartialEq)]
pub struct OtherRecord {
    /// The shared fields.
    pub header: RecordHeader,
}

/// A content block of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContentBlock {
    /// Text.
    Text(String),
    /// Thinking. The text is empty if the client stored only the signature.
    Thinking(String),
    /// A tool call.
    ToolUse {
        /// The id of the call.
        id: String,
        /// The name of the tool.
        name: String,
        /// The input as JSON.
        input: String,
    },
    /// The result of a tool call.
    ToolResult {
        /// The id of the call.
        tool_use_id: String,
        /// The text blocks of the result, joined with newlines.
        text: String,
        /// Whether the tool reported an error.
        is_error: bool,
    },
    /// An image.
    Image {
        /// The media type, such as `image/png`. Empty if the block does not state it.
        media_type: String,
        /// The data in base64. Empty if the block refers to an image elsewhere.
        data: String,
    },
    /// Any other block, such as a document: its JSON text.
    Other(String),
}

impl SessionRecord {
    /// Returns the fields that all records share.
    pub fn header(&self) -> &RecordHeader {
        match self {
            SessionRecord::User(record) => &record.header,
            SessionRecord::Assistant(record) => &record.header,
            SessionRecord::Progress(record) => &record.header,
            SessionRecord::System(record) => &record.header,
            SessionRecord::Summary(record) => &record.header,
            SessionRecord::FileHistory(record) => &record.header,
            SessionRecord::Title(record) => &record.header,
            SessionRecord::QueueOperation(record) => &record.header,
            SessionRecord::PrLink(record) => &record.header,
            SessionRecord::Other(record) => &record.header,
        }
    }

    /// Converts a parsed entry. `line` is its line number.
    pub(super) fn from_entry(entry: &Entry<'_>, line: u32) -> SessionRecord {
        let header = RecordHeader::from_entry(entry, line);
        match entry.kind {
            Kind::User => return SessionRecord::User(UserRecord::from_entry(entry, header)),
            Kind::Assistant => return SessionRecord::Assistant(AssistantRecord::from_entry(entry, header)),
            _ => {}
        }
        match entry.detail() {
            EntryDetail::System { subtype, content, level, compaction } => {
                SessionRecord::System(SystemRecord {
                    header,
                    subtype,
                    content: to_text(content),
                    level: to_text(level),
                    logical_parent_uuid: to_text(entry.logical_parent_uuid),
                    compaction: to_json(compaction),
                })
            }
            EntryDetail::Progress { kind, tool_use, data } => SessionRecord::Progress(ProgressRecord {
                header,
                kind,
                tool_use_id: to_text(tool_use),
                data: to_json(data),
            }),
            EntryDetail::Summary { title, leaf } => {
                let (summary, leaf_uuid) = (to_text(title), to_text(leaf));
                let format_version = to_text(entry.version);
                SessionRecord::Summary(SummaryRecord { header, summary, leaf_uuid, format_version })
            }
            EntryDetail::FileHistory { message, update, files } => {
                let file = |file: &rethread_core::entry::FileBackup<'_>| BackedUpFile {
                    path: file.path.decode().into_owned(),
                    backup: to_text(file.name),
                };
                SessionRecord::FileHistory(FileHistoryRecord {
                    header,
                    message_id: to_text(message),
                    is_update: update,
                    files: files.iter().map(file).collect(),
                })
            }
            EntryDetail::Title(title) if entry.kind != Kind::AgentName => {
                let origin = if entry.kind == Kind::AiTitle { TitleOrigin::Ai } else { TitleOrigin::Custom };
                SessionRecord::Title(TitleRecord { header, origin, title: to_text(title) })
            }
            EntryDetail::Queue { operation, content } => {
                let (operation, content) = (to_text(operation), to_text(content));
                SessionRecord::QueueOperation(QueueOperationRecord { header, operation, content })
            }
            EntryDetail::PullRequest { number, url, repository } => SessionRecord::PrLink(PrLinkRecord {
                header,
                number: number.and_then(|number| value_text(number).parse().ok()),
                url: to_text(url),
                repository: to_text(repository),
            }),
            _ => SessionRecord::Other(OtherRecord { header }),
        }
    }
}

impl RecordHeader {
    fn from_entry(entry: &Entry<'_>, line: u32) -> RecordHeader {
        RecordHeader {
            line,
            kind: entry.kind,
            uuid: to_text(entry.uuid),
            parent_uuid: to_text(entry.parent_uuid),
            time: entry.time(),
            session_id: to_text(entry.session_id),
            agent_id: to_text(entry.agent_id),
            version: to_text(entry.client_version()),
            cwd: to_text(entry.cwd),
            git_branch: to_text(entry.git_branch),
            is_sidechain: entry.has_flag(Flags::SIDECHAIN),
            raw: entry.raw.to_vec(),
        }
    }
}

impl UserRecord {
    /// Joins the text blocks of the message with newlines. Tool results are not included.
    pub fn text(&self) -> String {
        join_texts(&self.content)
    }

    fn from_entry(entry: &Entry<'_>, header: RecordHeader) -> UserRecord {
        UserRecord {
            header,
            content: convert_content(entry.message.as_ref()),
            is_meta: entry.has_flag(Flags::META),
            is_compact_summary: entry.has_flag(Flags::COMPACT_SUMMARY),
            tool_use_result: to_json(entry.tool_use_result),
            source_tool_assistant_uuid: to_text(entry.text_field("sourceToolAssistantUUID")),
            permission_mode: to_text(entry.text_field("permissionMode")),
            todos: to_json(entry.field("todos")),
            thinking_metadata: to_json(entry.field("thinkingMetadata")),
        }
    }
}

impl AssistantRecord {
    /// Joins the text blocks of the record with newlines. Thinking and tool calls are not included.
    pub fn text(&self) -> String {
        join_texts(&self.content)
    }

    fn from_entry(entry: &Entry<'_>, header: RecordHeader) -> AssistantRecord {
        let message = entry.message.as_ref();
        AssistantRecord {
            header,
            content: convert_content(message),
            message_id: message.and_then(|message| to_text(message.id)),
            request_id: to_text(entry.request_id),
            model: message.and_then(|message| to_text(message.model)),
            stop_reason: message.and_then(|message| to_text(message.stop_reason)),
            usage: message.and_then(|message| message.usage),
            is_api_error: entry.has_flag(Flags::API_ERROR),
        }
    }
}

/// Converts the content of a message to blocks. A plain text becomes one text block; no message gives no blocks.
fn convert_content(message: Option<&Message<'_>>) -> Vec<ContentBlock> {
    let Some(message) = message else { return Vec::new() };
    if let Content::Text(text) = message.content {
        return vec![ContentBlock::Text(text.decode().into_owned())];
    }
    let text = |text: Option<JsonStr<'_>>| to_text(text).unwrap_or_default();
    let blocks = message.content.blocks().iter().map(|block| match block.kind {
        BlockKind::Text => ContentBlock::Text(text(block.text)),
        BlockKind::Thinking => ContentBlock::Thinking(text(block.text)),
        BlockKind::ToolUse => ContentBlock::ToolUse {
            id: text(block.id),
            name: text(block.tool_name),
            input: to_json(block.body).unwrap_or_default(),
        },
        BlockKind::ToolResult => {
            let texts: Vec<String> =
                block.result_content().texts().map(|text| text.decode().into_owned()).collect();
            ContentBlock::ToolResult {
                tool_use_id: text(block.id),
                text: texts.join("\n"),
                is_error: block.is_error,
            }
        }
        BlockKind::Image => convert_image(block.raw),
        _ => ContentBlock::Other(String::from_utf8_lossy(block.raw).into_owned()),
    });
    blocks.collect()
}

/// Converts the JSON of an image block.
fn convert_image(block: &[u8]) -> ContentBlock {
    let source = members(block).find(|(key, _)| key.equals("source")).map(|(_, value)| value);
    let (mut media_type, mut data) = (String::new(), String::new());
    for (key, value) in members(source.unwrap_or_default()) {
        match value_text(value) {
            text if key.equals("media_type") => media_type = text.into_owned(),
            text if key.equals("data") => data = text.into_owned(),
            _ => {}
        }
    }
    ContentBlock::Image { media_type, data }
}

/// Joins the text blocks with newlines.
fn join_texts(content: &[ContentBlock]) -> String {
    let texts = content.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<&str>>().join("\n")
}

fn to_text(text: Option<JsonStr<'_>>) -> Option<String> {
    text.map(|text| text.decode().into_owned())
}

/// Converts the bytes of a JSON value to a string. Replaces invalid UTF-8.
fn to_json(value: Option<&[u8]>) -> Option<String> {
    value.map(|value| String::from_utf8_lossy(value).into_owned())
}
