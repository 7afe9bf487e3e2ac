//! What a compaction says it kept, after some of that went.

use crate::edit::{JsonEdit, PathSegment};
use crate::entry::{JsonStr, member, strings};
use crate::id::Id;

/// Says what changes in the line of a boundary: the entries that went are no longer named, and where a run began or ended
/// with one, it begins or ends with its neighbour.
///
/// `stays` tells of an entry whether it does; `run` lists the entries of the run that stay, the first one first, where
/// the file holds them.
pub(super) fn amended(line: &[u8], stays: impl Fn(Id) -> bool, run: Option<&[String]>) -> Vec<JsonEdit> {
    let metadata = member(line, "compactMetadata").unwrap_or_default();
    let mut changes = Vec::new();
    let path = |names: &[&str]| -> Vec<PathSegment> {
        std::iter::once("compactMetadata").chain(names.iter().copied()).map(PathSegment::from).collect()
    };
    if let Some(messages) = member(metadata, "preservedMessages") {
        let mut named = 0;
        for list in ["uuids", "allUuids"] {
            let all = member(messages, list).map(strings).unwrap_or_default();
            let left: Vec<&JsonStr<'_>> = all.iter().filter(|uuid| stays(uuid.id())).collect();
            named += left.len();
            if left.len() < all.len() {
                let quoted: Vec<String> =
                    left.iter().map(|uuid| format!("\"{}\"", String::from_utf8_lossy(uuid.raw()))).collect();
                let path = path(&["preservedMessages", list]);
                changes.push(JsonEdit::set(path, format!("[{}]", quoted.join(","))));
            }
        }
        if named == 0 && !changes.is_empty() {
            changes.push(JsonEdit::remove(path(&["preservedMessages"])));
        }
    }
    if let (Some(segment), Some(run)) = (member(metadata, "preservedSegment"), run) {
        match (run.first(), run.last()) {
            (Some(first), Some(last)) => {
                for (name, now) in [("headUuid", first), ("tailUuid", last)] {
                    let was = member(segment, name).and_then(JsonStr::of_value);
                    if was.is_some_and(|was| !stays(was.id())) {
                        changes.push(JsonEdit::set_string(path(&["preservedSegment", name]), now));
                    }
                }
            }
            _ => changes.push(JsonEdit::remove(path(&["preservedSegment"]))),
        }
    }
    changes
}
