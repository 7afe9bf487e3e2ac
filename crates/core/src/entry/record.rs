//! The entry: one parsed line, borrowing from the bytes.

use super::block::{Block, Content};
use super::json_str::JsonStr;
use super::kind::{Attachment, Kind, Progress, System};
use super::timestamp::Timestamp;
use super::usage::Usage;

/// A parsed line. Fields the rooms use are slices of it; everything else stays in `raw` (**nothing-unknown-is-lost**).
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    /// The object's bytes.
    pub raw: &'a [u8],
    /// Its type.
    pub kind: Kind,
    /// Its type as written.
    pub name: Option<JsonStr<'a>>,
    /// `uuid`, where it is not empty.
    pub uuid: Option<JsonStr<'a>>,
    /// `parentUuid`, where it is not empty.
    pub parent: Option<JsonStr<'a>>,
    /// `logicalParentUuid`: what a compaction boundary followed.
    pub logical_parent: Option<JsonStr<'a>>,
    /// `timestamp`, whatever its type.
    pub timestamp: Option<&'a [u8]>,
    /// `sessionId`: of the file, or of the session a line was copied from.
    pub session: Option<JsonStr<'a>>,
    /// `session_id`: the session that the process started with.
    pub process_session_id: Option<JsonStr<'a>>,
    /// `agentId`.
    pub agent: Option<JsonStr<'a>>,
    /// The client's version.
    pub version: Option<JsonStr<'a>>,
    /// The folder the client ran in.
    pub cwd: Option<JsonStr<'a>>,
    /// The git branch, `HEAD` or nothing outside a repository.
    pub git_branch: Option<JsonStr<'a>>,
    /// The words that name a plan.
    pub slug: Option<JsonStr<'a>>,
    /// How the client was started.
    pub entrypoint: Option<JsonStr<'a>>,
    /// `requestId`.
    pub request: Option<JsonStr<'a>>,
    /// `subtype` of a system line.
    pub subtype: Option<JsonStr<'a>>,
    /// The type within `attachment` or `data`.
    pub part: Option<JsonStr<'a>>,
    /// `attachment`, `data` or `snapshot`.
    pub payload: Option<&'a [u8]>,
    /// `content` beside a message: of system and queue lines.
    pub content: Option<&'a [u8]>,
    /// `leafUuid`.
    pub leaf: Option<JsonStr<'a>>,
    /// The words of a title, summary or last-prompt line.
    pub text: Option<JsonStr<'a>>,
    /// `toolUseResult`.
    pub tool_use_result: Option<&'a [u8]>,
    /// `forkedFrom`.
    pub forked_from: Option<&'a [u8]>,
    /// `compactMetadata`.
    pub compact: Option<&'a [u8]>,
    /// `origin`.
    pub origin: Option<&'a [u8]>,
    /// `toolUseID`.
    pub tool_use: Option<JsonStr<'a>>,
    /// `parentToolUseID`.
    pub parent_tool_use: Option<JsonStr<'a>>,
    /// `durationMs` of a finished turn.
    pub duration_ms: Option<u64>,
    /// The yes-or-no fields.
    pub flags: Flags,
    /// `message`, where it is an object.
    pub message: Option<Message<'a>>,
    /// How deep values are nested, as far as it was counted.
    pub depth: u32,
    /// Where a control byte stands raw in a string, which JSON does not allow; counted from the skimmed start.
    pub(crate) control: Option<usize>,
    pub(crate) moment: Option<Timestamp>,
}

/// The `message` of a user or assistant line.
#[derive(Debug, Clone, Default)]
pub struct Message<'a> {
    /// The id of the response.
    pub id: Option<JsonStr<'a>>,
    /// Who speaks.
    pub role: Option<JsonStr<'a>>,
    /// Which model.
    pub model: Option<JsonStr<'a>>,
    /// Why the model stopped.
    pub stop_reason: Option<JsonStr<'a>>,
    /// What is said.
    pub content: Content<'a>,
    /// What it cost.
    pub usage: Option<Usage>,
    /// Whether it was made in fast mode, which has prices of its own.
    pub fast: bool,
}

