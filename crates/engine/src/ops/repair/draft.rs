//! The draft of a repair: its rows, and the diagnostics of its current state.

use std::path::PathBuf;

use rethread_core::check::{CheckCollector, CheckInput, Code, Diagnostic, run_checks};
use rethread_core::edit::{Draft, DraftSegment, JsonEdit, PathSegment, apply_edits, format_timestamp};
use rethread_core::entry::{Kind, Reader, Timestamp};
use rethread_core::fix::{
    AppliedFix, ExtractedImage, FixAction, FixSet, LineEdit, RepairContext, ToolCallLinks,
};
use rethread_core::id::Id;
use rethread_core::lines::Line;
use rethread_core::problem::Problem;
use rethread_core::resume::{ResumeIndex, ResumeOutcome, simulate_resume};
use rethread_core::tree::{LineSpan, NodeId, Tree, TreeBuilder};

use super::recover::RecoveredRows;
use crate::Error;
use crate::disk::LineReader;
use crate::ops::doctor::{ReachableEntries, newest_client, writing_client};

/// A line of the draft.
#[derive(Debug, Clone)]
pub(super) struct DraftRow {
    /// The line of the original file. `None` if the row was inserted.
    pub(super) line: Option<u32>,
    /// The source of its bytes. `None` if the row was removed.
    pub(super) segment: Option<DraftSegment>,
}

/// A draft and the fixes applied to it.
pub(super) struct RepairDraft {
    path: PathBuf,
    lines: LineReader,
    /// The session id, if the name of the file is a uuid.
    session: Option<Id>,
    pub(super) rows: Vec<DraftRow>,
    pub(super) fixes: Vec<RowFix>,
    /// The extracted images, each with its line of the file. The line is `None` for an inserted row.
    pub(super) images: Vec<(Option<u32>, ExtractedImage)>,
    /// The uuid of the entry to resume from, once it is chosen.
    pub(super) leaf: Option<String>,
    /// The two lines that make clients resume from the leaf. Used when the draft is checked.
    pub(super) marker: Vec<Vec<u8>>,
}

/// An applied fix, with line numbers of the file instead of the draft.
pub(super) struct RowFix {
    /// The line of the file. `None` for an inserted line.
    pub(super) line: Option<u32>,
    pub(super) fix: AppliedFix,
    /// The line of the new parent. `None` if the fix sets no parent, or one without a line of the file.
    pub(super) to_line: Option<u32>,
}

/// A parsed draft with its diagnostics.
pub(super) struct CheckedDraft {
    pub(super) tree: Tree,
    pub(super) resume_index: ResumeIndex,
    pub(super) findings: Vec<Diagnostic>,
    pub(super) resume: ResumeOutcome,
    /// The resume by the newest known client, if the session was written by an older one.
    newest: Option<ResumeOutcome>,
    checks: CheckCollector,
    calls: ToolCallLinks,
    problems: Vec<Problem>,
}

impl RepairDraft {
    pub(super) fn new(path: PathBuf, recovered: RecoveredRows) -> Result<RepairDraft, Error> {
        let lines = LineReader::open(&path).map_err(Error::reading(&path))?;
        let stem = path.file_stem().map(std::ffi::OsStr::as_encoded_bytes).unwrap_or_default();
        let session = Id::is_uuid(stem).then(|| Id::from_text(stem));
        let fixes =
            recovered.fixes.into_iter().map(|fix| RowFix { line: Some(fix.line), fix, to_line: None });
        Ok(RepairDraft {
            path,
            lines,
            session,
            rows: recovered.rows,
            fixes: fixes.collect(),
            images: Vec::new(),
            leaf: None,
            marker: Vec::new(),
        })
    }

