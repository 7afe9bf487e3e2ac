//! Updates the context size recorded in a response after parts of the context were removed.

use crate::edit::{JsonEdit, PathSegment};
use crate::entry::{find_member, members};

/// Returns the edits that lower the token counts in the usage of a response line to a total of `tokens`.
///
/// Lowers cache reads first, then cache writes, input and output. Returns no edits if the total is not larger
/// or the line has no usage.
///
/// Clients use the counts to decide whether to compact. With the old counts, they would compact a copy that
/// still has room.
pub fn lower_context_count(line: &[u8], tokens: u64) -> Vec<JsonEdit> {
    const MEMBERS: [&str; 4] =
        ["output_tokens", "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
    let usage =
        find_member(line, "message").and_then(|message| find_member(message, "usage")).unwrap_or_default();
    let mut remaining = tokens;
    let mut edits = Vec::new();
    for name in MEMBERS {
        let last = members(usage).filter(|(key, _)| key.equals(name)).last();
        let Some(count) = last.and_then(|(_, value)| std::str::from_utf8(value).ok()?.parse::<u64>().ok())
        else {
            continue;
        };
        if count > remaining {
            let path = ["message", "usage", name].map(PathSegment::from);
            edits.push(JsonEdit::set(path, remaining.to_string()));
        }
        remaining -= count.min(remaining);
    }
    edits
}
