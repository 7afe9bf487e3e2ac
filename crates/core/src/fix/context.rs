//! The input of a repair pass.

use super::calls::ToolCallLinks;
use super::fix_set::{FixAction, FixSet, LineEdit, RelinkReason};
use crate::check::{CheckInput, Code, Diagnostic, Severity};
use crate::edit::{JsonEdit, PathSegment, quote_json};
use crate::entry::{Kind, find_member, value_text};
use crate::tree::NodeId;

/// A draft of a session with its diagnostics. Line numbers refer to the draft, not to the original file.
pub struct RepairContext<'a> {
    /// The parsed draft.
    pub input: &'a CheckInput<'a>,
    /// The diagnostics of the draft.
    pub diagnostics: &'a [Diagnostic],
    /// The tool calls of the draft.
    pub calls: &'a ToolCallLinks,
    /// The number of lines of the draft. Entries of later lines are not part of it and cannot be edited.
    pub line_count: u32,
    /// Reads a line of the draft by its number. Returns `None` if it cannot be read.
    pub read_line: &'a mut dyn FnMut(u32) -> Option<Vec<u8>>,
    /// Returns a new uuid.
    pub new_uuid: &'a mut dyn FnMut() -> String,
}

impl RepairContext<'_> {
    pub(super) fn line_of(&self, id: NodeId) -> u32 {
        self.input.tree.node(id).span.line
    }

    /// Returns the bytes of an entry's line, or an empty vector if they cannot be read.
    pub(super) fn line_bytes(&mut self, id: NodeId) -> Vec<u8> {
        let line = self.line_of(id);
        (self.read_line)(line).unwrap_or_default()
    }

    /// Returns the uuid of an entry as it is written in the file. Returns an empty string if the line cannot be read or
    /// contains no uuid.
    pub(super) fn uuid_of(&mut self, id: NodeId) -> String {
        let bytes = self.line_bytes(id);
        string_member(&bytes, "uuid").unwrap_or_default()
    }

    /// Returns the diagnostics with this code and at least this severity.
    pub(super) fn diagnostics_for(
        &self,
        code: Code,
        min_severity: Severity,
    ) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics
            .iter()
            .filter(move |diagnostic| diagnostic.code == code && diagnostic.severity >= min_severity)
    }

    /// Adds the edit that sets the parent of an entry and records its previous parent in `relinkedFrom`.
    ///
    /// Without `parent`, the entry becomes a root. `code` is the problem that this fixes.
    pub(super) fn set_parent(
        &mut self,
        id: NodeId,
        parent: Option<NodeId>,
        (code, reason): (Code, RelinkReason),
        fixes: &mut FixSet,
    ) {
        let uuid = parent.map(|parent| self.uuid_of(parent));
        let line = parent.map(|parent| self.line_of(parent));
        self.set_parent_uuid(id, uuid, line, (code, reason), fixes);
    }

    /// Adds the edit that sets the parent of an entry by uuid. `to_line` is the line of the new parent, if it has one in
    /// the draft. An existing `relinkedFrom` stays.
    pub(super) fn set_parent_uuid(
        &mut self,
        id: NodeId,
        parent: Option<String>,
        to_line: Option<u32>,
        (code, reason): (Code, RelinkReason),
        fixes: &mut FixSet,
    ) {
        let bytes = self.line_bytes(id);
        let from = string_member(&bytes, "parentUuid");
        let json = |uuid: &Option<String>| uuid.as_deref().map_or_else(|| "null".to_owned(), quote_json);
        let mut edits = vec![JsonEdit::set([PathSegment::from("parentUuid")], json(&parent))];
        if find_member(&bytes, "relinkedFrom").is_none() {
            edits.push(JsonEdit::set([PathSegment::from("relinkedFrom")], json(&from)));
        }
        let line = self.line_of(id);
        fixes.edits.push(LineEdit::Change(line, edits));
        fixes.record_fix(code, line, FixAction::Relinked { from, to: parent, to_line, reason });
    }

    /// Returns `true` if every client loads entries of this kind.
    pub(super) fn is_loaded_kind(&self, id: NodeId) -> bool {
        self.input.tree.node(id).kind.is_loaded_by_clients()
    }

    pub(super) fn is_message(&self, id: NodeId) -> bool {
        matches!(self.input.tree.node(id).kind, Kind::User | Kind::Assistant)
    }
}

/// Returns a member of a JSON object as text. Returns `None` if it is missing or not a string.
pub(super) fn string_member(object: &[u8], name: &str) -> Option<String> {
    find_member(object, name)
        .filter(|value| value.first() == Some(&b'"'))
        .map(|value| value_text(value).into_owned())
}
