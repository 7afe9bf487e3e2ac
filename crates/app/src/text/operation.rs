//! Texts about changes: effects on files, fixes of lines, content omitted from copies.

use rethread_engine::core::fix::{FixAction, RelinkReason};
use rethread_engine::core::trim::{EscalationStage, RemovalCause};
use rethread_engine::ops::{FileEffect, FileOpKind};

use super::figures::{count_noun, format_size};

/// Describes the change of one file, as a verb phrase: `append 1.2 kB`, `move to the trash`.
pub(crate) fn effect_text(effect: &FileEffect) -> String {
    match effect.kind {
        FileOpKind::Append => format!("append {}", format_size(effect.appended.unwrap_or_default())),
        FileOpKind::Replace => "rewrite".to_owned(),
        FileOpKind::Create => "create".to_owned(),
        FileOpKind::Remove => "move to the trash".to_owned(),
        FileOpKind::Return => "restore".to_owned(),
    }
}

/// Describes the lines or blocks that a trimmed copy omits for one cause.
pub(crate) fn removal_text(cause: RemovalCause) -> &'static str {
    match cause {
        RemovalCause::OffPath => "other branches, before compactions",
        RemovalCause::Damaged => "unreadable lines",
        RemovalCause::ApiLog => "API request log",
        RemovalCause::Snapshots => "file snapshots: no rewind of files",
        RemovalCause::States => "state lines",
        RemovalCause::Progress => "progress",
        RemovalCause::Attachments => "attachments",
        RemovalCause::ToolResults => "tool results, now stubs",
        RemovalCause::Reads => "repeated reads, now stubs",
        RemovalCause::Images => "images, now stubs",
        RemovalCause::Thinking => "thinking",
        RemovalCause::Tools => "calls with their results",
        RemovalCause::Turns => "turns",
    }
}

/// Describes the blocks or turns that a stage of `rescue` omits.
pub(crate) fn stage_text(stage: EscalationStage) -> &'static str {
    match stage {
        EscalationStage::LargeResults => "tool results over 4 kB, oldest first",
        EscalationStage::Images => "images of old turns",
        EscalationStage::Thinking => "thinking of old turns",
        EscalationStage::Results => "all tool results of old turns",
        EscalationStage::Tools => "calls of old turns, with their results",
        EscalationStage::Turns => "oldest turns, replaced by a note",
        EscalationStage::RecentResults => "tool results over 4 kB of the last two turns",
        EscalationStage::RecentImages => "images of the last two turns",
        EscalationStage::RecentRest => "all tool results of the last two turns",
        EscalationStage::RecentTools => "calls of the last two turns, oldest first",
    }
}

/// Describes a fix of one line. `to_line` is the line of the new parent; without it, the uuid is shown.
pub(crate) fn fix_text(action: &FixAction, to_line: Option<u32>) -> String {
    let short_uuid = |uuid: &str| uuid.chars().take(8).collect::<String>();
    let old_parent = |from: &Option<String>| match from {
        Some(from) => format!("was {}", short_uuid(from)),
        None => "had no parent".to_owned(),
    };
    match action {
        FixAction::Recovered(records) => {
            format!("{} moved to separate lines", count_noun(*records, "record"))
        }
        FixAction::SetAside => "no record found: saved next to the session".to_owned(),
        FixAction::Relinked { from, to: Some(to), reason, .. } => {
            let parent = to_line.map_or_else(|| short_uuid(to), |line| format!("L{line}"));
            format!("new parent {parent}, {}; {}", relink_reason(*reason), old_parent(from))
        }
        FixAction::Relinked { from, to: None, .. } => format!("is now a root; {}", old_parent(from)),
        FixAction::LogicalParentSet { from, to, .. } => {
            let parent = to_line.map_or_else(|| short_uuid(to), |line| format!("L{line}"));
            format!("follows {parent}, the previous line; {}", old_parent(from))
        }
        FixAction::PreservedRemoved(count) => {
            format!("{} removed from the list of kept entries: not in the file", count_noun(*count, "entry"))
        }
        FixAction::UuidAssigned(uuid) => format!("new uuid {}", short_uuid(uuid)),
        FixAction::TimestampAdded(timestamp) => format!("new timestamp {timestamp}; had none"),
        FixAction::LineRemoved => "removed".to_owned(),
        FixAction::BlocksRemoved(blocks) => format!("{} removed", count_noun(blocks.len() as u64, "block")),
        FixAction::ResultAdded(calls) => {
            format!("{} added for interrupted calls", count_noun(calls.len() as u64, "result"))
        }
        FixAction::ImageReplaced(text) => format!("image replaced by text: {text}"),
        FixAction::Relabelled(media) => format!("image type set to {media}"),
    }
}

/// Describes why a line was chosen as the new parent, as a clause after the line number or uuid of the parent.
fn relink_reason(reason: RelinkReason) -> &'static str {
    match reason {
        RelinkReason::Call => "the response with its tool call",
        RelinkReason::Order => "the previous line",
        RelinkReason::Ancestor => "the parent of the line between them",
        RelinkReason::Parallel => "the previous line of the conversation",
        RelinkReason::Added => "the added result",
        RelinkReason::Root => "as a root",
    }
}