    /// Parses the draft with the marker lines after it, simulates a resume and runs the checks.
    pub(super) fn check(&mut self) -> Result<CheckedDraft, Error> {
        let mut builder = TreeBuilder::with_content_hashes();
        let mut visitors = (ResumeIndex::default(), CheckCollector::default(), ToolCallLinks::default());
        let mut problems = Vec::new();
        let mut reader = Reader::default();
        let mut offset = 0;
        let mut add_line = |number: u32, bytes: &[u8]| {
            let line = Line { number, offset, bytes, unterminated: false };
            reader.read_line(&line, &mut problems, |entry, offset| {
                let len = u32::try_from(entry.raw.len()).unwrap_or(u32::MAX);
                let span = LineSpan { offset, len, line: number };
                builder.add_and_visit(&entry, span, &mut visitors);
            });
            offset += bytes.len() as u64 + 1;
        };
        let row_count = self.rows.len() as u32;
        for (number, row) in (1..).zip(&self.rows) {
            if let Some(bytes) = read_row(row, &mut self.lines).map_err(Error::reading(&self.path))? {
                add_line(number, &bytes);
            }
        }
        for (number, line) in (row_count + 1..).zip(&self.marker) {
            add_line(number, line);
        }
        let (resume_index, mut checks, calls) = visitors;
        let tree = builder.finish();
        checks.finish(&tree, offset);
        let (client, newest) = (writing_client(&resume_index), newest_client());
        let resume = simulate_resume(&tree, &resume_index, &client);
        let newest_resume =
            (client.numbers() < newest.numbers()).then(|| simulate_resume(&tree, &resume_index, &newest));
        let mut checked = CheckedDraft {
            tree,
            resume_index,
            findings: Vec::new(),
            resume,
            newest: newest_resume,
            checks,
            calls,
            problems,
        };
        checked.findings = run_checks(&checked.check_input(self.session));
        Ok(checked)
    }

