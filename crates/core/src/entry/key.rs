//! The object keys that `skim` reads, and a predictor of their order.

/// Defines an enum of keys.
macro_rules! keys {
    ($($key:ident = $name:literal,)*) => {
        /// An object key that `skim` reads.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum KnownKey {
            $($key,)*
            /// Any other key.
            Other,
        }

        impl KnownKey {
            /// Returns the key with this name, or `Other`. The escapes of `name` must be decoded.
            #[expect(non_upper_case_globals, reason = "the constants carry the names of the variants")]
            pub(crate) fn from_name(name: &[u8]) -> KnownKey {
                $(const $key: &[u8] = $name.as_bytes();)*
                match name {
                    $($key => KnownKey::$key,)*
                    _ => KnownKey::Other,
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
    ProcessSessionId = "session_id",
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
    Rewound = "rewound",
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

/// The number of predictor states: one for each key, and the start state.
const STATE_COUNT: usize = KnownKey::Other as usize + 2;

/// The state before the first key.
pub(crate) const START_STATE: usize = STATE_COUNT - 1;

/// Predicts the next key of an object from the lines read so far.
///
/// Clients write the keys of a line type in a fixed order. For each key the predictor keeps the last two successors,
/// with the exact bytes between the values. If the bytes match again, one comparison replaces finding the end of the
/// key and looking it up.
///
/// The default predictor does not learn and costs nothing. It is used for single lines.
#[derive(Debug, Default)]
pub(crate) struct KeyPredictor {
    guesses: Vec<[KeyGuess; 2]>,
}

/// A run of bytes that followed a key's value before, and the key that it contains.
#[derive(Debug, Clone, Copy)]
struct KeyGuess {
    bytes: [u128; 2],
    mask: [u128; 2],
    len: usize,
    key: KnownKey,
}

/// The length in bytes of the longest run between two values that is kept.
const MAX_RUN_LEN: usize = 32;

/// An unused guess. Its mask is empty and its bytes are not zero, so it never matches.
const UNUSED_GUESS: KeyGuess = KeyGuess { bytes: [1; 2], mask: [0; 2], len: 0, key: KnownKey::Other };

fn to_words(bytes: &[u8; MAX_RUN_LEN]) -> [u128; 2] {
    let (halves, _) = bytes.as_chunks::<16>();
    [u128::from_le_bytes(halves[0]), u128::from_le_bytes(halves[1])]
}

impl KeyPredictor {
    /// Creates a predictor that learns.
    pub(crate) fn with_learning() -> KeyPredictor {
        KeyPredictor { guesses: vec![[UNUSED_GUESS; 2]; STATE_COUNT] }
    }

    /// Predicts the key at index `at`, after the value of the key `state`, and the number of bytes up to its value.
    ///
    /// Returns `None` if no guess matches, fewer than 32 bytes remain, or the predictor does not learn.
    #[inline]
    pub(crate) fn predict(&self, bytes: &[u8], at: usize, state: usize) -> Option<(KnownKey, usize)> {
        let guesses = self.guesses.get(state)?;
        let here = to_words(bytes.get(at..)?.first_chunk()?);
        let matches_guess = |guess: &&KeyGuess| {
            (here[0] & guess.mask[0] == guess.bytes[0]) & (here[1] & guess.mask[1] == guess.bytes[1])
        };
        guesses.iter().find(matches_guess).map(|guess| (guess.key, guess.len))
    }

    /// Records that the run `bytes`, from the value of the key `state` to the next value, contains `key`.
    ///
    /// Does nothing if the run is longer than 32 bytes or the predictor does not learn.
    pub(crate) fn learn(&mut self, bytes: &[u8], state: usize, key: KnownKey) {
        let len = bytes.len();
        let Some(guesses) = self.guesses.get_mut(state).filter(|_| len <= MAX_RUN_LEN) else { return };
        let (mut padded, mut mask) = ([0; MAX_RUN_LEN], [0; MAX_RUN_LEN]);
        padded[..len].copy_from_slice(bytes);
        mask[..len].fill(u8::MAX);
        guesses[1] = guesses[0];
        guesses[0] = KeyGuess { bytes: to_words(&padded), mask: to_words(&mask), len, key };
    }
}
