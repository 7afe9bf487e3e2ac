//! What the lines beside the conversation say, typed, read on demand.

use super::json::JsonScanner;
use super::json_str::JsonStr;
use super::kind::{Attachment, Kind, Progress, System};
use super::record::{Entry, Flags};

/// The fields of a line by its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Detail<'a> {
    /// A user or assistant line: all is in the entry itself.
    Message,
    /// An event.
    System {
        /// Which.
        subtype: System,
        /// What it says.
        content: Option<JsonStr<'a>>,
        /// `info`, `warning`, `error`, `suggestion`.
        level: Option<JsonStr<'a>>,
        /// `compactMetadata` or `microcompactMetadata`.
        compaction: Option<&'a [u8]>,
    },
    /// A running tool or hook.
    Progress {
        /// Which.
        kind: Progress,
        /// The call it belongs to.
        tool_use: Option<JsonStr<'a>>,
        /// `data`.
        data: Option<&'a [u8]>,
    },
    /// Context added by the client.
    Attachment {
        /// Which.
        kind: Attachment,
        /// The prompt of a queued command.
        prompt: Option<&'a [u8]>,
        /// `attachment`.
        body: Option<&'a [u8]>,
    },
    /// A title for the session that holds `leaf`.
    Summary {
        /// The title.
        title: Option<JsonStr<'a>>,
        /// An entry of the session it names.
        leaf: Option<JsonStr<'a>>,
    },
    /// Which backups belong to a prompt.
    FileHistory {
        /// The prompt.
        message: Option<JsonStr<'a>>,
        /// Whether it amends an earlier snapshot.
        update: bool,
        /// The files and their backups.
        files: Vec<FileBackup<'a>>,
    },
    /// A title or name of this session.
    Title(Option<JsonStr<'a>>),
    /// The last prompt and where resume continues.
    LastPrompt {
        /// Its first words.
        prompt: Option<JsonStr<'a>>,
        /// Which entry is pinned.
        pin: LeafPointer<'a>,
    },
    /// One word of state: mode, permission mode, latch.
    Word(Option<JsonStr<'a>>),
    /// Something entered or left the queue.
    Queue {
        /// `enqueue`, `dequeue`, `remove`, `popAll`.
        operation: Option<JsonStr<'a>>,
        /// What.
        content: Option<JsonStr<'a>>,
    },
    /// A pull request.
    PullRequest {
        /// Its number.
        number: Option<&'a [u8]>,
        /// Its address.
        url: Option<JsonStr<'a>>,
        /// Its repository.
        repository: Option<JsonStr<'a>>,
    },
    /// A remote-control connection.
    Bridge(Option<JsonStr<'a>>),
    /// A request to the API, or one of its parts: the id, hash or shape, and the body.
    ApiRequest {
        /// `id`, `hash` or `shapeHash`.
        key: Option<JsonStr<'a>>,
        /// `params`, `message` or `shape`.
        body: Option<&'a [u8]>,
    },
    /// Running totals.
    CostState {
        /// Dollars so far.
        cost: Option<&'a [u8]>,
        /// Tokens by model.
        models: Option<&'a [u8]>,
    },
    /// Tools used so far: a JSON list.
    ToolsUsed(Option<&'a [u8]>),
    /// A page beside the session.
    Frame {
        /// Its address.
        url: Option<JsonStr<'a>>,
        /// Its title.
        title: Option<JsonStr<'a>>,
    },
    /// Where a forked subagent's context ends.
    ForkContext {
        /// The parent session.
        session: Option<JsonStr<'a>>,
        /// The last entry of it that the subagent sees.
        last: Option<JsonStr<'a>>,
    },
    /// A checkpoint as the early description has it.
    Snapshot {
        /// The entry it belongs to.
        message: Option<JsonStr<'a>>,
        /// `user` or `assistant`.
        role: Option<JsonStr<'a>>,
    },
    /// A type no measured client wrote: all is in `raw`.
    Unknown,
}

/// What a `last-prompt` line pins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeafPointer<'a> {
    /// The line has no pin (2.1.73, 2.1.104).
    None,
    /// This entry.
    Entry(JsonStr<'a>),
    /// A rewind took the pin away.
    Lifted,
}

/// A file in a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileBackup<'a> {
    /// The file's path.
    pub path: JsonStr<'a>,
    /// The name of the backup; `None` where the file did not exist.
    pub name: Option<JsonStr<'a>>,
}

impl<'a> Entry<'a> {
    /// Returns the value of a top-level field.
    pub fn field(&self, name: &str) -> Option<&'a [u8]> {
        member(self.raw, name)
    }

    /// Returns a top-level field that is a string.
    pub fn text(&self, name: &str) -> Option<JsonStr<'a>> {
        JsonStr::of_value(self.field(name)?)
    }

    /// Returns the typed fields of the line.
    pub fn detail(&self) -> Detail<'a> {
        match self.kind {
            Kind::User | Kind::Assistant => Detail::Message,
            Kind::System => Detail::System {
                subtype: self.system(),
                content: self.content.and_then(JsonStr::of_value),
                level: self.text("level"),
                compaction: self.compact.or_else(|| self.field("microcompactMetadata")),
            },
            Kind::Progress => Detail::Progress {
                kind: self.progress(),
                tool_use: self.parent_tool_use.or(self.tool_use),
                data: self.payload,
            },
            Kind::Attachment => {
                let prompt = self.payload.and_then(|body| member(body, "prompt"));
                Detail::Attachment { kind: self.attachment(), prompt, body: self.payload }
            }
            Kind::Summary => Detail::Summary { title: self.text, leaf: self.leaf },
            Kind::FileHistorySnapshot => Detail::FileHistory {
                message: self.text("messageId"),
                update: self.is(Flags::SNAPSHOT_UPDATE),
                files: self.payload.map(backups).unwrap_or_default(),
            },
            Kind::FileHistoryDelta => Detail::FileHistory {
                message: self.text("snapshotMessageId"),
                update: true,
                files: self.delta().into_iter().collect(),
            },
            Kind::CustomTitle | Kind::AiTitle | Kind::AgentName => Detail::Title(self.text),
            Kind::LastPrompt => Detail::LastPrompt { prompt: self.text, pin: self.pin() },
            Kind::Mode => Detail::Word(self.text("mode")),
            Kind::PermissionMode => Detail::Word(self.text("permissionMode")),
            Kind::AtisLatch => Detail::Word(self.text("atis")),
            Kind::QueueOperation => Detail::Queue {
                operation: self.text("operation"),
                content: self.content.and_then(JsonStr::of_value),
            },
            Kind::PrLink => Detail::PullRequest {
                number: self.field("prNumber"),
                url: self.text("prUrl"),
                repository: self.text("prRepository"),
            },
            Kind::BridgeSession => Detail::Bridge(self.text("bridgeSessionId")),
            Kind::ApiRequest => Detail::ApiRequest { key: self.text("id"), body: self.field("params") },
            Kind::ApiRequestBlob => {
                Detail::ApiRequest { key: self.text("hash"), body: self.field("message") }
            }
            Kind::ApiRequestShape => {
                Detail::ApiRequest { key: self.text("shapeHash"), body: self.field("shape") }
            }
            Kind::CostState => {
                Detail::CostState { cost: self.field("totalCostUSD"), models: self.field("modelUsage") }
            }
            Kind::ToolsUsed => Detail::ToolsUsed(self.field("tools")),
            Kind::FrameLink => Detail::Frame { url: self.text("frameUrl"), title: self.text("title") },
            Kind::ForkContextRef => Detail::ForkContext {
                session: self.text("parentSessionId"),
                last: self.text("parentLastUuid"),
            },
            Kind::Snapshot => Detail::Snapshot {
                message: self.text("messageId"),
                role: self.payload.and_then(JsonStr::of_value),
            },
            Kind::Unknown | Kind::Missing => Detail::Unknown,
        }
    }

    fn pin(&self) -> LeafPointer<'a> {
        match self.leaf {
            None => LeafPointer::None,
            Some(leaf) if leaf.id() == crate::id::Id::NIL => LeafPointer::Lifted,
            Some(leaf) => LeafPointer::Entry(leaf),
        }
    }

    fn delta(&self) -> Option<FileBackup<'a>> {
        let path = self.text("trackingPath")?;
        let name = self
            .field("backup")
            .and_then(|backup| member(backup, "backupFileName"))
            .and_then(JsonStr::of_value);
        Some(FileBackup { path, name })
    }
}

