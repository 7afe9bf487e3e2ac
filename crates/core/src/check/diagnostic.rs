//! Findings: what can be wrong, how bad it is, where, and what mends it.

use crate::tree::NodeId;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Odd, but nothing comes of it.
    Harmless,
    /// Something is lost, hidden or will be.
    Warning,
    /// The session cannot be gone on with.
    Blocks,
}

impl Severity {
    /// Returns a name for output.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Harmless => "harmless",
            Severity::Warning => "costs",
            Severity::Blocks => "blocks",
        }
    }
}

/// Makes the enum of codes: a variant, its stable name, and what it is.
macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// What can be wrong with a session. The names never change.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($(#[$doc])* $variant,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &[Code] = &[$(Code::$variant,)*];

            /// Returns its stable name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Code::$variant => $name,)*
                }
            }
        }
    };
}

codes! {
    /// The client never comes back: entries are each other's ancestors.
    ClientHangs = "client-hangs",
    /// The client finds no conversation in a file that holds one.
    NoConversation = "no-conversation",
    /// A tool call without its result, on the active path.
    UnpairedCall = "unpaired-call",
    /// A tool result without its call, on the active path.
    UnpairedResult = "unpaired-result",
    /// A thought without a signature is sent.
    ThinkingUnsigned = "thinking-unsigned",
    /// An answer that is sent ends in a thought.
    ThinkingLast = "thinking-last",
    /// A thought has lost its words and kept its signature.
    ThinkingEmptied = "thinking-emptied",
    /// A message without content is on the active path.
    EmptyContent = "empty-content",
    /// A picture that is sent is over a limit of the API.
    ImageTooLarge = "image-too-large",
    /// A picture that is sent is of another format than it says.
    ImageMislabelled = "image-mislabelled",
    /// The context is estimated to be larger than the model takes.
    ContextOverWindow = "context-over-window",
    /// Entries that resume does not reach.
    Unreachable = "unreachable",
    /// Resume goes on from an older branch than the newest.
    StaleLeaf = "stale-leaf",
    /// A parent that is in no line.
    MissingParent = "missing-parent",
    /// What a compaction followed is in no line.
    MissingLogicalParent = "missing-logical-parent",
    /// Parents that lead back to themselves.
    Cycle = "cycle",
    /// A line that stands in the file again, byte for byte.
    ReplayedLine = "replayed-line",
    /// A snapshot that has the uuid of another line.
    SnapshotCollision = "snapshot-collision",
    /// An entry written again with the same content and other fields.
    CopiedEntry = "copied-entry",
    /// One uuid on lines with different content.
    RepeatedUuid = "repeated-uuid",
    /// A progress line forks or cuts the chain for some clients.
    ForkByProgress = "fork-by-progress",
    /// An answer or error of a retry, left aside.
    RetryOrphan = "retry-orphan",
    /// Two processes went on from one entry at the same time.
    TwoWriters = "two-writers",
    /// Lines of another session that do not hang together with this one.
    ForeignLines = "foreign-lines",
    /// The last line stops in the middle.
    TornLine = "torn-line",
    /// Several records, or a half and a whole one, on one line.
    GluedLine = "glued-line",
    /// NUL bytes in the file.
    NulBytes = "nul-bytes",
    /// A line that is no JSON object.
    NotJson = "not-json",
}

/// Where a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Location {
    /// The line.
    pub line: u32,
    /// The entry; `None` where the line gave none.
    pub node: Option<NodeId>,
    /// The block within it.
    pub block: Option<u16>,
    /// The block within that block, a tool result.
    pub inner: Option<u16>,
    /// The entry it is in conflict with: the first of a repeated uuid, the fork point.
    pub other: Option<NodeId>,
}

/// How much of what is the matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Impact {
    /// Nothing to be counted but the spots.
    None,
    /// So many of the entries are out of reach or in question.
    Entries {
        /// Those.
        part: u64,
        /// All of them.
        whole: u64,
    },
    /// The same, and another client does load them.
    ByClient {
        /// Those.
        part: u64,
        /// All of them.
        whole: u64,
    },
    /// The client sees to it itself.
    SeenTo,
    /// Tokens, and how many the model takes.
    Tokens {
        /// Estimated.
        tokens: u64,
        /// The window.
        window: u64,
    },
    /// The largest picture in question.
    Picture {
        /// Bytes of base64.
        bytes: u64,
        /// Its width and height, where its beginning tells.
        size: Option<(u32, u32)>,
        /// The limit of pixels that holds for it.
        most: u32,
    },
    /// A picture that is not what it says.
    Formats {
        /// What it says.
        says: super::Format,
        /// What it is.
        is: super::Format,
    },
    /// Bytes that could be had back.
    Bytes(u64),
    /// Records that can be read from damaged lines.
    Records(u64),
}

/// What helps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuggestedFix {
    /// Nothing is needed.
    Nothing,
    /// Repair of the session.
    Repair,
    /// Going to this entry.
    Goto(NodeId),
    /// Looking at the branches, to choose one.
    Branches,
    /// Trimming the session until it fits.
    Rescue,
    /// A newer client.
    Update,
    /// Waiting until the client that writes it is done.
    Wait,
}

/// Something that is wrong with a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// What.
    pub code: Code,
    /// How bad.
    pub severity: Severity,
    /// Where: all of it, in the order of the file.
    pub spots: Vec<Location>,
    /// How much.
    pub measure: Impact,
    /// What helps.
    pub mend: SuggestedFix,
}

impl Location {
    /// A whole line.
    pub(super) fn line(line: u32) -> Location {
        Location { line, node: None, block: None, inner: None, other: None }
    }
}
