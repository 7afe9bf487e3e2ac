//! Detects format drift: collects every type, subtype, block and field by client version.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::entry::{AttachmentKind, BlockKind, Entry, JsonStr, Kind, ProgressKind, SystemKind, members};
use crate::version::Version;

mod known;

pub use known::is_known_field;

/// How often a schema item occurred, and in which client versions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Occurrences {
    /// The number of occurrences.
    pub count: u64,
    /// The oldest client version that wrote it. `None` if no line names a version.
    pub oldest: Option<Version>,
    /// The newest client version that wrote it. `None` if no line names a version.
    pub newest: Option<Version>,
}

/// The kind of a schema item, which is a name that occurs in the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SchemaItemKind {
    /// A line type.
    Type,
    /// A subtype of a system line.
    System,
    /// A type of progress data.
    Progress,
    /// A type of attachment.
    Attachment,
    /// A type of content block.
    Block,
    /// A top-level field of a line type, named `type.field`.
    Field,
}

impl SchemaItemKind {
    /// Returns the name used in output.
    pub fn name(self) -> &'static str {
        match self {
            SchemaItemKind::Type => "type",
            SchemaItemKind::System => "system",
            SchemaItemKind::Progress => "progress",
            SchemaItemKind::Attachment => "attachment",
            SchemaItemKind::Block => "block",
            SchemaItemKind::Field => "field",
        }
    }
}

/// Counts the schema items of entries, with the range of client versions that wrote them.
#[derive(Debug, Clone, Default)]
pub struct SchemaCollector {
    items: BTreeMap<(SchemaItemKind, String), Occurrences>,
    /// The parsed client versions, by their text.
    versions: BTreeMap<String, Version>,
}

impl SchemaCollector {
    /// Counts the schema items in an entry.
    pub fn add(&mut self, entry: &Entry<'_>) {
        let version = entry.client_version().map(|version| {
            let text = version.decode();
            self.versions
                .entry(text.into_owned())
                .or_insert_with_key(|text| Version::parse_lenient(text))
                .clone()
        });
        let version = version.as_ref();
        let name = name_or_none(entry.type_name);
        self.record_item(SchemaItemKind::Type, name.to_string(), version);
        let payload_type = name_or_none(entry.payload_type);
        match entry.kind {
            Kind::System => {
                let subtype = name_or_none(entry.subtype);
                self.record_item(SchemaItemKind::System, subtype.into_owned(), version);
            }
            Kind::Progress => self.record_item(SchemaItemKind::Progress, payload_type.into_owned(), version),
            Kind::Attachment => {
                self.record_item(SchemaItemKind::Attachment, payload_type.into_owned(), version);
            }
            _ => {}
        }
        for block in entry.blocks() {
            let block = name_or_none(block.type_name);
            self.record_item(SchemaItemKind::Block, block.into_owned(), version);
        }
        for (field, _) in members(entry.raw) {
            self.record_item(SchemaItemKind::Field, format!("{name}.{}", field.decode()), version);
        }
    }

    /// Counts an item and extends its version range. `version` is `None` if the line names none.
    fn record_item(&mut self, kind: SchemaItemKind, name: String, version: Option<&Version>) {
        let occurrences = self.items.entry((kind, name)).or_default();
        occurrences.count += 1;
        if let Some(version) = version {
            if occurrences.oldest.as_ref().is_none_or(|oldest| version < oldest) {
                occurrences.oldest = Some(version.clone());
            }
            if occurrences.newest.as_ref().is_none_or(|newest| version > newest) {
                occurrences.newest = Some(version.clone());
            }
        }
    }

    /// Adds the counts of another collector and extends the version ranges.
    pub fn merge(&mut self, other: SchemaCollector) {
        for (key, other_occurrences) in other.items {
            let occurrences = self.items.entry(key).or_default();
            occurrences.count += other_occurrences.count;
            occurrences.oldest =
                [occurrences.oldest.take(), other_occurrences.oldest].into_iter().flatten().min();
            occurrences.newest =
                [occurrences.newest.take(), other_occurrences.newest].into_iter().flatten().max();
        }
    }

    /// Returns an iterator over all items, sorted by kind and name.
    ///
    /// Each row has the kind, the name, the occurrences, and whether measured clients write the item.
    pub fn rows(&self) -> impl Iterator<Item = (SchemaItemKind, &str, &Occurrences, bool)> {
        self.items
            .iter()
            .map(|((kind, name), occurrences)| (*kind, name.as_str(), occurrences, is_known(*kind, name)))
    }
}

fn name_or_none(name: Option<JsonStr<'_>>) -> Cow<'_, str> {
    name.map_or(Cow::Borrowed("(none)"), JsonStr::decode)
}

/// Returns `true` if measured clients write an item of this kind and name.
fn is_known(kind: SchemaItemKind, name: &str) -> bool {
    let raw = name.as_bytes();
    match kind {
        SchemaItemKind::Type => Kind::from_name(raw) != Kind::Unknown,
        SchemaItemKind::System => name == "(none)" || SystemKind::from_name(raw) != SystemKind::Unknown,
        SchemaItemKind::Progress => ProgressKind::from_name(raw) != ProgressKind::Unknown,
        SchemaItemKind::Attachment => AttachmentKind::from_name(raw) != AttachmentKind::Unknown,
        SchemaItemKind::Block => BlockKind::from_name(raw) != BlockKind::Unknown,
        SchemaItemKind::Field => name.split_once('.').is_some_and(|(_, field)| is_known_field(field)),
    }
}

#[cfg(test)]
mod tests {
    use super::SchemaCollector;
    use crate::entry::with_entry;

    fn unknown_names(lines: &[&str]) -> Vec<String> {
        let mut schema = SchemaCollector::default();
        for line in lines {
            with_entry(line.as_bytes(), |entry| schema.add(entry));
        }
        schema.rows().filter(|(.., known)| !known).map(|(_, name, ..)| name.to_owned()).collect()
    }

    #[test]
    fn names_of_client_2_1_326_are_known() {
        let none: [String; 0] = [];
        assert_eq!(
            unknown_names(&[
                r#"{"type":"assistant","requestSessionId":"s","apiError":"max_output_tokens"}"#,
                r#"{"type":"user","toolDenialBeforeRun":true}"#,
                r#"{"type":"system","subtype":"local_command","source":"user"}"#,
                r#"{"type":"attachment","attachment":{"type":"task_status"}}"#,
                r#"{"type":"attachment","attachment":{"type":"hook_blocking_error"}}"#,
                r#"{"type":"attachment","attachment":{"type":"hook_non_blocking_error"}}"#,
                r#"{"type":"attachment","attachment":{"type":"budget_usd"}}"#,
            ]),
            none
        );
    }

    #[test]
    fn other_names_are_unknown() {
        let lines = [
            r#"{"type":"attachment","attachment":{"type":"x"}}"#,
            r#"{"type":"user","y":1}"#,
            r#"{"type":"z"}"#,
        ];
        assert_eq!(unknown_names(&lines), ["z", "x", "user.y"]);
    }
}
