//! What was left out, by cause.

/// Why something is not in the copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RemovalCause {
    /// It is on another branch, or from before a compaction.
    Elsewhere,
    /// The client's record of its requests.
    ApiLog,
    /// Which backups hold the files as they were.
    Snapshots,
    /// A line of state that a new session does not need.
    States,
    /// A report of a running tool or hook.
    Progress,
    /// Context that the client added.
    Attachments,
    /// A tool result, now a stub.
    ToolResults,
    /// A read that is repeated later, now a stub.
    Reads,
    /// A picture or document, now a stub.
    Images,
    /// What the model thought.
    Thinking,
    /// A call and its result.
    Tools,
    /// A whole turn.
    Turns,
}

impl RemovalCause {
    /// Every one, in the order in which they are told.
    pub const ALL: [RemovalCause; 12] = [
        RemovalCause::Elsewhere,
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

    /// Returns a name for output.
    pub fn name(self) -> &'static str {
        match self {
            RemovalCause::Elsewhere => "elsewhere",
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

/// What one cause took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Row {
    /// Lines, or blocks where lines stay.
    pub count: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// Bytes of what is said to the model.
    pub said: u64,
}

impl Row {
    /// Estimates the tokens: a quarter of the bytes said.
    pub fn tokens(&self) -> u64 {
        self.said / 4
    }
}

/// What every cause took.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SavingsByCause {
    rows: [Row; RemovalCause::ALL.len()],
}

impl SavingsByCause {
    /// Notes one thing more.
    pub fn add(&mut self, cause: RemovalCause, count: u64, bytes: u64, said: u64) {
        let row = &mut self.rows[cause as usize];
        row.count += count;
        row.bytes += bytes;
        row.said += said;
    }

    /// Returns what one cause took.
    pub fn row(&self, cause: RemovalCause) -> Row {
        self.rows[cause as usize]
    }

    /// Lists the causes that took something.
    pub fn rows(&self) -> impl Iterator<Item = (RemovalCause, Row)> + '_ {
        let rows = RemovalCause::ALL.into_iter().map(|cause| (cause, self.rows[cause as usize]));
        rows.filter(|(_, row)| row.count > 0)
    }

    /// Adds up all causes.
    pub fn total(&self) -> Row {
        self.rows.iter().fold(Row::default(), |sum, row| Row {
            count: sum.count + row.count,
            bytes: sum.bytes + row.bytes,
            said: sum.said + row.said,
        })
    }
}
