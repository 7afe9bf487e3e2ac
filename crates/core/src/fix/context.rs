//! All that a round of mending needs to know.

use super::calls::Calls;
use super::fix_set::{Edit, FixAction, FixSet, RelinkReason};
use crate::check::{CheckInput, Code, Diagnostic, Severity};
use crate::edit::{JsonEdit, PathSegment, quote};
use crate::entry::{self, Entry, Kind, member, value_text};
use crate::lines::Line;
use crate::tree::NodeId;

/// A session under treatment: a draft that was examined. Places in its tree name lines of the draft.
pub struct RepairContext<'a> {
    /// What is known of it.
    pub patient: &'a CheckInput<'a>,
    /// What is wrong with it.
    pub findings: &'a [Diagnostic],
    /// Its calls.
    pub calls: &'a Calls,
    /// How many lines the draft has: those behind are not its own.
    pub lines: u32,
    /// Reads a line of the draft.
    pub read: &'a mut dyn FnMut(u32) -> Option<Vec<u8>>,
    /// Makes a uuid that nobody has.
    pub fresh: &'a mut dyn FnMut() -> String,
}

impl RepairContext<'_> {
    pub(super) fn line(&self, no: NodeId) -> u32 {
        self.patient.tree.node(no).place.line
    }

    /// Reads the line of an entry; empty where it cannot be read.
    pub(super) fn bytes(&mut self, no: NodeId) -> Vec<u8> {
        let line = self.line(no);
        (self.read)(line).unwrap_or_default()
    }

    /// Returns the uuid of an entry as it is written.
    pub(super) fn uuid(&mut self, no: NodeId) -> String {
        let bytes = self.bytes(no);
        text(&bytes, "uuid").unwrap_or_default()
    }

    /// Returns findings of a code, from a severity on.
    pub(super) fn found(&self, code: Code, least: Severity) -> impl Iterator<Item = &Diagnostic> {
        self.findings.iter().filter(move |finding| finding.code == code && finding.severity >= least)
    }

    /// Hangs an entry on another, or on nothing, and marks it with the parent that it had.
    pub(super) fn set_parent(
        &mut self,
        no: NodeId,
        on: Option<NodeId>,
        (code, how): (Code, RelinkReason),
        to: &mut FixSet,
    ) {
        let uuid = on.map(|on| self.uuid(on));
        let line = on.map(|on| self.line(on));
        self.hang_on(no, uuid, line, (code, how), to);
    }

    /// The same with the uuid of what it hangs on.
    pub(super) fn hang_on(
        &mut self,
        no: NodeId,
        on: Option<String>,
        to_line: Option<u32>,
        (code, how): (Code, RelinkReason),
        to: &mut FixSet,
    ) {
        let bytes = self.bytes(no);
        let from = text(&bytes, "parentUuid");
        let json = |uuid: &Option<String>| uuid.as_deref().map_or_else(|| "null".to_owned(), quote);
        let mut changes = vec![JsonEdit::set([PathSegment::from("parentUuid")], json(&on))];
        if member(&bytes, "relinkedFrom").is_none() {
            changes.push(JsonEdit::set([PathSegment::from("relinkedFrom")], json(&from)));
        }
        let line = self.line(no);
        to.edits.push(Edit::Change(line, changes));
        to.mend(code, line, FixAction::Relinked { from, to: on, to_line, how });
    }

    /// Whether every client reads lines of this kind.
    pub(super) fn is_loaded_kind(&self, no: NodeId) -> bool {
        let kind = self.patient.tree.node(no).kind;
        matches!(kind, Kind::User | Kind::Assistant | Kind::System | Kind::Attachment)
    }

    pub(super) fn speaks(&self, no: NodeId) -> bool {
        matches!(self.patient.tree.node(no).kind, Kind::User | Kind::Assistant)
    }
}

/// Returns a string of an object, where it is one.
pub(super) fn text(object: &[u8], name: &str) -> Option<String> {
    member(object, name)
        .filter(|value| value.first() == Some(&b'"'))
        .map(|value| value_text(value).into_owned())
}

/// Reads the entry of a line.
pub(super) fn with_entry<T>(bytes: &[u8], each: impl FnOnce(&Entry<'_>) -> T) -> Option<T> {
    let mut each = Some(each);
    let mut found = None;
    entry::read(&Line { no: 1, offset: 0, bytes, unterminated: false }, &mut Vec::new(), |entry, _| {
        if let Some(each) = each.take() {
            found = Some(each(&entry));
        }
    });
    found
}
