//! Turns: from a prompt to its answer, whatever lines it is spread over.
//!
//! A user line of tool results alone does not end a turn; what the client says in the user's name starts none. Lines
//! of one `message.id` are united block by block, calls are paired with their results.

mod command;
mod media;
mod pairs;
mod story;
mod unite;

pub use command::{Command, tag};
pub use media::{Media, Picture, picture, pictures};
pub use pairs::{Call, Pairs, Tool};
pub use story::{Part, Piece, Prompt, Result, ToolCall, Turn, tell, tell_on};
pub use unite::{Change, Union};

pub(crate) use story::words;
