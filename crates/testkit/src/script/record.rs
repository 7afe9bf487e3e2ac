//! What a script line becomes before it is bytes.

/// One line of a session file, with short names for ids.
#[derive(Debug, Clone)]
pub struct Record {
    /// The short name behind the uuid; the type for a line without one.
    pub name: String,
    /// What the line is.
    pub role: Role,
    /// `parentUuid`.
    pub parent: Option<String>,
    /// `logicalParentUuid`, `leafUuid`, the call of a progress line or the prompt of a snapshot.
    pub link: Option<String>,
    /// `isMeta`.
    pub meta: bool,
    /// `isSidechain`.
    pub side: bool,
    /// `isCompactSummary`.
    pub recap: bool,
    /// `isApiErrorMessage`.
    pub api_error: bool,
    /// `isSnapshotUpdate`.
    pub update: bool,
    /// The short name behind `message.id` and `requestId`; the record's own where there is none.
    pub message: Option<String>,
    /// `message.model`.
    pub model: String,
    /// Tokens: input, output, cache write, cache read.
    pub usage: [u64; 4],
    /// When.
    pub stamp: Stamp,
    /// Where and by which client.
    pub setting: Setting,
    /// Further fields, values as JSON; written last.
    pub extra: Vec<(String, String)>,
    /// What the script says behind `<-`.
    pub note: Option<String>,
}

/// What a line is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    /// `user`.
    User(Vec<Part>),
    /// `assistant`.
    Assistant(Vec<Part>),
    /// `system`: subtype and words.
    System(String, String),
    /// `progress`: `data.type` and words.
    Progress(String, String),
    /// `attachment`: `attachment.type` and words.
    Attachment(String, String),
    /// A line without uuid: type and words.
    State(String, String),
    /// Bytes as they stand.
    Raw(String),
}

/// A content block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// `text`.
    Words(String),
    /// `thinking`.
    Thinking(String),
    /// `tool_use`: tool and command.
    Call(String, String),
    /// `tool_result`.
    Result {
        /// The call it answers.
        of: String,
        /// What the tool said.
        words: String,
        /// `is_error`.
        error: bool,
    },
    /// `image`.
    Image,
    /// A block as JSON.
    Json(String),
}

/// The `timestamp` of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stamp {
    /// So many seconds after the start of all scripts, 2025-01-01 at midnight.
    Second(i64),
    /// This text.
    Text(String),
    /// No timestamp.
    None,
}

/// The fields that are alike on most lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// `cwd`.
    pub cwd: String,
    /// The short name behind `sessionId`.
    pub session: String,
    /// `version`.
    pub version: String,
    /// `gitBranch`.
    pub branch: String,
}

impl Default for Setting {
    fn default() -> Self {
        Setting {
            cwd: "/home/ann/garden".into(),
            session: "session".into(),
            version: "2.1.101".into(),
            branch: "main".into(),
        }
    }
}

impl Record {
    /// Returns a plain record at second 0, without parent.
    pub fn new(name: &str, role: Role) -> Record {
        Record {
            name: name.into(),
            role,
            parent: None,
            link: None,
            meta: false,
            side: false,
            recap: false,
            api_error: false,
            update: false,
            message: None,
            model: "claude-test-1".into(),
            usage: [10, 5, 0, 0],
            stamp: Stamp::Second(0),
            setting: Setting::default(),
            extra: Vec::new(),
            note: None,
        }
    }

    /// Whether the line has a uuid.
    pub fn is_entry(&self) -> bool {
        !matches!(self.role, Role::State(..) | Role::Raw(_))
    }
}
