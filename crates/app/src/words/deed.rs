//! What writing does, in words: to files, to lines, and what a lighter copy leaves out.

use rethread_engine::core::mend::{Act, How};
use rethread_engine::core::trim::{Cause, Stage};
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
pub(crate) fn cause(cause: Cause) -> &'static str {
    match cause {
        Cause::Elsewhere => "other branches, before compactions",
        Cause::ApiLog => "record of requests",
        Cause::Snapshots => "snapshots of files",
        Cause::States => "lines of state",
        Cause::Progress => "progress",
        Cause::Attachments => "attachments",
        Cause::ToolResults => "tool results, now stubs",
        Cause::Reads => "repeated reads, now stubs",
        Cause::Images => "pictures, now stubs",
        Cause::Thinking => "thinking",
        Cause::Tools => "calls with their results",
        Cause::Turns => "turns",
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
pub(crate) fn act(act: &Act, to_line: Option<u32>) -> String {
    let short = |uuid: &str| uuid.chars().take(8).collect::<String>();
    let was = |from: &Option<String>| match from {
        Some(from) => format!("it named {}", short(from)),
        None => "it named none".to_owned(),
    };
    match act {
        Act::Salvaged(records) => format!("{} made lines of their own", things(*records, "record")),
        Act::SetAside => "no record in it: kept beside the session".to_owned(),
        Act::Relinked { from, to: Some(to), how, .. } => {
            let on = to_line.map_or_else(|| short(to), |line| format!("L{line}"));
            format!("hung on {on}, {}; {}", reason(*how), was(from))
        }
        Act::Relinked { from, to: None, .. } => format!("begins a conversation; {}", was(from)),
        Act::Followed { from, to, .. } => {
            let on = to_line.map_or_else(|| short(to), |line| format!("L{line}"));
            format!("follows {on}, the last line before it; {}", was(from))
        }
        Act::Renamed(uuid) => format!("has the uuid {} now", short(uuid)),
        Act::Dated(moment) => format!("has the moment {moment} now: it had none"),
        Act::LeftOut => "left out".to_owned(),
        Act::BlocksLeftOut(blocks) => format!("{} left out", things(blocks.len() as u64, "block")),
        Act::Answered(calls) => {
            format!("{} added that says there was none", things(calls.len() as u64, "result"))
        }
        Act::Told(what) => format!("the picture gave way to words: {what}"),
        Act::Relabelled(media) => format!("the picture says {media} now"),
    }
}

fn reason(how: How) -> &'static str {
    match how {
        How::Call => "whose call it answers",
        How::Order => "the line before it",
        How::Above => "which the line between them hung on",
        How::Added => "the result that was added",
        How::Beginning => "as a beginning",
    }
}
