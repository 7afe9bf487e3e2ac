//! The entry: one parsed line, borrowing from its bytes.

use super::block::{Block, Content};
use super::json_str::JsonStr;
use super::kind::{AttachmentKind, Kind, ProgressKind, SystemKind};
use super::timestamp::Timestamp;
use super::usage::Usage;

/// A parsed line. The fields that other modules need are slices of it; `raw` holds everything
/// (**nothing-unknown-is-lost**).
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    /// The bytes of the whole object.
    pub raw: &'a [u8],
    /// The type of the line.
    pub kind: Kind,
    /// `type` as written. `None` if it is missing or not a string.
    pub type_name: Option<JsonStr<'a>>,
    /// `uuid`, unless empty.
    pub uuid: Option<JsonStr<'a>>,
    /// `parentUuid`, unless empty.
    pub parent_uuid: Option<JsonStr<'a>>,
    /// `logicalParentUuid`: the entry before a compaction boundary.
    pub logical_parent_uuid: Option<JsonStr<'a>>,
    /// `timestamp`, of any JSON type.
    pub timestamp: Option<&'a [u8]>,
    /// `sessionId`: the session of this file, or the session that the line was copied from.
    pub session_id: Option<JsonStr<'a>>,
    /// `session_id`: the session that the client process started with.
    pub process_session_id: Option<JsonStr<'a>>,
    /// `agentId`: the subagent that wrote the line.
    pub agent_id: Option<JsonStr<'a>>,
    /// `version`: the client version, or the version of the format in a summary; see [`Entry::client_version`].
    pub version: Option<JsonStr<'a>>,
    /// `cwd`: the working directory of the client.
    pub cwd: Option<JsonStr<'a>>,
    /// `gitBranch`: the git branch, or `HEAD`. Missing outside a repository.
    pub git_branch: Option<JsonStr<'a>>,
    /// `slug`: the name of a plan.
    pub slug: Option<JsonStr<'a>>,
    /// `entrypoint`: how the client was started.
    pub entrypoint: Option<JsonStr<'a>>,
    /// `requestId`: the API request of the response.
    pub request_id: Option<JsonStr<'a>>,
    /// `subtype` of a system line.
    pub subtype: Option<JsonStr<'a>>,
    /// The `type` in `attachment` or `data`.
    pub payload_type: Option<JsonStr<'a>>,
    /// `attachment`, `data` or `snapshot`.
    pub payload: Option<&'a [u8]>,
    /// The top-level `content` of system and queue lines.
    pub content: Option<&'a [u8]>,
    /// `leafUuid` of summary and last-prompt lines: the entry that the line points to.
    pub leaf_uuid: Option<JsonStr<'a>>,
    /// The text of a title, summary or last-prompt line.
    pub text: Option<JsonStr<'a>>,
    /// `toolUseResult`: the client's own record of a tool result, as raw JSON.
    pub tool_use_result: Option<&'a [u8]>,
    /// `forkedFrom`, as raw JSON.
    pub forked_from: Option<&'a [u8]>,
    /// `compactMetadata` of a compaction boundary, as raw JSON.
    pub compact_metadata: Option<&'a [u8]>,
    /// `origin` of a prompt, as raw JSON.
    pub origin: Option<&'a [u8]>,
    /// `toolUseID`.
    pub tool_use_id: Option<JsonStr<'a>>,
    /// `parentToolUseID`.
    pub parent_tool_use_id: Option<JsonStr<'a>>,
    /// `durationMs` of a finished turn.
    pub duration_ms: Option<u64>,
    /// The boolean fields, and properties found while reading.
    pub flags: Flags,
    /// `message`, if it is an object.
    pub message: Option<Message<'a>>,
    /// The deepest nesting within a field value, as far as it was counted.
    pub depth: u32,
    /// The index of an unescaped control byte in a string, which JSON does not allow; relative to the start of the scan.
    pub(crate) control_byte: Option<usize>,
    pub(crate) parsed_time: Option<Timestamp>,
}

/// The text of the line that rethread appends so that clients resume from its parent.
pub const RESUME_MARKER_TEXT: &str = "rethread: the conversation continues here";

/// The `message` of a user or assistant line.
#[derive(Debug, Clone, Default)]
pub struct Message<'a> {
    /// The id of the response.
    pub id: Option<JsonStr<'a>>,
    /// The API role: `user` or `assistant`.
    pub role: Option<JsonStr<'a>>,
    /// The model.
    pub model: Option<JsonStr<'a>>,
    /// The reason why the model stopped.
    pub stop_reason: Option<JsonStr<'a>>,
    /// The text or the blocks of the message.
    pub content: Content<'a>,
    /// The token counts. `None` if `usage` is missing or not an object.
    pub usage: Option<Usage>,
    /// Whether the response was made in fast mode, which has its own prices.
    pub is_fast: bool,
}

/// The boolean fields of a line, and properties found while reading it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flags(u16);

