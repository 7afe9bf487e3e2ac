//! Measures removed content by cause.

/// The reason why content is not in the copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RemovalCause {
    /// It is not on the copied path: on another branch, or compacted.
    OffPath,
    /// A line that cannot be read.
    Damaged,
    /// The client's log of its API requests.
    ApiLog,
    /// A record of which backups hold earlier versions of files.
    Snapshots,
    /// A state line that a new session does not need.
    States,
    /// A progress report of a tool or hook.
    Progress,
    /// Context that the client added.
    Attachments,
    /// A tool result, replaced by a stub.
    ToolResults,
    /// The result of a read that is repeated later, replaced by a stub.
    Reads,
    /// An image or document, replaced by a stub.
    Images,
    /// Thinking of the model.
    Thinking,
    /// A call and its result.
    Tools,
    /// A whole turn.
    Turns,
}

impl RemovalCause {
    /// All causes, in display order.
    pub const ALL: [RemovalCause; 13] = [
        RemovalCause::OffPath,
        RemovalCause::Damaged,
        RemovalCause::ApiLog,
        RemovalCause::Snapshots,
        RemovalCause::States,
        RemovalCause::Progress,
        RemovalCause::Attachments,
        RemovalCause::ToolResults,
        RemovalCause::Reads,
        RemovalCause::Images,
        RemovalCause::Thinking,
        RemovalCause::Tools,
        RemovalCause::Turns,
    ];

    /// Returns the name used in output.
    pub fn name(self) -> &'static str {
        match self {
            RemovalCause::OffPath => "off-path",
            RemovalCause::Damaged => "damaged",
            RemovalCause::ApiLog => "api-log",
            RemovalCause::Snapshots => "snapshots",
            RemovalCause::States => "states",
            RemovalCause::Progress => "progress",
            RemovalCause::Attachments => "attachments",
            RemovalCause::ToolResults => "tool-results",
            RemovalCause::Reads => "reads",
            RemovalCause::Images => "images",
            RemovalCause::Thinking => "thinking",
            RemovalCause::Tools => "tools",
            RemovalCause::Turns => "turns",
        }
    }
}

/// The amount of content that one cause removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Savings {
    /// The number of removed lines, or of removed blocks, calls or turns.
    pub count: u64,
    /// The number of whole lines among them.
    pub lines: u64,
    /// The number of bytes in the file.
    pub bytes: u64,
    /// The number of bytes in the context.
    pub context_bytes: u64,
}

impl Savings {
    /// Estimates the number of saved tokens: a quarter of the context bytes, rounded down.
    pub fn tokens(&self) -> u64 {
        self.context_bytes / 4
    }
}

/// The amount of content that each cause removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SavingsByCause {
    by_cause: [Savings; RemovalCause::ALL.len()],
}

impl SavingsByCause {
    /// Adds an amount of removed content to the savings of its cause. See [`Savings`].
    pub fn add(&mut self, cause: RemovalCause, count: u64, bytes: u64, context_bytes: u64) {
        let savings = &mut self.by_cause[cause as usize];
        savings.count += count;
        savings.bytes += bytes;
        savings.context_bytes += context_bytes;
    }

    /// Adds whole lines that were removed. Their content is added separately.
    pub fn add_lines(&mut self, cause: RemovalCause, lines: u64) {
        self.by_cause[cause as usize].lines += lines;
    }

    /// Returns the savings of one cause.
    pub fn savings(&self, cause: RemovalCause) -> Savings {
        self.by_cause[cause as usize]
    }

    /// Iterates over the causes that removed something, in the order of [`RemovalCause::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (RemovalCause, Savings)> + '_ {
        let all = RemovalCause::ALL.into_iter().map(|cause| (cause, self.by_cause[cause as usize]));
        all.filter(|(_, savings)| savings.count + savings.lines > 0)
    }

    /// Returns the sum over all causes.
    pub fn total(&self) -> Savings {
        self.by_cause.iter().fold(Savings::default(), |sum, savings| Savings {
            count: sum.count + savings.count,
            lines: sum.lines + savings.lines,
            bytes: sum.bytes + savings.bytes,
            context_bytes: sum.context_bytes + savings.context_bytes,
        })
    }
}
