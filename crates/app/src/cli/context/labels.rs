//! Labels of causes, blocks and drops.

use rethread_engine::core::context::{ContextCause, DropReason};
use rethread_engine::core::entry::{EntryRole, Kind};
use rethread_engine::ops::context::LargeBlock;

use crate::cli::figures::format_tokens;
use crate::cli::{clean, entry, summary};

/// Returns the label of a cause. `name` is the tool or the kind of attachment.
pub(super) fn cause_label(cause: ContextCause, name: &str) -> String {
    let name = clean::line(name);
    match cause {
        ContextCause::Client => "client: system prompt, tools, memory".to_owned(),
        ContextCause::Unrecorded => "client: not recorded in the file".to_owned(),
        ContextCause::Summary => "summary of the compaction".to_owned(),
        ContextCause::Prompt => "prompts".to_owned(),
        ContextCause::Command => "commands and their output".to_owned(),
        ContextCause::Answer => "answers".to_owned(),
        ContextCause::Thinking => "thinking".to_owned(),
        ContextCause::Call => "tool calls".to_owned(),
        ContextCause::Result if name.is_empty() => "results without a call".to_owned(),
        ContextCause::Result => format!("results of {name}"),
        ContextCause::Image => "images and documents".to_owned(),
        ContextCause::Attachment if name.is_empty() => "attachments".to_owned(),
        ContextCause::Attachment => format!("attached: {name}"),
        ContextCause::Reminder => "reminders and notices".to_owned(),
    }
}

/// Returns the label of a block: its cause, with the tool of a call or result and the type of an attachment.
pub(super) fn block_label(large: &LargeBlock) -> String {
    let name = clean::line(&large.name);
    match large.block.cause {
        ContextCause::Result if name.is_empty() => "result".to_owned(),
        ContextCause::Result => format!("result of {name}"),
        ContextCause::Call => format!("call of {name}"),
        ContextCause::Attachment => format!("attached: {name}"),
        ContextCause::Image => "image".to_owned(),
        cause => cause.name().to_owned(),
    }
}

/// Returns the preview of a block, or a summary of its tool call, on one line. Paths become relative to `folder`.
pub(super) fn block_preview(large: &LargeBlock, folder: &str) -> String {
    match &large.call {
        Some(call) => summary::summarize_call(call, folder),
        // No role is needed, because the label precedes the text.
        None => entry::format_entry_line(&large.preview, EntryRole::Prompt, Kind::User, folder),
    }
}

/// Returns the symbol of a context drop.
pub(super) fn drop_symbol(reason: &DropReason) -> char {
    match reason {
        DropReason::Compacted(_) => '▼',
        DropReason::Cleared => '×',
        DropReason::Unexplained => '↓',
    }
}

/// Describes the reason of a context drop.
pub(super) fn drop_label(reason: &DropReason) -> String {
    match reason {
        DropReason::Compacted(trigger) if trigger.is_empty() => "compacted".to_owned(),
        DropReason::Compacted(trigger) => format!("compacted ({})", clean::line(trigger)),
        DropReason::Cleared => "old results cleared".to_owned(),
        DropReason::Unexplained => "shrank for an unknown reason".to_owned(),
    }
}

/// Formats a number of tokens, with `~` if it is an estimate.
pub(super) fn format_amount(tokens: u64, measured: bool) -> String {
    if measured { format_tokens(tokens) } else { format!("~{}", format_tokens(tokens)) }
}
