//! What is kept of a block, of a response and of a compaction.

use std::ops::Range;

use crate::entry::{JsonStr, Usage, member};
use crate::tree::NodeId;

/// What fills a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// What the first request held beside recorded words: system prompt, tools, memory.
    Client,
    /// What later requests held that the file does not: reminders that were never written.
    Unrecorded,
    /// The summary that stands for what was compacted.
    Summary,
    /// Words of the user.
    Prompt,
    /// Slash and shell commands and what they printed.
    Command,
    /// Words of the model.
    Answer,
    /// Its thoughts.
    Thinking,
    /// Calls of tools.
    Call,
    /// What tools answered.
    Result,
    /// Pictures and documents, wherever they stand.
    Picture,
    /// Context that the client attached.
    Attachment,
    /// Notes of the client in the user's name.
    Reminder,
}

impl Cause {
    /// Returns a name for output.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Client => "client",
            Cause::Unrecorded => "unrecorded",
            Cause::Summary => "summary",
            Cause::Prompt => "prompt",
            Cause::Command => "command",
            Cause::Answer => "answer",
            Cause::Thinking => "thinking",
            Cause::Call => "call",
            Cause::Result => "result",
            Cause::Picture => "picture",
            Cause::Attachment => "attachment",
            Cause::Reminder => "reminder",
        }
    }
}

/// The number of a call, by its id.
pub(super) type CallNo = u32;

/// Stands for "no call" and "no name".
pub(super) const NONE: u32 = u32::MAX;

/// A block, or the text of an attachment.
#[derive(Debug, Clone, Copy)]
pub(super) struct ContextBlock {
    pub(super) cause: Cause,
    /// The call of a call or result, the name of an attachment.
    pub(super) what: u32,
    /// The tokens it is judged to be.
    pub(super) tokens: u32,
}

/// What a line says of its response.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReportedUsage {
    pub(super) node: NodeId,
    pub(super) usage: Usage,
    /// Whether the response had ended when the line was written: else its output may be a placeholder.
    pub(super) ended: bool,
    /// The number of the model among the names.
    pub(super) model: u32,
}

/// A compaction, as its line tells it.
#[derive(Debug, Clone, Default)]
pub(super) struct CompactionInfo {
    pub(super) trigger: String,
    pub(super) before: Option<u64>,
    pub(super) after: Option<u64>,
    /// Whether only old results were cleared.
    pub(super) micro: bool,
}

/// What a read reads: the file, and which of its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileRead {
    pub(super) path: String,
    pub(super) lines: Range<u64>,
}

/// How many lines a read takes where it does not say.
const READ_LINES: u64 = 2000;

/// Reads what a read is to read.
pub(super) fn reading(input: &[u8]) -> Option<FileRead> {
    let path = ["file_path", "notebook_path"]
        .iter()
        .find_map(|name| member(input, name).and_then(JsonStr::of_value))?;
    let from = number(input, "offset").unwrap_or(0);
    let lines = from..from.saturating_add(number(input, "limit").unwrap_or(READ_LINES));
    Some(FileRead { path: path.decode().into_owned(), lines })
}

/// Reads a member that is a whole number.
pub(super) fn number(object: &[u8], name: &str) -> Option<u64> {
    std::str::from_utf8(member(object, name)?).ok()?.parse().ok()
}
