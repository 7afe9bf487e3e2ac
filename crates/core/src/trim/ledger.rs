//! What was left out, by cause.

/// Why something is not in the copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
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

impl Cause {
    /// Every one, in the order in which they are told.
    pub const ALL: [Cause; 12] = [
        Cause::Elsewhere,
        Cause::ApiLog,
        Cause::Snapshots,
        Cause::States,
        Cause::Progress,
        Cause::Attachments,
        Cause::ToolResults,
        Cause::Reads,
        Cause::Images,
        Cause::Thinking,
        Cause::Tools,
        Cause::Turns,
    ];

    /// Returns a name for output.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Elsewhere => "elsewhere",
            Cause::ApiLog => "api-log",
            Cause::Snapshots => "snapshots",
            Cause::States => "states",
            Cause::Progress => "progress",
            Cause::Attachments => "attachments",
            Cause::ToolResults => "tool-results",
            Cause::Reads => "reads",
            Cause::Images => "images",
            Cause::Thinking => "thinking",
            Cause::Tools => "tools",
            Cause::Turns => "turns",
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
pub struct Ledger {
    rows: [Row; Cause::ALL.len()],
}

impl Ledger {
    /// Notes one thing more.
    pub fn add(&mut self, cause: Cause, count: u64, bytes: u64, said: u64) {
        let row = &mut self.rows[cause as usize];
        row.count += count;
        row.bytes += bytes;
        row.said += said;
    }

    /// Returns what one cause took.
    pub fn row(&self, cause: Cause) -> Row {
        self.rows[cause as usize]
    }

    /// Lists the causes that took something.
    pub fn rows(&self) -> impl Iterator<Item = (Cause, Row)> + '_ {
        let rows = Cause::ALL.into_iter().map(|cause| (cause, self.rows[cause as usize]));
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
