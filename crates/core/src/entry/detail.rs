//! Typed fields of lines other than messages, parsed on demand.

use super::json::JsonScanner;
use super::json_str::JsonStr;
use super::kind::{AttachmentKind, Kind, ProgressKind, SystemKind};
use super::record::{Entry, Flags};

/// The fields of a line, by its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryDetail<'a> {
    /// A user or assistant line; all fields are in the entry itself.
    Message,
    /// An event.
    System {
        /// The subtype.
        subtype: SystemKind,
        /// The text of the event.
        content: Option<JsonStr<'a>>,
        /// `info`, `warning`, `error`, `suggestion`.
        level: Option<JsonStr<'a>>,
        /// The raw JSON of `compactMetadata`, or else of `microcompactMetadata`.
        compaction: Option<&'a [u8]>,
    },
    /// A running tool or hook.
    Progress {
        /// The type of the progress line.
        kind: ProgressKind,
        /// The id of the tool call it belongs to: `parentToolUseID`, or else `toolUseID`.
        tool_use: Option<JsonStr<'a>>,
        /// The raw JSON of `data`.
        data: Option<&'a [u8]>,
    },
    /// Context added by the client.
    Attachment {
        /// The type of the attachment.
        kind: AttachmentKind,
        /// The raw JSON of the prompt of a queued command.
        prompt: Option<&'a [u8]>,
        /// The raw JSON of `attachment`.
        body: Option<&'a [u8]>,
    },
    /// A title for the session that contains `leaf`.
    Summary {
        /// The title.
        title: Option<JsonStr<'a>>,
        /// The uuid of an entry of the session that the title belongs to.
        leaf: Option<JsonStr<'a>>,
    },
    /// The file backups of a prompt.
    FileHistory {
        /// The uuid of the prompt.
        message: Option<JsonStr<'a>>,
        /// Whether this updates an earlier snapshot.
        update: bool,
        /// The files and their backups.
        files: Vec<FileBackup<'a>>,
    },
    /// A title or name of this session.
    Title(Option<JsonStr<'a>>),
    /// The last prompt and the entry to resume from.
    LastPrompt {
        /// The start of the last prompt.
        prompt: Option<JsonStr<'a>>,
        /// The entry to resume from.
        leaf: LeafPointer<'a>,
    },
    /// One word of state: mode, permission mode, latch.
    State(Option<JsonStr<'a>>),
    /// A prompt or notification was added to or removed from the queue.
    Queue {
        /// `enqueue`, `dequeue`, `remove`, `popAll`.
        operation: Option<JsonStr<'a>>,
        /// The prompt or notification.
        content: Option<JsonStr<'a>>,
    },
    /// A pull request.
    PullRequest {
        /// Its number.
        number: Option<&'a [u8]>,
        /// Its URL.
        url: Option<JsonStr<'a>>,
        /// Its repository.
        repository: Option<JsonStr<'a>>,
    },
    /// A remote-control connection, by its session id.
    Bridge(Option<JsonStr<'a>>),
    /// A request to the API, or a part of one.
    ApiRequest {
        /// `id`, `hash` or `shapeHash`.
        key: Option<JsonStr<'a>>,
        /// `params`, `message` or `shape`.
        body: Option<&'a [u8]>,
    },
    /// Running totals of the session.
    CostState {
        /// The cost so far, in US dollars.
        cost: Option<&'a [u8]>,
        /// The raw JSON of the token counts by model.
        models: Option<&'a [u8]>,
    },
    /// Tools used so far: a JSON list.
    ToolsUsed(Option<&'a [u8]>),
    /// A page shown next to the session.
    Frame {
        /// Its URL.
        url: Option<JsonStr<'a>>,
        /// Its title.
        title: Option<JsonStr<'a>>,
    },
    /// The end of a forked subagent's context in its parent session.
    ForkContext {
        /// The id of the parent session.
        session: Option<JsonStr<'a>>,
        /// The uuid of the last entry of the parent session in the subagent's context.
        last: Option<JsonStr<'a>>,
    },
    /// A checkpoint in an early description of the format.
    Snapshot {
        /// The uuid of the entry that it belongs to.
        message: Option<JsonStr<'a>>,
        /// `user` or `assistant`.
        role: Option<JsonStr<'a>>,
    },
    /// A type that no measured client writes; all data is in `raw`.
    Unknown,
}

/// The leaf pointer of a `last-prompt` line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeafPointer<'a> {
    /// The line has no pointer (2.1.73, 2.1.104).
    None,
    /// Resume from this entry.
    Entry(JsonStr<'a>),
    /// A rewind cleared the pointer.
    Cleared,
}

/// A file in a file-history snapshot, and its backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileBackup<'a> {
    /// The path of the file that was backed up.
    pub path: JsonStr<'a>,
    /// The file name of the backup. `None` if the file did not exist or the name is malformed.
    pub name: Option<JsonStr<'a>>,
}

impl<'a> Entry<'a> {
    /// Returns the raw JSON value of the top-level field `name`. Returns `None` if the line does not have it.
    pub fn field(&self, name: &str) -> Option<&'a [u8]> {
        find_member(self.raw, name)
    }

    /// Returns the top-level string field `name`. Returns `None` if it is missing or not a string.
    pub fn text_field(&self, name: &str) -> Option<JsonStr<'a>> {
        JsonStr::from_value(self.field(name)?)
    }

    /// Parses the fields of the line that are specific to its type.
    pub fn detail(&self) -> EntryDetail<'a> {
        match self.kind {
            Kind::User | Kind::Assistant => EntryDetail::Message,
            Kind::System => EntryDetail::System {
                subtype: self.system_kind(),
                content: self.content.and_then(JsonStr::from_value),
                level: self.text_field("level"),
                compaction: self.compact_metadata.or_else(|| self.field("microcompactMetadata")),
            },
            Kind::Progress => EntryDetail::Progress {
                kind: self.progress_kind(),
                tool_use: self.parent_tool_use_id.or(self.tool_use_id),
                data: self.payload,
            },
            Kind::Attachment => {
                let prompt = self.payload.and_then(|body| find_member(body, "prompt"));
                EntryDetail::Attachment { kind: self.attachment_kind(), prompt, body: self.payload }
            }
            Kind::Summary => EntryDetail::Summary { title: self.text, leaf: self.leaf_uuid },
            Kind::FileHistorySnapshot => EntryDetail::FileHistory {
                message: self.text_field("messageId"),
                update: self.has_flag(Flags::SNAPSHOT_UPDATE),
                files: self.payload.map(list_backups).unwrap_or_default(),
            },
            Kind::FileHistoryDelta => EntryDetail::FileHistory {
                message: self.text_field("snapshotMessageId"),
                update: true,
                files: self.delta_backup().into_iter().collect(),
            },
            Kind::CustomTitle | Kind::AiTitle | Kind::AgentName => EntryDetail::Title(self.text),
            Kind::LastPrompt => EntryDetail::LastPrompt { prompt: self.text, leaf: self.leaf_pointer() },
            Kind::Mode => EntryDetail::State(self.text_field("mode")),
            Kind::PermissionMode => EntryDetail::State(self.text_field("permissionMode")),
            Kind::AtisLatch => EntryDetail::State(self.text_field("atis")),
            Kind::QueueOperation => EntryDetail::Queue {
                operation: self.text_field("operation"),
                content: self.content.and_then(JsonStr::from_value),
            },
            Kind::PrLink => EntryDetail::PullRequest {
                number: self.field("prNumber"),
                url: self.text_field("prUrl"),
                repository: self.text_field("prRepository"),
            },
            Kind::BridgeSession => EntryDetail::Bridge(self.text_field("bridgeSessionId")),
            Kind::ApiRequest => {
                EntryDetail::ApiRequest { key: self.text_field("id"), body: self.field("params") }
            }
            Kind::ApiRequestBlob => {
                EntryDetail::ApiRequest { key: self.text_field("hash"), body: self.field("message") }
            }
            Kind::ApiRequestShape => {
                EntryDetail::ApiRequest { key: self.text_field("shapeHash"), body: self.field("shape") }
            }
            Kind::CostState => {
                EntryDetail::CostState { cost: self.field("totalCostUSD"), models: self.field("modelUsage") }
            }
            Kind::ToolsUsed => EntryDetail::ToolsUsed(self.field("tools")),
            Kind::FrameLink => {
                EntryDetail::Frame { url: self.text_field("frameUrl"), title: self.text_field("title") }
            }
            Kind::ForkContextRef => EntryDetail::ForkContext {
                session: self.text_field("parentSessionId"),
                last: self.text_field("parentLastUuid"),
            },
            Kind::Snapshot => EntryDetail::Snapshot {
                message: self.text_field("messageId"),
                role: self.payload.and_then(JsonStr::from_value),
            },
            Kind::Unknown | Kind::Missing => EntryDetail::Unknown,
        }
    }

    /// Returns the leaf pointer of a `last-prompt` line. The nil uuid means that a rewind cleared it.
    fn leaf_pointer(&self) -> LeafPointer<'a> {
        match self.leaf_uuid {
            None => LeafPointer::None,
            Some(leaf) if leaf.to_id() == crate::id::Id::NIL => LeafPointer::Cleared,
            Some(leaf) => LeafPointer::Entry(leaf),
        }
    }

    /// Returns the file of a `file-history-delta` line. Returns `None` if the line names no path.
    fn delta_backup(&self) -> Option<FileBackup<'a>> {
        let path = self.text_field("trackingPath")?;
        let name = self
            .field("backup")
            .and_then(|backup| find_member(backup, "backupFileName"))
            .and_then(JsonStr::from_value);
        Some(FileBackup { path, name })
    }
}