    /// Applies the fixes of a pass to the draft. Returns `false` if there were none.
    pub(super) fn apply_pass(
        &mut self,
        checked: &CheckedDraft,
        pass: impl FnOnce(&mut RepairContext<'_>) -> FixSet,
    ) -> bool {
        let input = checked.check_input(self.session);
        let (rows, lines) = (&self.rows, &mut self.lines);
        let mut read_line = |line: u32| {
            let row = rows.get((line as usize).checked_sub(1)?)?;
            read_row(row, lines).ok().flatten()
        };
        let mut new_uuid = || uuid::Uuid::new_v4().to_string();
        let fixes = pass(&mut RepairContext {
            input: &input,
            diagnostics: &checked.findings,
            calls: &checked.calls,
            line_count: rows.len() as u32,
            read_line: &mut read_line,
            new_uuid: &mut new_uuid,
        });
        let has_fixes = !fixes.is_empty();
        self.apply_fixes(fixes);
        has_fixes
    }

    /// Edits, removes and inserts rows, and records the fixes. Line numbers of `set` count the rows of the draft from 1.
    fn apply_fixes(&mut self, set: FixSet) {
        let file_line = |line: u32| self.rows.get((line as usize).wrapping_sub(1)).and_then(|row| row.line);
        for fix in set.fixes {
            let to_line = match &fix.action {
                FixAction::Relinked { to_line, .. } => to_line.and_then(file_line),
                FixAction::LogicalParentSet { to_line, .. } => file_line(*to_line),
                _ => None,
            };
            self.fixes.push(RowFix { line: file_line(fix.line), fix, to_line });
        }
        self.images.extend(set.images.into_iter().map(|image| (file_line(image.line), image)));
        let mut inserted: Vec<(u32, Vec<u8>)> = Vec::new();
        for edit in set.edits {
            match edit {
                LineEdit::Change(line, changes) => self.edit_row(line, changes),
                LineEdit::Drop(line) => {
                    if let Some(row) = self.rows.get_mut(line as usize - 1) {
                        row.segment = None;
                    }
                }
                LineEdit::Insert(line, bytes) => inserted.push((line, bytes)),
            }
        }
        // Insert from the end, so that earlier indices stay valid.
        inserted.sort_by_key(|(line, _)| std::cmp::Reverse(*line));
        for (line, bytes) in inserted {
            let row = DraftRow { line: None, segment: Some(DraftSegment::New(bytes)) };
            self.rows.insert((line as usize).min(self.rows.len()), row);
        }
        for (from, to) in set.replacements {
            if self.leaf.as_ref() == Some(&from) {
                self.leaf = to;
            }
        }
    }

    /// Adds edits to a row, or applies them at once if the row is new. Does nothing if the row was removed.
    fn edit_row(&mut self, line: u32, edits: Vec<JsonEdit>) {
        match self.rows.get_mut(line as usize - 1).and_then(|row| row.segment.as_mut()) {
            Some(DraftSegment::Line(_, changes)) => changes.extend(edits),
            Some(DraftSegment::New(bytes)) => {
                if let Some(edited) = apply_edits(bytes, &edits) {
                    *bytes = edited;
                }
            }
            _ => {}
        }
    }

    /// Sets the timestamp of the leaf message if it has none. Clients load nothing from a leaf without a timestamp.
    pub(super) fn set_missing_timestamp(&mut self, tree: &Tree, leaf: NodeId, now: Timestamp) {
        let is_message = |node_id: NodeId| matches!(tree.node(node_id).kind, Kind::User | Kind::Assistant);
        let mut message = Some(leaf);
        while let Some(node_id) = message.filter(|&node_id| !is_message(node_id)) {
            message = tree.node(node_id).parent();
        }
        let Some(node_id) = message.filter(|&node_id| tree.node(node_id).time().is_none()) else { return };
        let before = (0..node_id).rev().find_map(|node_id| tree.node(node_id).time());
        let line = tree.node(node_id).span.line;
        let timestamp = format_timestamp(before.map_or(now, |before| Timestamp(before.0.saturating_add(1))));
        self.edit_row(line, vec![JsonEdit::set_string([PathSegment::from("timestamp")], &timestamp)]);
        let fix =
            AppliedFix { code: Code::NoConversation, line, action: FixAction::TimestampAdded(timestamp) };
        self.fixes.push(RowFix {
            line: self.rows.get(line as usize - 1).and_then(|row| row.line),
            fix,
            to_line: None,
        });
    }

    /// Reads the uuid of the entry on a line of the draft. Returns `None` if the row is missing, unreadable or has no uuid.
    pub(super) fn read_uuid(&mut self, line: u32) -> Option<String> {
        let row = self.rows.get((line as usize).checked_sub(1)?)?;
        let bytes = read_row(row, &mut self.lines).ok()??;
        rethread_core::entry::with_entry(&bytes, |entry| entry.uuid.map(|uuid| uuid.decode().into_owned()))?
    }
}

/// Returns the bytes of a row after its edits. Returns `None` if the row was removed.
fn read_row(row: &DraftRow, lines: &mut LineReader) -> std::io::Result<Option<Vec<u8>>> {
    Ok(match &row.segment {
        None | Some(DraftSegment::Copy(_)) => None,
        Some(DraftSegment::New(bytes)) => Some(bytes.clone()),
        Some(DraftSegment::Line(span, edits)) => {
            Some(Draft::default().render_line(&lines.read_span(*span)?, edits).into_owned())
        }
    })
}

impl CheckedDraft {
    fn check_input(&self, session: Option<Id>) -> CheckInput<'_> {
        CheckInput {
            tree: &self.tree,
            resume_index: &self.resume_index,
            collector: &self.checks,
            problems: &self.problems,
            resume: &self.resume,
            newest: self.newest.as_ref().unwrap_or(&self.resume),
            session,
            live: false,
        }
    }

    /// Returns what the session's client and the newest one load.
    pub(super) fn outcomes(&self) -> [&ResumeOutcome; 2] {
        [&self.resume, self.newest.as_ref().unwrap_or(&self.resume)]
    }

    /// Returns the number of reachable entries and of all entries.
    pub(super) fn reachable_entries(&self) -> ReachableEntries {
        let total = self.resume.entries;
        ReachableEntries { reachable: total.saturating_sub(self.resume.lost_count()), total }
    }
}