/// The yes-or-no fields of a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flags(u16);

impl Flags {
    /// A subagent's line inside the main file.
    pub const SIDECHAIN: Flags = Flags(1);
    /// Said by the client in the user's name.
    pub const META: Flags = Flags(2);
    /// The summary that replaces what was compacted.
    pub const COMPACT_SUMMARY: Flags = Flags(4);
    /// An API error shown as an answer.
    pub const API_ERROR: Flags = Flags(8);
    /// A snapshot that amends an earlier one.
    pub const SNAPSHOT_UPDATE: Flags = Flags(16);
    /// A pin that a rewind set.
    pub const EXPLICIT: Flags = Flags(32);
    /// A user line that carries a plan.
    pub const PLAN: Flags = Flags(64);
    /// A token count that is none.
    pub const BAD_COUNT: Flags = Flags(128);
    /// An escape that is half of a surrogate pair, with or without its other half.
    pub const SURROGATES: Flags = Flags(256);
    /// An answer that the client wrote itself.
    pub const SYNTHETIC: Flags = Flags(512);

    /// Read from a damaged line, of which clients read nothing.
    pub const SALVAGED: Flags = Flags(1024);

    /// Whether `flag` is set.
    pub fn has(self, flag: Flags) -> bool {
        self.0 & flag.0 != 0
    }

    pub(crate) fn set(&mut self, flag: Flags, on: bool) {
        self.0 = if on { self.0 | flag.0 } else { self.0 & !flag.0 };
    }
}

impl Default for Entry<'_> {
    fn default() -> Self {
        Entry {
            raw: &[],
            kind: Kind::Missing,
            name: None,
            uuid: None,
            parent: None,
            logical_parent: None,
            timestamp: None,
            session: None,
            process_session_id: None,
            agent: None,
            version: None,
            cwd: None,
            git_branch: None,
            slug: None,
            entrypoint: None,
            request: None,
            subtype: None,
            part: None,
            payload: None,
            content: None,
            leaf: None,
            text: None,
            tool_use_result: None,
            forked_from: None,
            compact: None,
            origin: None,
            tool_use: None,
            parent_tool_use: None,
            duration_ms: None,
            flags: Flags::default(),
            message: None,
            depth: 0,
            control: None,
            moment: None,
        }
    }
}

impl<'a> Entry<'a> {
    /// Whether a yes-or-no field says yes.
    pub fn is(&self, flag: Flags) -> bool {
        self.flags.has(flag)
    }

    /// Marks the entry as one that only a patient reader finds: its line is not one sound object.
    pub fn mark_recovered(mut self) -> Entry<'a> {
        self.flags.set(Flags::SALVAGED, true);
        self
    }

    /// Whether every parser takes the object: no control byte stands raw in a string.
    pub fn is_strict_json(&self) -> bool {
        self.control.is_none()
    }

    /// Whether the line is part of the conversation proper: user or assistant.
    pub fn is_message(&self) -> bool {
        matches!(self.kind, Kind::User | Kind::Assistant)
    }

    /// Returns the moment of the line; `None` also where the timestamp is none.
    pub fn time(&self) -> Option<Timestamp> {
        self.moment
    }

    /// Returns the subtype of a system line.
    pub fn system(&self) -> System {
        self.subtype.map_or(System::Missing, |name| name.decode_with(System::named))
    }

    /// Returns the kind of an attachment line.
    pub fn attachment(&self) -> Attachment {
        self.part.map_or(Attachment::Missing, |name| name.decode_with(Attachment::named))
    }

    /// Returns the kind of a progress line.
    pub fn progress(&self) -> Progress {
        self.part.map_or(Progress::Missing, |name| name.decode_with(Progress::named))
    }

    /// Returns the content blocks of the message.
    pub fn blocks(&self) -> &[Block<'a>] {
        self.message.as_ref().map_or(&[], |message| message.content.blocks())
    }

    /// Returns the model, unless the client itself wrote the answer.
    pub fn model(&self) -> Option<JsonStr<'a>> {
        self.message.as_ref()?.model.filter(|_| !self.is(Flags::SYNTHETIC))
    }
}
