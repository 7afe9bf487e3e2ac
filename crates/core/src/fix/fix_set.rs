//! What a round of mending comes to: edits of lines, and what each of them mends.

use crate::check::{Code, Diagnostic, SuggestedFix};
use crate::edit::JsonEdit;

/// An edit of the lines of a draft, which are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// Changes a line.
    Change(u32, Vec<JsonEdit>),
    /// Leaves a line out.
    Drop(u32),
    /// Puts a new line behind one.
    Insert(u32, Vec<u8>),
}

/// Why an entry hangs where it hangs now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelinkReason {
    /// It answers a call that is made there.
    Call,
    /// That is the line before it.
    Order,
    /// That is what the line between them hung on: that line is left out, or no client reads it.
    Above,
    /// It stands behind a line that was added.
    Added,
    /// It begins a conversation of its own.
    Beginning,
}

impl RelinkReason {
    /// Returns a name for output.
    pub fn name(self) -> &'static str {
        match self {
            RelinkReason::Call => "call",
            RelinkReason::Order => "order",
            RelinkReason::Above => "above",
            RelinkReason::Added => "added",
            RelinkReason::Beginning => "beginning",
        }
    }
}

/// What was done to a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FixAction {
    /// So many records of a damaged line are lines of their own now.
    Salvaged(u64),
    /// Nothing could be read from the line: it is kept beside the session.
    SetAside,
    /// It has another parent.
    Relinked {
        /// The parent that it had.
        from: Option<String>,
        /// The parent that it has.
        to: Option<String>,
        /// Where that one stands.
        to_line: Option<u32>,
        /// Why that one.
        how: RelinkReason,
    },
    /// A compaction names what it followed.
    Followed {
        /// What it named before.
        from: Option<String>,
        /// What it follows.
        to: String,
        /// Where that one stands.
        to_line: u32,
    },
    /// It has a uuid of its own.
    Renamed(String),
    /// It has a moment.
    Dated(String),
    /// The line is left out.
    LeftOut,
    /// Blocks of it are left out.
    BlocksLeftOut(Vec<u16>),
    /// A result that says that there was none was put behind it.
    Answered(Vec<String>),
    /// A picture gave way to words.
    Told(String),
    /// A picture says what it is.
    Relabelled(&'static str),
}

impl FixAction {
    /// Returns a name for output.
    pub fn name(&self) -> &'static str {
        match self {
            FixAction::Salvaged(_) => "salvaged",
            FixAction::SetAside => "set-aside",
            FixAction::Relinked { .. } => "relinked",
            FixAction::Followed { .. } => "followed",
            FixAction::Renamed(_) => "renamed",
            FixAction::Dated(_) => "dated",
            FixAction::LeftOut => "left-out",
            FixAction::BlocksLeftOut(_) => "blocks-left-out",
            FixAction::Answered(_) => "answered",
            FixAction::Told(_) => "told",
            FixAction::Relabelled(_) => "relabelled",
        }
    }
}

/// Something that was mended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedFix {
    /// What was wrong.
    pub code: Code,
    /// Where: a line of the draft.
    pub line: u32,
    /// What was done about it.
    pub act: FixAction,
}

/// What a round comes to.
#[derive(Debug, Clone, Default)]
pub struct FixSet {
    /// The edits; each line has at most one `Change` or `Drop` that is not overtaken by another.
    pub edits: Vec<Edit>,
    /// What they mend.
    pub mends: Vec<AppliedFix>,
    /// Entries that others stand for from now on, by uuid: where to go on from changes with them.
    pub moved: Vec<(String, Option<String>)>,
    /// Pictures that were taken out.
    pub pictures: Vec<super::Extract>,
}

impl FixSet {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    pub(super) fn mend(&mut self, code: Code, line: u32, act: FixAction) {
        self.mends.push(AppliedFix { code, line, act });
    }
}

/// Whether a session with these findings is to be repaired.
pub fn needs_repair(findings: &[Diagnostic]) -> bool {
    findings.iter().any(|finding| finding.mend == SuggestedFix::Repair)
}
