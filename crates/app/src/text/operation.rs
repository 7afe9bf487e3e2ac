//! What writing does, in words: to files, to lines, and what a lighter copy leaves out.

use rethread_engine::core::fix::{FixAction, RelinkReason};
use rethread_engine::core::trim::{RemovalCause, Stage};
use rethread_engine::ops::Effect;

use super::figures::{size, things};

/// Says what happens to a file.
pub(crate) fn effect(effect: Effect) -> String {
    match effect {
        Effect::Append(bytes) => format!("append {}", size(bytes)),
        Effect::Replace => "rewrite".to_owned(),
        Effect::Create => "make".to_owned(),
        Effect::Remove => "move to the trash".to_owned(),
        Effect::Return => "bring back".to_owned(),
    }
}

/// Says what was left out, in words.
pub(crate) fn cause(cause: RemovalCause) -> &'static str {
    match cause {
        RemovalCause::Elsewhere => "other branches, before compactions",
        RemovalCause::ApiLog => "record of requests",
        RemovalCause::Snapshots => "snapshots of files",
        RemovalCause::States => "lines of state",
        RemovalCause::Progress => "progress",
        RemovalCause::Attachments => "attachments",
        RemovalCause::ToolResults => "tool results, now stubs",
        RemovalCause::Reads => "repeated reads, now stubs",
        RemovalCause::Images => "pictures, now stubs",
        RemovalCause::Thinking => "thinking",
        RemovalCause::Tools => "calls with their results",
        RemovalCause::Turns => "turns",
    }
}

/// Says what a step leaves out.
pub(crate) fn stage(stage: Stage) -> &'static str {
    match stage {
        Stage::LargeResults => "tool results over 4 kB, oldest first",
        Stage::Images => "pictures of old turns",
        Stage::Thinking => "thinking of old turns",
        Stage::Results => "every tool result of old turns",
        Stage::Tools => "calls of old turns, with their results",
        Stage::Turns => "oldest turns, a note stands for them",
        Stage::RecentResults => "tool results over 4 kB of the last two turns",
        Stage::RecentImages => "pictures of the last two turns",
        Stage::RecentRest => "every tool result of the last two turns",
        Stage::RecentTools => "calls of the last two turns, oldest first",
    }
}

/// Says what was mended.
pub(crate) fn act(act: &FixAction, to_line: Option<u32>) -> String {
    let short = |uuid: &str| uuid.chars().take(8).collect::<String>();
    let was = |from: &Option<String>| match from {
        Some(from) => format!("it named {}", short(from)),
        None => "it named none".to_owned(),
    };
    match act {
        FixAction::Salvaged(records) => format!("{} made lines of their own", things(*records, "record")),
        FixAction::SetAside => "no record in it: kept beside the session".to_owned(),
        FixAction::Relinked { from, to: Some(to), how, .. } => {
            let on = to_line.map_or_else(|| short(to), |line| format!("L{line}"));
            format!("hung on {on}, {}; {}", reason(*how), was(from))
        }
        FixAction::Relinked { from, to: None, .. } => format!("begins a conversation; {}", was(from)),
        FixAction::Followed { from, to, .. } => {
            let on = to_line.map_or_else(|| short(to), |line| format!("L{line}"));
            format!("follows {on}, the last line before it; {}", was(from))
        }
        FixAction::Renamed(uuid) => format!("has the uuid {} now", short(uuid)),
        FixAction::Dated(moment) => format!("has the moment {moment} now: it had none"),
        FixAction::LeftOut => "left out".to_owned(),
        FixAction::BlocksLeftOut(blocks) => format!("{} left out", things(blocks.len() as u64, "block")),
        FixAction::Answered(calls) => {
            format!("{} added that says there was none", things(calls.len() as u64, "result"))
        }
        FixAction::Told(what) => format!("the picture gave way to words: {what}"),
        FixAction::Relabelled(media) => format!("the picture says {media} now"),
    }
}

fn reason(how: RelinkReason) -> &'static str {
    match how {
        RelinkReason::Call => "whose call it answers",
        RelinkReason::Order => "the line before it",
        RelinkReason::Above => "which the line between them hung on",
        RelinkReason::Added => "the result that was added",
        RelinkReason::Beginning => "as a beginning",
    }
}
