//! Turns: a prompt and everything up to the next one.
//!
//! A user line of tool results does not end a turn, and text that the client adds in the user's name does not start
//! one. Lines with the same `message.id` are merged block by block, and calls are paired with their results.

mod build;
mod command;
mod failure;
mod file_access;
mod media;
mod merge;
mod pairs;

pub use build::{
    Prompt, ToolCall, ToolResult, Turn, TurnItem, TurnPart, build_turn, build_turn_continuation,
};
pub use command::{SlashCommand, extract_tag};
pub use failure::{classify_failure, is_error_record};
pub use file_access::{FileAccess, FileAccessKind};
pub use media::{Media, MediaData, find_image, list_images};
pub use merge::{BlockChange, MessageMerger};
pub use pairs::{ToolCallIndex, ToolCallRecord, ToolId};

pub(crate) use build::entry_text;
