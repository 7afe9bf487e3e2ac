//! The words for what fills a context.

use rethread_engine::core::context::{Cause, Dropped};
use rethread_engine::core::entry::{EntryRole, Kind};
use rethread_engine::ops::Large;

use super::super::figures::tokens;
use super::super::{clean, entry, summary};

/// Says a cause; `name` is the tool or the kind of attachment.
pub(super) fn cause(cause: Cause, name: &str) -> String {
    let name = clean::line(name);
    match cause {
        Cause::Client => "client: system prompt, tools, memory".to_owned(),
        Cause::Unrecorded => "client: not written to the file".to_owned(),
        Cause::Summary => "summary of the compaction".to_owned(),
        Cause::Prompt => "prompts".to_owned(),
        Cause::Command => "commands and their output".to_owned(),
        Cause::Answer => "answers".to_owned(),
        Cause::Thinking => "thinking".to_owned(),
        Cause::Call => "tool calls".to_owned(),
        Cause::Result if name.is_empty() => "results without a call".to_owned(),
        Cause::Result => format!("results of {name}"),
        Cause::Picture => "pictures and documents".to_owned(),
        Cause::Attachment if name.is_empty() => "attached".to_owned(),
        Cause::Attachment => format!("attached: {name}"),
        Cause::Reminder => "reminders and notices".to_owned(),
    }
}

/// Says what one block is.
pub(super) fn block(large: &Large) -> String {
    let name = clean::line(&large.name);
    match large.item.cause {
        Cause::Result if name.is_empty() => "result".to_owned(),
        Cause::Result => format!("result of {name}"),
        Cause::Call => format!("call of {name}"),
        Cause::Attachment => format!("attached: {name}"),
        Cause::Picture => "picture".to_owned(),
        cause => cause.name().to_owned(),
    }
}

/// Says what is in a block.
pub(super) fn content(large: &Large, folder: &str) -> String {
    match &large.call {
        Some(call) => summary::gist(call, folder),
        // The words of a prompt need no speaker: what it is stands before them.
        None => entry::words(&large.said, EntryRole::Prompt, Kind::User, folder),
    }
}

/// The sign of a drop; the one of a compaction is the greatest.
pub(super) fn sign(how: &Dropped) -> char {
    match how {
        Dropped::Compacted(_) => '▼',
        Dropped::Cleared => '×',
        Dropped::Unsaid => '↓',
    }
}

/// Says what a drop was.
pub(super) fn drop(how: &Dropped) -> String {
    match how {
        Dropped::Compacted(trigger) if trigger.is_empty() => "compacted".to_owned(),
        Dropped::Compacted(trigger) => format!("compacted ({})", clean::line(trigger)),
        Dropped::Cleared => "old results cleared".to_owned(),
        Dropped::Unsaid => "shrank, and no line says why".to_owned(),
    }
}

/// Says a number of tokens, marked where it was not counted.
pub(super) fn amount(number: u64, measured: bool) -> String {
    if measured { tokens(number) } else { format!("~{}", tokens(number)) }
}
