//! The parsed form of a script line.

/// One line of a session file, with short names for ids.
#[derive(Debug, Clone)]
pub struct Record {
    /// The short name that gives the uuid, or the type of a line without uuid.
    pub name: String,
    /// The type and the content of the line.
    pub kind: RecordKind,
    /// `parentUuid`.
    pub parent: Option<String>,
    /// `logicalParentUuid`, `leafUuid`, the call of a progress line or the prompt of a snapshot.
    pub link: Option<String>,
    /// `isMeta`.
    pub is_meta: bool,
    /// `isSidechain`.
    pub is_sidechain: bool,
    /// `isCompactSummary`.
    pub is_compact_summary: bool,
    /// `isApiErrorMessage`.
    pub is_api_error: bool,
    /// `isSnapshotUpdate`.
    pub is_snapshot_update: bool,
    /// The short name that gives `message.id` and `requestId`. The record's own name is used if it is `None`.
    pub message_name: Option<String>,
    /// `message.model`.
    pub model: String,
    /// Tokens: input, output, cache write, cache read.
    pub usage: [u64; 4],
    /// `timestamp`.
    pub time: RecordTime,
    /// Fields that most lines have in common.
    pub shared: SharedFields,
    /// Further fields with JSON values, written last.
    pub extra_fields: Vec<(String, String)>,
    /// The note after `<-` in the script.
    pub note: Option<String>,
}

/// The type and the content of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordKind {
    /// `user`.
    User(Vec<ContentPart>),
    /// `assistant`.
    Assistant(Vec<ContentPart>),
    /// `system`: subtype and text.
    System(String, String),
    /// `progress`: `data.type` and text.
    Progress(String, String),
    /// `attachment`: `attachment.type` and text.
    Attachment(String, String),
    /// A line without uuid: type and text.
    State(String, String),
    /// The literal text of a line.
    Raw(String),
}

/// A content block of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContentPart {
    /// `text`.
    Text(String),
    /// `thinking`.
    Thinking(String),
    /// `tool_use`: tool and command.
    Call(String, String),
    /// `tool_result`.
    Result {
        /// The short name of the call.
        call: String,
        /// The text of the result.
        text: String,
        /// `is_error`.
        is_error: bool,
    },
    /// `image`.
    Image,
    /// A block as JSON.
    Json(String),
}

/// The `timestamp` of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordTime {
    /// Seconds after 2025-01-01 at midnight, the start of all scripts.
    Second(i64),
    /// A literal text.
    Text(String),
    /// No timestamp.
    None,
}

/// The fields that most lines have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedFields {
    /// `cwd`.
    pub cwd: String,
    /// The short name that gives `sessionId`.
    pub session: String,
    /// `version`.
    pub version: String,
    /// `gitBranch`.
    pub branch: String,
}

impl Default for SharedFields {
    fn default() -> Self {
        SharedFields {
            cwd: "/home/ann/garden".into(),
            session: "session".into(),
            version: "2.1.101".into(),
            branch: "main".into(),
        }
    }
}

impl Record {
    /// Creates a record at second 0, without parent.
    pub fn new(name: &str, kind: RecordKind) -> Record {
        Record {
            name: name.into(),
            kind,
            parent: None,
            link: None,
            is_meta: false,
            is_sidechain: false,
            is_compact_summary: false,
            is_api_error: false,
            is_snapshot_update: false,
            message_name: None,
            model: "claude-test-1".into(),
            usage: [10, 5, 0, 0],
            time: RecordTime::Second(0),
            shared: SharedFields::default(),
            extra_fields: Vec::new(),
            note: None,
        }
    }

    /// Returns `true` if the line has a uuid.
    pub fn is_entry(&self) -> bool {
        !matches!(self.kind, RecordKind::State(..) | RecordKind::Raw(_))
    }
}
