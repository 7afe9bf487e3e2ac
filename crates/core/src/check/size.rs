//! Where the bytes of a session are.

use std::ops::AddAssign;

use crate::entry::{BlockKind, Content, Entry, Kind};
use crate::tree::LineSpan;

/// What bytes are there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeCategory {
    /// What was said.
    Conversation,
    /// What tools answered, with the copies for the screen.
    ToolResults,
    /// Pictures.
    Images,
    /// Which backups hold which files.
    Snapshots,
    /// Lines about running tools and hooks.
    Progress,
    /// Context that the client added, snapshots of its prompt among it.
    Attachments,
    /// The client's log of requests.
    ApiLog,
    /// State and marks.
    State,
    /// What no entry could be read from.
    Unread,
}

impl SizeCategory {
    /// Every one, in the order of output.
    pub const ALL: [SizeCategory; 9] = [
        SizeCategory::Conversation,
        SizeCategory::ToolResults,
        SizeCategory::Images,
        SizeCategory::Attachments,
        SizeCategory::Progress,
        SizeCategory::Snapshots,
        SizeCategory::ApiLog,
        SizeCategory::State,
        SizeCategory::Unread,
    ];

    /// Returns a name for output.
    pub fn name(self) -> &'static str {
        match self {
            SizeCategory::Conversation => "conversation",
            SizeCategory::ToolResults => "tool results",
            SizeCategory::Images => "images",
            SizeCategory::Snapshots => "snapshots",
            SizeCategory::Progress => "progress",
            SizeCategory::Attachments => "attachments",
            SizeCategory::ApiLog => "api log",
            SizeCategory::State => "state",
            SizeCategory::Unread => "unread",
        }
    }
}

/// Bytes by cause.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SizeBreakdown {
    bytes: [u64; SizeCategory::ALL.len()],
    /// Of all these, bytes of lines that repeat an earlier one.
    pub repeated: u64,
}

impl SizeBreakdown {
    /// Returns the bytes of one cause.
    pub fn of(&self, cause: SizeCategory) -> u64 {
        self.bytes[cause as usize]
    }

    /// Returns all of them.
    pub fn total(&self) -> u64 {
        self.bytes.iter().sum()
    }

    /// Takes what was not read, so that the causes add up to the whole file.
    pub(super) fn fill(&mut self, whole: u64) {
        let known = self.total();
        self.put(SizeCategory::Unread, whole.saturating_sub(known));
        // The last line may have no end.
        if let Some(most) = self.bytes.iter_mut().max().filter(|_| known > whole) {
            *most = most.saturating_sub(known - whole);
        }
    }

    fn put(&mut self, cause: SizeCategory, bytes: u64) {
        self.bytes[cause as usize] += bytes;
    }

    /// Takes an entry with its line end; `pictures` is what stands in its blocks.
    pub(super) fn add(&mut self, entry: &Entry<'_>, place: LineSpan, pictures: u64) {
        let whole = u64::from(place.len) + 1;
        let cause = match entry.kind {
            Kind::User | Kind::Assistant => return self.say(entry, whole, pictures),
            Kind::Progress => SizeCategory::Progress,
            Kind::Attachment => SizeCategory::Attachments,
            Kind::FileHistorySnapshot | Kind::FileHistoryDelta | Kind::Snapshot => SizeCategory::Snapshots,
            Kind::ApiRequest | Kind::ApiRequestBlob | Kind::ApiRequestShape => SizeCategory::ApiLog,
            _ => SizeCategory::State,
        };
        self.put(cause, whole);
    }

    fn say(&mut self, entry: &Entry<'_>, whole: u64, pictures: u64) {
        let results = |content: &Content<'_>| {
            let blocks = content.blocks().iter().filter(|block| block.kind == BlockKind::ToolResult);
            blocks.map(|block| block.raw.len() as u64).sum::<u64>()
        };
        let mut results = entry.message.as_ref().map_or(0, |message| results(&message.content));
        let copy = entry.tool_use_result.map_or(0, |copy| copy.len() as u64);
        // The strings of a line too long to hold were cut: what is missing is what made it long.
        let cut = whole.saturating_sub(1).saturating_sub(entry.raw.len() as u64);
        let in_results = results > 0;
        let (mut images, mut said) = (pictures, 0);
        if in_results {
            results = results.saturating_sub(pictures);
        }
        match (pictures > 0, in_results) {
            (true, _) => images += copy + cut,
            (false, true) => results += copy + cut,
            (false, false) => said = copy + cut,
        }
        let rest = whole.saturating_sub(images + results + said);
        self.put(SizeCategory::Images, images.min(whole));
        self.put(SizeCategory::ToolResults, results.min(whole));
        self.put(SizeCategory::Conversation, said + rest);
    }
}

impl AddAssign for SizeBreakdown {
    fn add_assign(&mut self, other: SizeBreakdown) {
        for (mine, theirs) in self.bytes.iter_mut().zip(other.bytes) {
            *mine += theirs;
        }
        self.repeated += other.repeated;
    }
}
