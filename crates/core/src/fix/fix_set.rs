//! The result of a repair pass: line edits, and the fixes that they apply.

use crate::check::{Code, Diagnostic, SuggestedFix};
use crate::edit::JsonEdit;

/// An edit of a draft. Lines are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineEdit {
    /// Changes the values of the line with this number.
    Change(u32, Vec<JsonEdit>),
    /// Removes the line with this number.
    Drop(u32),
    /// Inserts a new line, given as bytes without newline, after the line with this number.
    Insert(u32, Vec<u8>),
}

/// The reason why an entry got its new parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelinkReason {
    /// The parent makes the call that the entry answers.
    Call,
    /// The parent is the preceding line.
    Order,
    /// The parent is an ancestor: the lines between were removed, or clients do not load them.
    Ancestor,
    /// The parent precedes it in the conversation: calls and results of one response form one chain now.
    Parallel,
    /// The parent is a line that was added.
    Added,
    /// The entry starts a conversation and has no parent.
    Root,
}

impl RelinkReason {
    /// Returns the name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            RelinkReason::Call => "call",
            RelinkReason::Order => "order",
            RelinkReason::Ancestor => "ancestor",
            RelinkReason::Parallel => "parallel",
            RelinkReason::Added => "added",
            RelinkReason::Root => "root",
        }
    }
}

/// An action applied to a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FixAction {
    /// This number of records of a damaged line were split into lines of their own.
    Recovered(u64),
    /// Nothing could be read from the line. It was moved to a file next to the session.
    SetAside,
    /// The entry got another parent.
    Relinked {
        /// The uuid of the previous parent.
        from: Option<String>,
        /// The uuid of the new parent. `None` if the entry became a root.
        to: Option<String>,
        /// The line number of the new parent, if it was in the draft.
        to_line: Option<u32>,
        /// The reason for this parent.
        reason: RelinkReason,
    },
    /// A compaction got a logical parent that exists.
    LogicalParentSet {
        /// The uuid of the previous logical parent.
        from: Option<String>,
        /// The uuid of the new logical parent.
        to: String,
        /// The line number of the new logical parent.
        to_line: u32,
    },
    /// A compaction no longer preserves this number of entries, because they are not in the file.
    PreservedRemoved(u64),
    /// The entry got this uuid.
    UuidAssigned(String),
    /// The entry got this timestamp.
    TimestampAdded(String),
    /// The line was removed.
    LineRemoved,
    /// The blocks of the line with these indices were removed.
    BlocksRemoved(Vec<u16>),
    /// Results for the calls with these ids were inserted after the line. Each states why the real result is missing.
    ResultAdded(Vec<String>),
    /// An image was replaced by this description.
    ImageReplaced(String),
    /// The media type of an image was corrected to this one.
    Relabelled(&'static str),
}

impl FixAction {
    /// Returns the name used in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            FixAction::Recovered(_) => "recovered",
            FixAction::SetAside => "set-aside",
            FixAction::Relinked { .. } => "relinked",
            FixAction::LogicalParentSet { .. } => "logical-parent-set",
            FixAction::PreservedRemoved(_) => "preserved-removed",
            FixAction::UuidAssigned(_) => "uuid-assigned",
            FixAction::TimestampAdded(_) => "timestamp-added",
            FixAction::LineRemoved => "line-removed",
            FixAction::BlocksRemoved(_) => "blocks-removed",
            FixAction::ResultAdded(_) => "result-added",
            FixAction::ImageReplaced(_) => "image-replaced",
            FixAction::Relabelled(_) => "relabelled",
        }
    }
}

/// A fix that was applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedFix {
    /// The problem that was fixed.
    pub code: Code,
    /// The line number in the draft.
    pub line: u32,
    /// The action that fixed it.
    pub action: FixAction,
}

/// The result of one repair pass.
#[derive(Debug, Clone, Default)]
pub struct FixSet {
    /// The edits. Each line has at most one `Change` or `Drop` that no other edit overrides.
    pub edits: Vec<LineEdit>,
    /// The fixes that the edits apply.
    pub fixes: Vec<AppliedFix>,
    /// The uuids of entries that were removed or got an inserted child, with the uuid of the entry to resume from instead.
    /// That is `None` if a removed entry had no remaining ancestor.
    pub replacements: Vec<(String, Option<String>)>,
    /// The images that were removed from the session.
    pub images: Vec<super::ExtractedImage>,
}

impl FixSet {
    /// Returns `true` if there is nothing to edit.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    pub(super) fn record_fix(&mut self, code: Code, line: u32, action: FixAction) {
        self.fixes.push(AppliedFix { code, line, action });
    }
}

/// Returns `true` if any of the diagnostics suggests a repair.
pub fn needs_repair(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|diagnostic| diagnostic.fix == SuggestedFix::Repair)
}