fn backups(snapshot: &[u8]) -> Vec<FileBackup<'_>> {
    let files = member(snapshot, "trackedFileBackups").unwrap_or_default();
    let backup = |value| member(value, "backupFileName").and_then(JsonStr::of_value);
    members(files).map(|(path, value)| FileBackup { path, name: backup(value) }).collect()
}

/// Iterates over the members of a JSON object; over nothing where the bytes are no object.
pub fn members(object: &[u8]) -> impl Iterator<Item = (JsonStr<'_>, &[u8])> {
    let mut found = Vec::new();
    let mut skim = JsonScanner::new(object);
    if skim.next_token() == b'{' {
        // What stands before a fault still counts.
        let _ = skim.object(|skim, key| {
            let value = skim.value()?;
            found.push((JsonStr::new(key), value));
            Ok(())
        });
    }
    found.into_iter()
}

/// Returns the member called `name` of a JSON object; the last, if there are several.
pub(crate) fn member<'a>(object: &'a [u8], name: &str) -> Option<&'a [u8]> {
    members(object).filter(|(key, _)| key.is(name)).last().map(|(_, value)| value)
}

/// Returns the strings of a JSON list; other items are passed over.
pub(crate) fn strings(list: &[u8]) -> Vec<JsonStr<'_>> {
    let mut found = Vec::new();
    let mut skim = JsonScanner::new(list);
    if skim.next_token() == b'[' {
        // What stands before a fault still counts.
        let _ = skim.array(|skim| {
            found.extend(skim.maybe_string()?.map(JsonStr::new));
            Ok(())
        });
    }
    found
}
