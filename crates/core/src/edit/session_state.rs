//! The lines outside the tree that a copy of a session needs.

use crate::entry::{Entry, JsonStr, Kind};
use crate::id::{Id, IdSet};
use crate::tree::LineSpan;

/// Takes entries in file order and keeps the places of lines without a uuid that say how things stand.
#[derive(Debug, Clone, Default)]
pub struct SessionStateLines {
    /// By type, the last line of it.
    last: Vec<(String, LineSpan)>,
    /// Backups of files, by the prompt that they belong to.
    backups: Vec<(Id, LineSpan)>,
}

impl SessionStateLines {
    /// Takes the next entry.
    pub fn add(&mut self, entry: &Entry<'_>, place: LineSpan) {
        if entry.uuid.is_some() {
            return;
        }
        match entry.kind {
            Kind::FileHistorySnapshot | Kind::FileHistoryDelta => {
                let of = ["snapshotMessageId", "messageId"].iter().find_map(|name| entry.text(name));
                self.backups.extend(of.map(|of: JsonStr<'_>| (of.id(), place)));
            }
            Kind::Mode | Kind::PermissionMode | Kind::ToolsUsed | Kind::AtisLatch | Kind::Unknown => {
                let name = entry.name.map(JsonStr::decode).unwrap_or_default();
                match self.last.iter_mut().find(|(known, ..)| *known == name) {
                    Some(known) => known.1 = place,
                    None => self.last.push((name.into_owned(), place)),
                }
            }
            _ => {}
        }
    }

    /// Lists the lines of backups that belong to one of these entries.
    pub fn backups<'s>(&'s self, entries: &'s IdSet) -> impl Iterator<Item = LineSpan> + 's {
        self.backups.iter().filter(|(of, _)| entries.contains(of)).map(|(_, place)| *place)
    }

    /// Lists the last line of each state that holds for the session as a whole.
    pub fn latest(&self) -> impl Iterator<Item = LineSpan> + '_ {
        self.last.iter().map(|(_, place)| *place)
    }
}
