//! The count that an answer carries of its context, after some of that context went.

use crate::edit::{JsonEdit, PathSegment};
use crate::entry::{member, members};

/// Lowers the tokens that an answer says its context had, down to `tokens` in all.
///
/// Clients decide by that count whether to compact: with the old one they would compact a copy that has room.
pub fn lowered(line: &[u8], tokens: u64) -> Vec<JsonEdit> {
    const PARTS: [&str; 4] =
        ["output_tokens", "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
    let usage = member(line, "message").and_then(|message| member(message, "usage")).unwrap_or_default();
    let mut left = tokens;
    let mut changes = Vec::new();
    for part in PARTS {
        let held = members(usage).filter(|(key, _)| key.is(part)).last();
        let Some(count) = held.and_then(|(_, value)| std::str::from_utf8(value).ok()?.parse::<u64>().ok())
        else {
            continue;
        };
        if count > left {
            let path = ["message", "usage", part].map(PathSegment::from);
            changes.push(JsonEdit::set(path, left.to_string()));
        }
        left -= count.min(left);
    }
    changes
}
