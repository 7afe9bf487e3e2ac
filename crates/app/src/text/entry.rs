//! An entry in a few words, on one line.

use rethread_engine::core::entry::{EntryRole, Kind};
use rethread_engine::ops::{EntryPreview, PreviewedEntry};

use super::clean;
use super::figures::tokens;
use super::summary;

/// Says what an entry says; what is not a prompt begins with who speaks.
pub(crate) fn words(said: &PreviewedEntry, voice: EntryRole, kind: Kind, folder: &str) -> String {
    let words = gist(&said.gist, folder);
    let speaker = match voice {
        EntryRole::Prompt | EntryRole::ImageOnly | EntryRole::Command | EntryRole::Shell => String::new(),
        EntryRole::CompactBoundary => String::new(),
        EntryRole::Structural if said.subtype.is_empty() => kind.name().to_owned(),
        EntryRole::Structural => clean::line(&format!("{} {}", kind.name(), said.subtype)),
        voice => voice.name().to_owned(),
    };
    match (speaker.is_empty(), words.is_empty()) {
        (true, true) => "(no words)".to_owned(),
        (true, false) => words,
        (false, true) => speaker,
        (false, false) => format!("{speaker}: {words}"),
    }
}

fn gist(gist: &EntryPreview, folder: &str) -> String {
    match gist {
        EntryPreview::Words(text) => clean::line(text),
        EntryPreview::Media(media) => format!("[{}]", clean::line(media)),
        EntryPreview::Thinking(text) if text.is_empty() => "∴ thinking".to_owned(),
        EntryPreview::Thinking(text) => format!("∴ {}", clean::line(text)),
        EntryPreview::Call(call) => {
            format!("{}  {}", clean::line(&call.name), summary::gist(call, folder)).trim_end().to_owned()
        }
        EntryPreview::Compaction(trigger, before, after) => compaction(trigger, *before, *after),
        EntryPreview::Nothing => String::new(),
    }
}

fn compaction(trigger: &str, before: Option<u64>, after: Option<u64>) -> String {
    let trigger = if trigger.is_empty() { String::new() } else { format!(" ({})", clean::line(trigger)) };
    let sizes = match (before, after) {
        (Some(before), Some(after)) => format!(", {} → {} tokens", tokens(before), tokens(after)),
        (Some(before), None) => format!(", {} tokens before", tokens(before)),
        _ => String::new(),
    };
    format!("compacted{trigger}{sizes}")
}