impl Flags {
    /// A line of a subagent.
    pub const SIDECHAIN: Flags = Flags(1);
    /// Text that the client added in the user's name.
    pub const META: Flags = Flags(2);
    /// The summary that replaces compacted entries.
    pub const COMPACT_SUMMARY: Flags = Flags(4);
    /// An API error shown as an answer.
    pub const API_ERROR: Flags = Flags(8);
    /// A snapshot that updates an earlier one.
    pub const SNAPSHOT_UPDATE: Flags = Flags(16);
    /// A leaf pointer set by a rewind.
    pub const EXPLICIT: Flags = Flags(32);
    /// A user line with a plan.
    pub const PLAN: Flags = Flags(64);
    /// A token count that cannot be parsed.
    pub const BAD_COUNT: Flags = Flags(128);
    /// An escape that is half of a surrogate pair, with or without its other half.
    pub const SURROGATES: Flags = Flags(256);
    /// An answer written by the client itself.
    pub const SYNTHETIC: Flags = Flags(512);

    /// An entry recovered from a damaged line, which clients skip.
    pub const RECOVERED: Flags = Flags(1024);

    /// A line that rethread appended so that clients resume from its parent. Set on the nodes of a tree.
    pub const RESUME_MARKER: Flags = Flags(2048);

    /// A leaf pointer to the entry that the user rewound to.
    pub const REWOUND: Flags = Flags(4096);

    /// Returns `true` if `flag`, one of the constants, is set.
    pub fn contains(self, flag: Flags) -> bool {
        self.0 & flag.0 != 0
    }

    pub(crate) fn set(&mut self, flag: Flags, is_set: bool) {
        self.0 = if is_set { self.0 | flag.0 } else { self.0 & !flag.0 };
    }
}

impl Default for Entry<'_> {
    fn default() -> Self {
        Entry {
            raw: &[],
            kind: Kind::Missing,
            type_name: None,
            uuid: None,
            parent_uuid: None,
            logical_parent_uuid: None,
            timestamp: None,
            session_id: None,
            process_session_id: None,
            agent_id: None,
            version: None,
            cwd: None,
            git_branch: None,
            slug: None,
            entrypoint: None,
            request_id: None,
            subtype: None,
            payload_type: None,
            payload: None,
            content: None,
            leaf_uuid: None,
            text: None,
            tool_use_result: None,
            forked_from: None,
            compact_metadata: None,
            origin: None,
            tool_use_id: None,
            parent_tool_use_id: None,
            duration_ms: None,
            flags: Flags::default(),
            message: None,
            depth: 0,
            control_byte: None,
            parsed_time: None,
        }
    }
}

impl<'a> Entry<'a> {
    /// Returns the version of the client that wrote the line. Returns `None` if the line does not state it.
    ///
    /// In an early description of the format, `version` of a summary is the version of the format.
    pub fn client_version(&self) -> Option<JsonStr<'a>> {
        self.version.filter(|_| self.kind != Kind::Summary)
    }

    /// Returns `true` if `flag` is set.
    pub fn has_flag(&self, flag: Flags) -> bool {
        self.flags.contains(flag)
    }

    /// Marks the entry as recovered from a damaged line.
    pub fn mark_recovered(mut self) -> Entry<'a> {
        self.flags.set(Flags::RECOVERED, true);
        self
    }

    /// Returns `true` if the object is strictly valid JSON: no string has an unescaped control byte.
    pub fn is_strict_json(&self) -> bool {
        self.control_byte.is_none()
    }

    /// Returns `true` for user and assistant lines.
    pub fn is_message(&self) -> bool {
        matches!(self.kind, Kind::User | Kind::Assistant)
    }

    /// Returns the time of the line. Returns `None` if the timestamp is missing or cannot be parsed.
    pub fn time(&self) -> Option<Timestamp> {
        self.parsed_time
    }

    /// Returns the subtype of a system line. Returns `Missing` if it has none.
    pub fn system_kind(&self) -> SystemKind {
        self.subtype.map_or(SystemKind::Missing, |name| name.decode_with(SystemKind::from_name))
    }

    /// Returns the type of an attachment line. Returns `Missing` if it has none.
    pub fn attachment_kind(&self) -> AttachmentKind {
        self.payload_type.map_or(AttachmentKind::Missing, |name| name.decode_with(AttachmentKind::from_name))
    }

    /// Returns the type of a progress line. Returns `Missing` if it has none.
    pub fn progress_kind(&self) -> ProgressKind {
        self.payload_type.map_or(ProgressKind::Missing, |name| name.decode_with(ProgressKind::from_name))
    }

    /// Returns `true` for a line that rethread appended so that clients resume from its parent.
    ///
    /// It counts neither as activity nor as part of a turn, because no client was in use when it was written.
    pub fn is_resume_marker(&self) -> bool {
        let is_marker_text = |text: JsonStr<'_>| text.equals(RESUME_MARKER_TEXT);
        match self.kind {
            Kind::System => {
                self.system_kind() == SystemKind::Informational
                    && self.content.and_then(JsonStr::from_value).is_some_and(is_marker_text)
            }
            Kind::Assistant => {
                self.has_flag(Flags::API_ERROR)
                    && self.message.iter().flat_map(|message| message.content.texts()).any(is_marker_text)
            }
            _ => false,
        }
    }

    /// Returns the content blocks of the message. Empty if there is no message or its content is a plain string.
    pub fn blocks(&self) -> &[Block<'a>] {
        self.message.as_ref().map_or(&[], |message| message.content.blocks())
    }

    /// Returns the model of the response. Returns `None` if the line has none or the client itself wrote the answer.
    pub fn model(&self) -> Option<JsonStr<'a>> {
        self.message.as_ref()?.model.filter(|_| !self.has_flag(Flags::SYNTHETIC))
    }
}
