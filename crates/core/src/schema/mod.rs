//! The drift detector: every type, subtype, block and field seen, by client version.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::entry::{Attachment, BlockKind, Entry, Kind, Progress, System, Text, members};
use crate::version::Version;

mod known;

pub use known::is_known_field;

/// How often something was seen, and in which client versions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sightings {
    /// How often.
    pub count: u64,
    /// The oldest version, as numbers for sorting and as text.
    pub oldest: Option<Version>,
    /// The newest version.
    pub newest: Option<Version>,
}

/// What kind of thing was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shape {
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

impl Shape {
    /// Returns a name for output.
    pub fn name(self) -> &'static str {
        match self {
            Shape::Type => "type",
            Shape::System => "system",
            Shape::Progress => "progress",
            Shape::Attachment => "attachment",
            Shape::Block => "block",
            Shape::Field => "field",
        }
    }
}

/// Everything seen so far.
#[derive(Debug, Clone, Default)]
pub struct Census {
    seen: BTreeMap<(Shape, String), Sightings>,
    versions: BTreeMap<String, Version>,
}

impl Census {
    /// Takes the next entry.
    pub fn add(&mut self, entry: &Entry<'_>) {
        let version = entry.version.map(|version| {
            let text = version.decode();
            self.versions.entry(text.into_owned()).or_insert_with_key(|text| Version::read(text)).clone()
        });
        let version = version.as_ref();
        let name = or_none(entry.name);
        self.see(Shape::Type, name.to_string(), version);
        let part = or_none(entry.part);
        match entry.kind {
            Kind::System => {
                let subtype = or_none(entry.subtype);
                self.see(Shape::System, subtype.into_owned(), version);
            }
            Kind::Progress => self.see(Shape::Progress, part.into_owned(), version),
            Kind::Attachment => self.see(Shape::Attachment, part.into_owned(), version),
            _ => {}
        }
        for block in entry.blocks() {
            let block = or_none(block.name);
            self.see(Shape::Block, block.into_owned(), version);
        }
        for (field, _) in members(entry.raw) {
            self.see(Shape::Field, format!("{name}.{}", field.decode()), version);
        }
    }

    fn see(&mut self, shape: Shape, name: String, version: Option<&Version>) {
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
    pub fn merge(&mut self, other: Census) {
        for (key, part) in other.seen {
            let seen = self.seen.entry(key).or_default();
            seen.count += part.count;
            seen.oldest = [seen.oldest.take(), part.oldest].into_iter().flatten().min();
            seen.newest = [seen.newest.take(), part.newest].into_iter().flatten().max();
        }
    }

    /// Iterates over all that was seen, with whether it is known.
    pub fn rows(&self) -> impl Iterator<Item = (Shape, &str, &Sightings, bool)> {
        self.seen.iter().map(|((shape, name), seen)| (*shape, name.as_str(), seen, is_known(*shape, name)))
    }
}

fn or_none(name: Option<Text<'_>>) -> Cow<'_, str> {
    name.map_or(Cow::Borrowed("(none)"), Text::decode)
}

fn is_known(shape: Shape, name: &str) -> bool {
    let raw = name.as_bytes();
    match shape {
        Shape::Type => Kind::named(raw) != Kind::Unknown,
        Shape::System => name == "(none)" || System::named(raw) != System::Unknown,
        Shape::Progress => Progress::named(raw) != Progress::Unknown,
        Shape::Attachment => Attachment::named(raw) != Attachment::Unknown,
        Shape::Block => BlockKind::named(raw) != BlockKind::Unknown,
        Shape::Field => name.split_once('.').is_some_and(|(_, field)| is_known_field(field)),
    }
}
