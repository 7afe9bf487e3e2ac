//! Updates the line of a compact boundary after entries that it preserved were removed.

use crate::edit::{JsonEdit, PathSegment};
use crate::entry::{JsonStr, find_member, list_strings};
use crate::id::Id;

/// Returns the edits of a boundary line: removed entries are no longer listed, and a preserved segment that
/// began or ended with a removed entry begins or ends with its first or last remaining entry.
///
/// `is_kept` returns whether the entry with a uuid stays. `segment_entries` lists the uuids of the remaining entries
/// of the preserved segment, in order; it is `None` if the file does not hold the segment.
pub(super) fn edit_boundary(
    line: &[u8],
    is_kept: impl Fn(Id) -> bool,
    segment_entries: Option<&[String]>,
) -> Vec<JsonEdit> {
    let metadata = find_member(line, "compactMetadata").unwrap_or_default();
    let mut edits = Vec::new();
    let path = |names: &[&str]| -> Vec<PathSegment> {
        std::iter::once("compactMetadata").chain(names.iter().copied()).map(PathSegment::from).collect()
    };
    if let Some(messages) = find_member(metadata, "preservedMessages") {
        let mut listed_count = 0;
        for list in ["uuids", "allUuids"] {
            let all = find_member(messages, list).map(list_strings).unwrap_or_default();
            let kept: Vec<&JsonStr<'_>> = all.iter().filter(|uuid| is_kept(uuid.to_id())).collect();
            listed_count += kept.len();
            if kept.len() < all.len() {
                let quoted: Vec<String> =
                    kept.iter().map(|uuid| format!("\"{}\"", String::from_utf8_lossy(uuid.raw()))).collect();
                let path = path(&["preservedMessages", list]);
                edits.push(JsonEdit::set(path, format!("[{}]", quoted.join(","))));
            }
        }
        if listed_count == 0 && !edits.is_empty() {
            edits.push(JsonEdit::remove(path(&["preservedMessages"])));
        }
    }
    if let (Some(segment), Some(entries)) = (find_member(metadata, "preservedSegment"), segment_entries) {
        match (entries.first(), entries.last()) {
            (Some(first), Some(last)) => {
                for (name, new_uuid) in [("headUuid", first), ("tailUuid", last)] {
                    let old_uuid = find_member(segment, name).and_then(JsonStr::from_value);
                    if old_uuid.is_some_and(|uuid| !is_kept(uuid.to_id())) {
                        edits.push(JsonEdit::set_string(path(&["preservedSegment", name]), new_uuid));
                    }
                }
            }
            _ => edits.push(JsonEdit::remove(path(&["preservedSegment"]))),
        }
    }
    edits
}
