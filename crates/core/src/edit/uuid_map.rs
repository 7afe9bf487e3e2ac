//! New uuids for lines that are written a second time into the same file.

use super::json_edit::{JsonEdit, PathSegment};
use crate::entry::members;
use crate::id::{Id, IdMap};

/// Which entry is called how from now on.
#[derive(Debug, Clone, Default)]
pub struct UuidMap {
    names: IdMap<(String, String)>,
}

impl UuidMap {
    /// Calls the entry with uuid `old` by `new`.
    pub fn add(&mut self, old: String, new: String) {
        self.names.insert(Id::of(old.as_bytes()), (old, new));
    }

    /// Returns the new name of an entry.
    pub fn of(&self, old: Id) -> Option<&str> {
        self.names.get(&old).map(|(_, new)| new.as_str())
    }

    /// Says what changes in a line: its own uuid, and every uuid by which it refers to another. A parent that has no new
    /// name is none.
    pub fn changes(&self, line: &[u8]) -> Vec<JsonEdit> {
        let mut changes = Vec::new();
        for (key, value) in members(line) {
            let key = key.decode().into_owned();
            let new = uuid_in(value).and_then(|old| self.of(old));
            let change = match (key.as_str(), new) {
                (_, Some(new)) => Some(JsonEdit::set_string([PathSegment::from(key.as_str())], new)),
                ("parentUuid", None) if value != b"null" => {
                    Some(JsonEdit::set([PathSegment::from("parentUuid")], "null"))
                }
                ("compactMetadata", None) => {
                    self.renamed(value).map(|value| JsonEdit::set([PathSegment::from(key.as_str())], value))
                }
                _ => None,
            };
            changes.extend(change);
        }
        changes
    }

    /// Renames the entries that a compaction names, wherever in its metadata.
    fn renamed(&self, metadata: &[u8]) -> Option<Vec<u8>> {
        let mut text = String::from_utf8(metadata.to_vec()).ok()?;
        for (old, new) in self.names.values() {
            if text.contains(old.as_str()) {
                text = text.replace(&format!("\"{old}\""), &format!("\"{new}\""));
            }
        }
        Some(text.into_bytes())
    }
}

fn uuid_in(value: &[u8]) -> Option<Id> {
    match value {
        [b'"', body @ .., b'"'] if !body.is_empty() => Some(Id::of(body)),
        _ => None,
    }
}
