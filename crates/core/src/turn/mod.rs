//! Turns: from a prompt to its answer, whatever lines it is spread over.
//!
//! A user line of tool results alone does not end a turn; what the client says in the user's name starts none. Lines
//! of one `message.id` are united block by block, calls are paired with their results.

mod build;
mod command;
mod media;
mod merge;
mod pairs;

pub use build::{
    Prompt, ToolCall, ToolResult, Turn, TurnItem, TurnPart, build_turn, build_turn_continuation,
};
pub use command::{Command, tag};
pub use media::{Image, Media, picture, pictures};
pub use merge::{Change, MessageMerger};
pub use pairs::{Call, Tool, ToolCallIndex};

pub(crate) use build::words;
