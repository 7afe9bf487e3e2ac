//! Diagnostics: code, severity, locations, impact and suggested fix.

use crate::tree::NodeId;

/// The severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Unusual, but without consequences.
    Info,
    /// Content is or will be lost or hidden.
    Warning,
    /// The session cannot be resumed.
    Error,
}

impl Severity {
    /// Returns the name used in output.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// Defines the enum of codes from variants, stable names and descriptions.
macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// A problem that a session can have. The names never change.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($(#[$doc])* $variant,)*
        }

        impl Code {
            /// All codes.
            pub const ALL: &[Code] = &[$(Code::$variant,)*];

            /// Returns the name used in output, which never changes.
            pub fn name(self) -> &'static str {
                match self {
                    $(Code::$variant => $name,)*
                }
            }
        }
    };
}

codes! {
    /// The client never returns: the parent links form a cycle.
    ClientHangs = "client-hangs",
    /// The client finds no conversation in a file that contains one.
    NoConversation = "no-conversation",
    /// No line of the file can be read.
    NoEntry = "no-entry",
    /// A tool call without its result, on the active path.
    UnpairedCall = "unpaired-call",
    /// A tool result without its call, on the active path.
    UnpairedResult = "unpaired-result",
    /// A thinking block without a signature is sent.
    ThinkingUnsigned = "thinking-unsigned",
    /// An answer that is sent ends with a thinking block.
    ThinkingLast = "thinking-last",
    /// A thinking block has a signature but no text.
    ThinkingEmptied = "thinking-emptied",
    /// A message without content is on the active path.
    EmptyContent = "empty-content",
    /// An image that is sent exceeds a limit of the API.
    ImageTooLarge = "image-too-large",
    /// An image that is sent has another format than its media type states.
    ImageMislabelled = "image-mislabelled",
    /// The estimated context is larger than the context window of the model.
    ContextOverWindow = "context-over-window",
    /// Entries that are not loaded on resume.
    Unreachable = "unreachable",
    /// Clients resume from a branch that is not the newest.
    StaleLeaf = "stale-leaf",
    /// The parent of an entry is not in the file.
    MissingParent = "missing-parent",
    /// The logical parent of a compaction is not in the file.
    MissingLogicalParent = "missing-logical-parent",
    /// Parent links that form a cycle.
    Cycle = "cycle",
    /// A line that repeats an earlier line byte for byte.
    ReplayedLine = "replayed-line",
    /// A snapshot that has the uuid of another line.
    SnapshotCollision = "snapshot-collision",
    /// An entry written again with the same content and other fields.
    CopiedEntry = "copied-entry",
    /// One uuid on lines with different content.
    RepeatedUuid = "repeated-uuid",
    /// A progress line forks the chain or cuts it off for some clients.
    ForkByProgress = "fork-by-progress",
    /// An answer or error that a retry replaced.
    RetryOrphan = "retry-orphan",
    /// Two processes appended to the same entry at the same time.
    TwoWriters = "two-writers",
    /// Lines of another session that are not connected to this one.
    ForeignLines = "foreign-lines",
    /// The last line is incomplete.
    TornLine = "torn-line",
    /// Several records, or a partial and a complete one, on one line.
    GluedLine = "glued-line",
    /// NUL bytes in the file.
    NulBytes = "nul-bytes",
    /// A line that is not a JSON object.
    NotJson = "not-json",
}

/// The location of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Location {
    /// The line number, from 1.
    pub line: u32,
    /// The entry. `None` if no entry could be read from the line.
    pub node: Option<NodeId>,
    /// The index of the block within the entry. `None` for the whole entry.
    pub block: Option<u16>,
    /// The index of the image within that block, if that is a tool result.
    pub inner: Option<u16>,
    /// The entry in conflict, if any: the first with a repeated uuid, or the fork point.
    pub other: Option<NodeId>,
}

/// The extent of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Impact {
    /// Nothing to count except the locations.
    None,
    /// Entries that are affected, for example unreachable.
    Entries {
        /// The number of affected entries.
        affected: u64,
        /// The number of all entries.
        total: u64,
    },
    /// Entries that the session's client loses but the newest known client does not.
    ByClient {
        /// The number of affected entries.
        affected: u64,
        /// The number of all entries.
        total: u64,
    },
    /// Entries that the newest known client loses but the session's client does not.
    ByNewest {
        /// The number of affected entries.
        affected: u64,
        /// The number of all entries.
        total: u64,
    },
    /// The client handles the problem itself.
    HandledByClient,
    /// The size of the context.
    Tokens {
        /// The estimated tokens of the context.
        tokens: u64,
        /// The context window of the model, in tokens.
        window: u64,
    },
    /// The largest of the affected images.
    Image {
        /// The length of the base64 data in bytes.
        bytes: u64,
        /// Width and height in pixels, if the first bytes contain them.
        size: Option<(u32, u32)>,
        /// The limit for width and height, in pixels.
        max_side: u32,
    },
    /// An image with a wrong media type.
    Formats {
        /// The format that its media type states.
        declared: super::ImageFormat,
        /// The format of its data.
        actual: super::ImageFormat,
    },
    /// The number of bytes that could be saved.
    Bytes(u64),
    /// The number of records that can be recovered from damaged lines.
    Records(u64),
}

/// The suggested fix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuggestedFix {
    /// No fix is needed.
    Nothing,
    /// Repair the session.
    Repair,
    /// Go to this entry.
    Goto(NodeId),
    /// List the branches and choose one.
    Branches,
    /// Trim the session until it fits.
    Rescue,
    /// Wait until the client that is writing the session has finished.
    Wait,
}

/// A problem of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The kind of problem.
    pub code: Code,
    /// The severity.
    pub severity: Severity,
    /// All locations, in file order. Never empty.
    pub locations: Vec<Location>,
    /// The extent.
    pub impact: Impact,
    /// The suggested fix.
    pub fix: SuggestedFix,
}

impl Location {
    /// Returns the location of a whole line.
    pub(super) fn line(line: u32) -> Location {
        Location { line, node: None, block: None, inner: None, other: None }
    }
}
