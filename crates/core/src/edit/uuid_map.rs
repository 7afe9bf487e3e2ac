//! Maps uuids to new ones, for lines that are written to the same file again.

use super::json_edit::{JsonEdit, PathSegment};
use crate::entry::members;
use crate::id::{Id, IdMap};

/// A map from old uuids to new ones.
#[derive(Debug, Clone, Default)]
pub struct UuidMap {
    pairs: IdMap<(String, String)>,
}

impl UuidMap {
    /// Adds a pair of uuids.
    pub fn insert_pair(&mut self, old: String, new: String) {
        self.pairs.insert(Id::from_text(old.as_bytes()), (old, new));
    }

    /// Returns the new uuid of an entry. Returns `None` if its old one is not in the map.
    pub fn find_new_uuid(&self, old: Id) -> Option<&str> {
        self.pairs.get(&old).map(|(_, new)| new.as_str())
    }

    /// Returns the edits that rename the uuid of a line and all uuids that it refers to. A parent that is not
    /// in the map is set to `null`.
    pub fn line_edits(&self, line: &[u8]) -> Vec<JsonEdit> {
        let mut edits = Vec::new();
        for (key, value) in members(line) {
            let key = key.decode().into_owned();
            let new = parse_id(value).and_then(|old| self.find_new_uuid(old));
            let edit = match (key.as_str(), new) {
                (_, Some(new)) => Some(JsonEdit::set_string([PathSegment::from(key.as_str())], new)),
                ("parentUuid", None) if value != b"null" => {
                    Some(JsonEdit::set([PathSegment::from("parentUuid")], "null"))
                }
                ("compactMetadata", None) => self
                    .rename_in_metadata(value)
                    .map(|value| JsonEdit::set([PathSegment::from(key.as_str())], value)),
                _ => None,
            };
            edits.extend(edit);
        }
        edits
    }

    /// Renames all uuids in the metadata of a compaction. Returns `None` if the metadata is not UTF-8.
    fn rename_in_metadata(&self, metadata: &[u8]) -> Option<Vec<u8>> {
        let mut text = String::from_utf8(metadata.to_vec()).ok()?;
        for (old, new) in self.pairs.values() {
            if text.contains(old.as_str()) {
                text = text.replace(&format!("\"{old}\""), &format!("\"{new}\""));
            }
        }
        Some(text.into_bytes())
    }
}

/// Returns the id of a JSON string, which need not be a UUID. Returns `None` for other values and the empty string.
fn parse_id(value: &[u8]) -> Option<Id> {
    match value {
        [b'"', body @ .., b'"'] if !body.is_empty() => Some(Id::from_text(body)),
        _ => None,
    }
}
