//! The records that the collector keeps of blocks, responses and compactions.

use std::ops::Range;

use crate::entry::{JsonStr, Usage, find_member};
use crate::tree::NodeId;

/// The kind of content that fills a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ContextCause {
    /// The tokens of the first request that no entry accounts for: system prompt, tools, memory.
    Client,
    /// The tokens of later requests that no entry accounts for: reminders that the client did not record.
    Unrecorded,
    /// The summary that replaces compacted entries.
    Summary,
    /// Text of the user.
    Prompt,
    /// Slash and shell commands and their output.
    Command,
    /// Text of the model.
    Answer,
    /// Thinking of the model.
    Thinking,
    /// Tool calls.
    Call,
    /// Tool results.
    Result,
    /// Images and documents, including those in tool results.
    Image,
    /// Context that the client attached.
    Attachment,
    /// Text that the client adds to user messages.
    Reminder,
}

impl ContextCause {
    /// Returns the name used in output.
    pub fn name(self) -> &'static str {
        match self {
            ContextCause::Client => "client",
            ContextCause::Unrecorded => "unrecorded",
            ContextCause::Summary => "summary",
            ContextCause::Prompt => "prompt",
            ContextCause::Command => "command",
            ContextCause::Answer => "answer",
            ContextCause::Thinking => "thinking",
            ContextCause::Call => "call",
            ContextCause::Result => "result",
            ContextCause::Image => "image",
            ContextCause::Attachment => "attachment",
            ContextCause::Reminder => "reminder",
        }
    }
}

/// The index of no call and of no name.
pub(super) const NO_INDEX: u32 = u32::MAX;

/// A block, or the text of an attachment.
#[derive(Debug, Clone, Copy)]
pub(super) struct ContextBlock {
    pub(super) cause: ContextCause,
    /// The index of the call for calls and results, the index of the name for attachments, else `NO_INDEX`.
    pub(super) subject: u32,
    /// Its estimated tokens.
    pub(super) tokens: u32,
}

/// The usage that a line reports for its response.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReportedUsage {
    pub(super) node: NodeId,
    pub(super) usage: Usage,
    /// Whether the response had ended when the line was written. Otherwise its output may be a placeholder.
    pub(super) has_ended: bool,
    /// The index of the model's name.
    pub(super) model: u32,
}

/// A compaction as recorded by its line.
#[derive(Debug, Clone, Default)]
pub(super) struct CompactionInfo {
    /// Why the client compacted, as recorded, such as `auto` or `manual`. Empty if not recorded.
    pub(super) trigger: String,
    /// The recorded tokens of the context before and after the compaction.
    pub(super) before: Option<u64>,
    pub(super) after: Option<u64>,
    /// Whether only old results were cleared.
    pub(super) is_micro: bool,
}

/// The file and lines that a call reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileRead {
    pub(super) path: String,
    pub(super) lines: Range<u64>,
}

/// The number of lines that a call reads by default.
const DEFAULT_READ_LINES: u64 = 2000;

/// Parses the input of a call that reads a file. Returns `None` if it has no file path.
pub(super) fn parse_file_read(input: &[u8]) -> Option<FileRead> {
    let path = ["file_path", "notebook_path"]
        .iter()
        .find_map(|name| find_member(input, name).and_then(JsonStr::from_value))?;
    let start = parse_number(input, "offset").unwrap_or(0);
    let lines = start..start.saturating_add(parse_number(input, "limit").unwrap_or(DEFAULT_READ_LINES));
    Some(FileRead { path: path.decode().into_owned(), lines })
}

/// Parses a member of a JSON object as an unsigned integer. Returns `None` if it is missing or not one.
pub(super) fn parse_number(object: &[u8], name: &str) -> Option<u64> {
    std::str::from_utf8(find_member(object, name)?).ok()?.parse().ok()
}
