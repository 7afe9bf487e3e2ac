//! The bytes of a session by category.

use std::ops::AddAssign;

use crate::entry::{BlockKind, Content, Entry, Kind};
use crate::tree::LineSpan;

/// A category of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeCategory {
    /// Messages.
    Conversation,
    /// Tool results, with the copies that the client displays.
    ToolResults,
    /// Images.
    Images,
    /// Snapshots of the file history.
    Snapshots,
    /// Progress lines of tools and hooks.
    Progress,
    /// Attachments that the client added, including prompt snapshots.
    Attachments,
    /// The client's log of API requests.
    ApiLog,
    /// Session state and markers.
    State,
    /// Bytes that contain no readable entry.
    Unread,
}

impl SizeCategory {
    /// All categories, in the order of output.
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

    /// Returns the name used in output.
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

/// Bytes by category.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SizeBreakdown {
    bytes: [u64; SizeCategory::ALL.len()],
    /// The bytes of repeated lines. They are also counted in their category.
    pub repeated: u64,
}

impl SizeBreakdown {
    /// Returns the number of bytes in a category.
    pub fn bytes_of(&self, category: SizeCategory) -> u64 {
        self.bytes[category as usize]
    }

    /// Returns the bytes of all categories.
    pub fn total(&self) -> u64 {
        self.bytes.iter().sum()
    }

    /// Adds the unread bytes, so that the categories sum up to the size of the file. Call after the last entry.
    pub(super) fn add_unread(&mut self, file_size: u64) {
        let total_bytes = self.total();
        self.add_bytes(SizeCategory::Unread, file_size.saturating_sub(total_bytes));
        // The last line may lack its newline.
        if let Some(largest) = self.bytes.iter_mut().max().filter(|_| total_bytes > file_size) {
            *largest = largest.saturating_sub(total_bytes - file_size);
        }
    }

    fn add_bytes(&mut self, category: SizeCategory, bytes: u64) {
        self.bytes[category as usize] += bytes;
    }

    /// Adds the bytes of an entry's line, newline included, to the category of its kind. Messages are split among several
    /// categories; `image_bytes` is the length of their image blocks, also of those inside tool results.
    pub(super) fn add_entry(&mut self, entry: &Entry<'_>, span: LineSpan, image_bytes: u64) {
        let line_len = u64::from(span.len) + 1;
        let category = match entry.kind {
            Kind::User | Kind::Assistant => return self.add_message(entry, line_len, image_bytes),
            Kind::Progress => SizeCategory::Progress,
            Kind::Attachment => SizeCategory::Attachments,
            Kind::FileHistorySnapshot | Kind::FileHistoryDelta | Kind::Snapshot => SizeCategory::Snapshots,
            Kind::ApiRequest | Kind::ApiRequestBlob | Kind::ApiRequestShape => SizeCategory::ApiLog,
            _ => SizeCategory::State,
        };
        self.add_bytes(category, line_len);
    }

    /// Splits the bytes of a user or assistant line among images, tool results and conversation.
    fn add_message(&mut self, entry: &Entry<'_>, line_len: u64, image_bytes: u64) {
        let result_bytes = |content: &Content<'_>| {
            let blocks = content.blocks().iter().filter(|block| block.kind == BlockKind::ToolResult);
            blocks.map(|block| block.raw.len() as u64).sum::<u64>()
        };
        let mut results = entry.message.as_ref().map_or(0, |message| result_bytes(&message.content));
        let display_copy = entry.tool_use_result.map_or(0, |display_copy| display_copy.len() as u64);
        // The strings of an overlong line were truncated. The missing bytes belong to the category that made it long.
        let truncated_bytes = line_len.saturating_sub(1).saturating_sub(entry.raw.len() as u64);
        let in_results = results > 0;
        let (mut images, mut text) = (image_bytes, 0);
        if in_results {
            results = results.saturating_sub(images);
        }
        match (images > 0, in_results) {
            (true, _) => images += display_copy + truncated_bytes,
            (false, true) => results += display_copy + truncated_bytes,
            (false, false) => text = display_copy + truncated_bytes,
        }
        let rest = line_len.saturating_sub(images + results + text);
        self.add_bytes(SizeCategory::Images, images.min(line_len));
        self.add_bytes(SizeCategory::ToolResults, results.min(line_len));
        self.add_bytes(SizeCategory::Conversation, text + rest);
    }
}

impl AddAssign for SizeBreakdown {
    fn add_assign(&mut self, other: SizeBreakdown) {
        for (own, added) in self.bytes.iter_mut().zip(other.bytes) {
            *own += added;
        }
        self.repeated += other.repeated;
    }
}
