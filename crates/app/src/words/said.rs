//! An entry in a few words, on one line.

use rethread_engine::core::entry::{Kind, Voice};
use rethread_engine::ops::{Gist, Said};

use super::clean;
use super::figures::tokens;
use super::gist;

/// Says what an entry says; what is not a prompt begins with who speaks.
pub(crate) fn words(said: &Said, voice: Voice, kind: Kind, folder: &str) -> String {
    let words = gist(&said.gist, folder);
    let speaker = match voice {
        Voice::Prompt | Voice::Picture | Voice::Command | Voice::Shell => String::new(),
        Voice::Boundary => String::new(),
        Voice::Link if said.subtype.is_empty() => kind.name().to_owned(),
        Voice::Link => clean::line(&format!("{} {}", kind.name(), said.subtype)),
        voice => voice.name().to_owned(),
    };
    match (speaker.is_empty(), words.is_empty()) {
        (true, true) => "(no words)".to_owned(),
        (true, false) => words,
        (false, true) => speaker,
        (false, false) => format!("{speaker}: {words}"),
    }
}

fn gist(gist: &Gist, folder: &str) -> String {
    match gist {
        Gist::Words(text) => clean::line(text),
        Gist::Media(media) => format!("[{}]", clean::line(media)),
        Gist::Thinking(text) if text.is_empty() => "∴ thinking".to_owned(),
        Gist::Thinking(text) => format!("∴ {}", clean::line(text)),
        Gist::Call(call) => {
            format!("{}  {}", clean::line(&call.name), gist::gist(call, folder)).trim_end().to_owned()
        }
        Gist::Compaction(trigger, before, after) => compaction(trigger, *before, *after),
        Gist::Nothing => String::new(),
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
