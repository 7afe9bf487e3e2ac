//! The drift detector: every type, subtype, block and field seen, by client version.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::entry::{Attachment, BlockKind, Entry, JsonStr, Kind, Progress, System, members};
use crate::version::Version;

mod known;

pub use known::is_known_field;

/// How often something was seen, and in which client versions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Occurrences {
    /// How often.
    pub count: u64,
    /// The oldest version, as numbers for sorting and as text.
    pub oldest: Option<Version>,
    /// The newest version.
    pub newest: Option<Version>,
}

/// What kind of thing was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SchemaItem {
    /// A line type.
    Type,
    /// A subtype of a system line.
    System,
    /// A type of progress data.
    Progress,
    /// A type of attachment.
    Attachment,
    /// A content block.
    Block,
    /// A field of a line type.
    Field,
}

impl SchemaItem {
    /// Returns a name for output.
    pub fn name(self) -> &'static str {
        match self {
            SchemaItem::Type => "type",
            SchemaItem::System => "system",
            SchemaItem::Progress => "progress",
            SchemaItem::Attachment => "attachment",
            SchemaItem::Block => "block",
            SchemaItem::Field => "field",
        }
    }
}

/// Everything seen so far.
#[derive(Debug, Clone, Default)]
pub struct SchemaCollector {
    seen: BTreeMap<(SchemaItem, String), Occurrences>,
    versions: BTreeMap<String, Version>,
}

impl SchemaCollector {
    /// Takes the next entry.
    pub fn add(&mut self, entry: &Entry<'_>) {
        let version = entry.version.map(|version| {
            let text = version.decode();
            self.versions.entry(text.into_owned()).or_insert_with_key(|text| Version::read(text)).clone()
        });
        let version = version.as_ref();
        let name = or_none(entry.name);
        self.see(SchemaItem::Type, name.to_string(), version);
        let part = or_none(entry.part);
        match entry.kind {
            Kind::System => {
                let subtype = or_none(entry.subtype);
                self.see(SchemaItem::System, subtype.into_owned(), version);
            }
            Kind::Progress => self.see(SchemaItem::Progress, part.into_owned(), version),
            Kind::Attachment => self.see(SchemaItem::Attachment, part.into_owned(), version),
            _ => {}
        }
        for block in entry.blocks() {
            let block = or_none(block.name);
            self.see(SchemaItem::Block, block.into_owned(), version);
        }
        for (field, _) in members(entry.raw) {
            self.see(SchemaItem::Field, format!("{name}.{}", field.decode()), version);
        }
    }

    fn see(&mut self, shape: SchemaItem, name: String, version: Option<&Version>) {
        let seen = self.seen.entry((shape, name)).or_default();
        seen.count += 1;
        if let Some(version) = version {
            if seen.oldest.as_ref().is_none_or(|oldest| version < oldest) {
                seen.oldest = Some(version.clone());
            }
            if seen.newest.as_ref().is_none_or(|newest| version > newest) {
                seen.newest = Some(version.clone());
            }
        }
    }

    /// Adds what another census saw.
    pub fn merge(&mut self, other: SchemaCollector) {
        for (key, part) in other.seen {
            let seen = self.seen.entry(key).or_default();
            seen.count += part.count;
            seen.oldest = [seen.oldest.take(), part.oldest].into_iter().flatten().min();
            seen.newest = [seen.newest.take(), part.newest].into_iter().flatten().max();
        }
    }

    /// Iterates over all that was seen, with whether it is known.
    pub fn rows(&self) -> impl Iterator<Item = (SchemaItem, &str, &Occurrences, bool)> {
        self.seen.iter().map(|((shape, name), seen)| (*shape, name.as_str(), seen, is_known(*shape, name)))
    }
}

fn or_none(name: Option<JsonStr<'_>>) -> Cow<'_, str> {
    name.map_or(Cow::Borrowed("(none)"), JsonStr::decode)
}

fn is_known(shape: SchemaItem, name: &str) -> bool {
    let raw = name.as_bytes();
    match shape {
        SchemaItem::Type => Kind::named(raw) != Kind::Unknown,
        SchemaItem::System => name == "(none)" || System::named(raw) != System::Unknown,
        SchemaItem::Progress => Progress::named(raw) != Progress::Unknown,
        SchemaItem::Attachment => Attachment::named(raw) != Attachment::Unknown,
        SchemaItem::Block => BlockKind::named(raw) != BlockKind::Unknown,
        SchemaItem::Field => name.split_once('.').is_some_and(|(_, field)| is_known_field(field)),
    }
}
