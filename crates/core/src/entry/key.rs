//! The keys that the skimmer takes, and the order in which they usually come.

/// Makes an enum of keys.
macro_rules! keys {
    ($($key:ident = $name:literal,)*) => {
        /// A key of an object that the skimmer knows.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Key {
            $($key,)*
            /// Any other.
            Other,
        }

        impl Key {
            /// Finds the key of this name, escapes resolved.
            #[expect(non_upper_case_globals, reason = "the constants carry the names of the variants")]
            pub(crate) fn named(name: &[u8]) -> Key {
                $(const $key: &[u8] = $name.as_bytes();)*
                match name {
                    $($key => Key::$key,)*
                    _ => Key::Other,
                }
            }
        }
    };
}

keys! {
    Type = "type",
    Uuid = "uuid",
    ParentUuid = "parentUuid",
    LogicalParentUuid = "logicalParentUuid",
    UserType = "userType",
    Message = "message",
    Timestamp = "timestamp",
    SessionId = "sessionId",
    ProcessId = "session_id",
    AgentId = "agentId",
    Version = "version",
    Cwd = "cwd",
    GitBranch = "gitBranch",
    Slug = "slug",
    Entrypoint = "entrypoint",
    RequestId = "requestId",
    Subtype = "subtype",
    LeafUuid = "leafUuid",
    Summary = "summary",
    CustomTitle = "customTitle",
    AiTitle = "aiTitle",
    LastPrompt = "lastPrompt",
    Attachment = "attachment",
    Data = "data",
    Snapshot = "snapshot",
    Content = "content",
    ToolUseResult = "toolUseResult",
    ForkedFrom = "forkedFrom",
    CompactMetadata = "compactMetadata",
    Origin = "origin",
    ToolUseId = "toolUseID",
    ParentToolUseId = "parentToolUseID",
    DurationMs = "durationMs",
    IsSidechain = "isSidechain",
    IsMeta = "isMeta",
    IsCompactSummary = "isCompactSummary",
    IsApiErrorMessage = "isApiErrorMessage",
    IsSnapshotUpdate = "isSnapshotUpdate",
    Explicit = "explicit",
    PlanContent = "planContent",
    Id = "id",
    Role = "role",
    Model = "model",
    StopReason = "stop_reason",
    Usage = "usage",
    ResultId = "tool_use_id",
    Name = "name",
    ToolName = "tool_name",
    Text = "text",
    Thinking = "thinking",
    Input = "input",
    Source = "source",
    IsError = "is_error",
    Signature = "signature",
    InputTokens = "input_tokens",
    OutputTokens = "output_tokens",
    CacheWrite = "cache_creation_input_tokens",
    CacheRead = "cache_read_input_tokens",
    CacheCreation = "cache_creation",
    ServerToolUse = "server_tool_use",
    CacheWrite1h = "ephemeral_1h_input_tokens",
    WebSearches = "web_search_requests",
    Speed = "speed",
}

/// How many keys there are, and one more for "before the first".
const STATES: usize = Key::Other as usize + 2;

/// The state before the first key.
pub(crate) const FIRST: usize = STATES - 1;

/// Which keys followed which in the lines before: the two seen last, with the very bytes between the values.
///
/// Clients write the keys of a kind of line in one order. Where the bytes that came last time stand again, one
/// comparison takes the place of finding the end of the key and looking it up.
///
/// A habit that does not learn costs nothing and knows nothing: for lines read one by one.
#[derive(Debug, Default)]
pub(crate) struct KeyPredictor {
    guesses: Vec<[Guess; 2]>,
}

#[derive(Debug, Clone, Copy)]
struct Guess {
    bytes: [u128; 2],
    mask: [u128; 2],
    len: usize,
    key: Key,
}

/// Longest run of bytes between two values that is remembered.
const LONGEST: usize = 32;

/// No bytes are like these under an empty mask, so an unused guess never fits.
const UNUSED: Guess = Guess { bytes: [1; 2], mask: [0; 2], len: 0, key: Key::Other };

fn words(bytes: &[u8; LONGEST]) -> [u128; 2] {
    let (halves, _) = bytes.as_chunks::<16>();
    [u128::from_le_bytes(halves[0]), u128::from_le_bytes(halves[1])]
}

impl KeyPredictor {
    /// Makes a habit that learns.
    pub(crate) fn learning() -> KeyPredictor {
        KeyPredictor { guesses: vec![[UNUSED; 2]; STATES] }
    }

    /// Finds the next key at `at`, behind the value of the key `state`: which, and how many bytes lead to its value.
    #[inline]
    pub(crate) fn guess(&self, bytes: &[u8], at: usize, state: usize) -> Option<(Key, usize)> {
        let guesses = self.guesses.get(state)?;
        let here = words(bytes.get(at..)?.first_chunk()?);
        let fits = |guess: &&Guess| {
            (here[0] & guess.mask[0] == guess.bytes[0]) & (here[1] & guess.mask[1] == guess.bytes[1])
        };
        guesses.iter().find(fits).map(|guess| (guess.key, guess.len))
    }

    /// Remembers that these bytes led to `key` behind the value of the key `state`.
    pub(crate) fn learn(&mut self, bytes: &[u8], state: usize, key: Key) {
        let len = bytes.len();
        let Some(guesses) = self.guesses.get_mut(state).filter(|_| len <= LONGEST) else { return };
        let (mut padded, mut mask) = ([0; LONGEST], [0; LONGEST]);
        padded[..len].copy_from_slice(bytes);
        mask[..len].fill(u8::MAX);
        guesses[1] = guesses[0];
        guesses[0] = Guess { bytes: words(&padded), mask: words(&mask), len, key };
    }
}
