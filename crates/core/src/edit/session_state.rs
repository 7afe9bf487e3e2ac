//! The lines outside the tree that a copy of a session needs.

use crate::entry::{Entry, EntryRole, JsonStr, Kind};
use crate::id::{Id, IdSet};
use crate::tree::{EntryVisitor, LineSpan};

/// Collects the lines without a uuid, which hold state of the session, from entries in file order.
#[derive(Debug, Clone, Default)]
pub struct SessionStateLines {
    /// The name of each line type with its last line.
    last_by_type: Vec<(String, LineSpan)>,
    /// The lines of the client's file history, by the uuid of their prompt.
    file_history: Vec<(Id, LineSpan)>,
    /// All lines without a uuid.
    all: Vec<LineSpan>,
}

impl SessionStateLines {
    /// Adds the line of an entry if it has no uuid.
    pub fn add_entry(&mut self, entry: &Entry<'_>, span: LineSpan) {
        if entry.uuid.is_some() {
            return;
        }
        self.all.push(span);
        match entry.kind {
            Kind::FileHistorySnapshot | Kind::FileHistoryDelta => {
                let prompt =
                    ["snapshotMessageId", "messageId"].iter().find_map(|name| entry.text_field(name));
                self.file_history.extend(prompt.map(|prompt: JsonStr<'_>| (prompt.to_id(), span)));
            }
            Kind::Mode | Kind::PermissionMode | Kind::ToolsUsed | Kind::AtisLatch | Kind::Unknown => {
                let name = entry.type_name.map(JsonStr::decode).unwrap_or_default();
                match self.last_by_type.iter_mut().find(|(existing, ..)| *existing == name) {
                    Some(existing) => existing.1 = span,
                    None => self.last_by_type.push((name.into_owned(), span)),
                }
            }
            _ => {}
        }
    }

    /// Returns the file history lines that belong to any of the prompts, given by uuid, in file order.
    pub fn file_history_lines<'s>(&'s self, prompts: &'s IdSet) -> impl Iterator<Item = LineSpan> + 's {
        self.file_history.iter().filter(|(prompt, _)| prompts.contains(prompt)).map(|(_, span)| *span)
    }

    /// Returns all lines without a uuid, in file order.
    pub fn all_lines(&self) -> &[LineSpan] {
        &self.all
    }

    /// Returns the last line of each type with state of the whole session, such as the permission mode.
    pub fn latest_lines(&self) -> impl Iterator<Item = LineSpan> + '_ {
        self.last_by_type.iter().map(|(_, span)| *span)
    }
}

impl EntryVisitor for SessionStateLines {
    fn visit_entry(&mut self, entry: &Entry<'_>, span: LineSpan, _: EntryRole) {
        self.add_entry(entry, span);
    }
}