/// Returns the files in the `trackedFileBackups` of a snapshot.
fn list_backups(snapshot: &[u8]) -> Vec<FileBackup<'_>> {
    let files = find_member(snapshot, "trackedFileBackups").unwrap_or_default();
    let backup = |value| find_member(value, "backupFileName").and_then(JsonStr::from_value);
    members(files).map(|(path, value)| FileBackup { path, name: backup(value) }).collect()
}

/// Returns an iterator over the keys and raw values of a JSON object, in the order of the object.
///
/// It is empty if the bytes are not an object, and ends before a syntax error.
pub fn members(object: &[u8]) -> impl Iterator<Item = (JsonStr<'_>, &[u8])> {
    let mut items = Vec::new();
    let mut scanner = JsonScanner::new(object);
    if scanner.next_token() == b'{' {
        // Keep the members before a syntax error.
        let _ = scanner.read_members(|scanner, key| {
            let value = scanner.read_value()?;
            items.push((JsonStr::new(key), value));
            Ok(())
        });
    }
    items.into_iter()
}

/// Returns the raw value of the member `name` of a JSON object, the last one if the name occurs several times.
///
/// Returns `None` if the bytes are not an object or it has no such member.
pub fn find_member<'a>(object: &'a [u8], name: &str) -> Option<&'a [u8]> {
    members(object).filter(|(key, _)| key.equals(name)).last().map(|(_, value)| value)
}

/// Returns the strings in a JSON array, up to a syntax error. Other items are skipped. Empty if it is not an array.
pub(crate) fn list_strings(list: &[u8]) -> Vec<JsonStr<'_>> {
    let mut items = Vec::new();
    let mut scanner = JsonScanner::new(list);
    if scanner.next_token() == b'[' {
        // Keep the strings before a syntax error.
        let _ = scanner.read_items(|scanner| {
            items.extend(scanner.read_optional_string()?.map(JsonStr::new));
            Ok(())
        });
    }
    items
}

/// Returns the objects in a JSON array, up to a syntax error. Other items are skipped. Empty if it is not an array.
pub(crate) fn list_objects(list: &[u8]) -> Vec<&[u8]> {
    let mut items = Vec::new();
    let mut scanner = JsonScanner::new(list);
    if scanner.next_token() == b'[' {
        // Keep the objects before a syntax error.
        let _ = scanner.read_items(|scanner| {
            let item = scanner.read_value()?;
            items.extend((item.first() == Some(&b'{')).then_some(item));
            Ok(())
        });
    }
    items
}
