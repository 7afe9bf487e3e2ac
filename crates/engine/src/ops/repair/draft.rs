//! A draft under repair: its rows, and what a doctor says of them.

use std::path::PathBuf;

use rethread_core::check::{CheckCollector, CheckInput, Code, Diagnostic, run_checks};
use rethread_core::edit::{Draft, DraftSegment, JsonEdit, PathSegment, apply_edits, format_timestamp};
use rethread_core::entry::{Kind, Reader, Timestamp};
use rethread_core::fix::{AppliedFix, Calls, Edit, Extract, FixAction, FixSet, RepairContext};
use rethread_core::id::Id;
use rethread_core::lines::Line;
use rethread_core::problem::Problem;
use rethread_core::resume::{ResumeIndex, ResumeOutcome, simulate_resume};
use rethread_core::tree::{LineSpan, NodeId, Tree, TreeBuilder};

use super::super::doctor::{client_of, newest};
use super::recover::Salvage;
use crate::Error;
use crate::disk::LineReader;

/// One line of the draft.
#[derive(Debug, Clone)]
pub(super) struct Row {
    /// The line of the file that it comes from.
    pub(super) line: Option<u32>,
    /// What it holds; nothing where it was left out.
    pub(super) piece: Option<DraftSegment>,
}

/// A draft, and what was done to it.
pub(super) struct RepairDraft {
    path: PathBuf,
    lines: LineReader,
    session: Option<Id>,
    pub(super) rows: Vec<Row>,
    pub(super) done: Vec<Done>,
    pub(super) pictures: Vec<(Option<u32>, Extract)>,
    /// The uuid of the entry to go on from, once it is known.
    pub(super) leaf: Option<String>,
    /// Two lines that make clients go on from there, while the draft is examined.
    pub(super) anchor: Vec<Vec<u8>>,
}

/// Something that was mended, in terms of the file.
pub(super) struct Done {
    /// The line of the file; none for a line that was added.
    pub(super) line: Option<u32>,
    pub(super) mended: AppliedFix,
    /// The line of the file that it hangs on now.
    pub(super) to_line: Option<u32>,
}

/// A draft that was examined.
pub(super) struct CheckedDraft {
    pub(super) tree: Tree,
    pub(super) facts: ResumeIndex,
    pub(super) findings: Vec<Diagnostic>,
    pub(super) resume: ResumeOutcome,
    newest: Option<ResumeOutcome>,
    checkup: CheckCollector,
    calls: Calls,
    problems: Vec<Problem>,
}

impl RepairDraft {
    pub(super) fn new(path: PathBuf, salvage: Salvage) -> Result<RepairDraft, Error> {
        let lines = LineReader::open(&path).map_err(Error::reading(&path))?;
        let stem = path.file_stem().map(std::ffi::OsStr::as_encoded_bytes).unwrap_or_default();
        let session = Id::is_uuid(stem).then(|| Id::of(stem));
        let done =
            salvage.mends.into_iter().map(|mended| Done { line: Some(mended.line), mended, to_line: None });
        Ok(RepairDraft {
            path,
            lines,
            session,
            rows: salvage.rows,
            done: done.collect(),
            pictures: Vec::new(),
            leaf: None,
            anchor: Vec::new(),
        })
    }

    /// Reads the draft as a client would, with the two lines behind it.
    pub(super) fn examine(&mut self) -> Result<CheckedDraft, Error> {
        let mut weaver = TreeBuilder::with_content_hashes();
        let (mut facts, mut checkup, mut calls) =
            (ResumeIndex::default(), CheckCollector::default(), Calls::default());
        let mut problems = Vec::new();
        let mut reader = Reader::default();
        let mut offset = 0;
        let mut take = |no: u32, bytes: &[u8]| {
            let line = Line { no, offset, bytes, unterminated: false };
            reader.read(&line, &mut problems, |entry, offset| {
                let len = u32::try_from(entry.raw.len()).unwrap_or(u32::MAX);
                let place = LineSpan { offset, len, line: no };
                weaver.add(&entry, place);
                facts.add(&entry, place);
                checkup.add(&entry, place);
                calls.add(&entry);
            });
            offset += bytes.len() as u64 + 1;
        };
        let count = self.rows.len() as u32;
        for (no, row) in (1..).zip(&self.rows) {
            if let Some(bytes) = read(row, &mut self.lines).map_err(Error::reading(&self.path))? {
                take(no, &bytes);
            }
        }
        for (no, line) in (count + 1..).zip(&self.anchor) {
            take(no, line);
        }
        let tree = weaver.finish();
        checkup.finish(&tree, offset);
        let (client, newest) = (client_of(&facts), newest());
        let resumed = simulate_resume(&tree, &facts, &client);
        let latest = (client.numbers() < newest.numbers()).then(|| simulate_resume(&tree, &facts, &newest));
        let mut examined = CheckedDraft {
            tree,
            facts,
            findings: Vec::new(),
            resume: resumed,
            newest: latest,
            checkup,
            calls,
            problems,
        };
        examined.findings = run_checks(&examined.patient(self.session));
        Ok(examined)
    }

    /// Lets a round of mending work on the draft; says whether it did anything.
    pub(super) fn apply_round(
        &mut self,
        examined: &CheckedDraft,
        round: impl FnOnce(&mut RepairContext<'_>) -> FixSet,
    ) -> bool {
        let patient = examined.patient(self.session);
        let (rows, lines) = (&self.rows, &mut self.lines);
        let mut read = |no: u32| {
            let row = rows.get((no as usize).checked_sub(1)?)?;
            self::read(row, lines).ok().flatten()
        };
        let mut fresh = || uuid::Uuid::new_v4().to_string();
        let treatment = round(&mut RepairContext {
            patient: &patient,
            findings: &examined.findings,
            calls: &examined.calls,
            lines: rows.len() as u32,
            read: &mut read,
            fresh: &mut fresh,
        });
        let any = !treatment.is_empty();
        self.apply(treatment);
        any
    }

    fn apply(&mut self, treatment: FixSet) {
        let line_of = |line: u32| self.rows.get((line as usize).wrapping_sub(1)).and_then(|row| row.line);
        for mended in treatment.mends {
            let to_line = match &mended.act {
                FixAction::Relinked { to_line, .. } => to_line.and_then(line_of),
                FixAction::Followed { to_line, .. } => line_of(*to_line),
                _ => None,
            };
            self.done.push(Done { line: line_of(mended.line), mended, to_line });
        }
        self.pictures.extend(treatment.pictures.into_iter().map(|picture| (line_of(picture.line), picture)));
        let mut added: Vec<(u32, Vec<u8>)> = Vec::new();
        for edit in treatment.edits {
            match edit {
                Edit::Change(line, changes) => self.change(line, changes),
                Edit::Drop(line) => {
                    if let Some(row) = self.rows.get_mut(line as usize - 1) {
                        row.piece = None;
                    }
                }
                Edit::Insert(line, bytes) => added.push((line, bytes)),
            }
        }
        // From the end, so that lines before stay where they are.
        added.sort_by_key(|(line, _)| std::cmp::Reverse(*line));
        for (line, bytes) in added {
            let row = Row { line: None, piece: Some(DraftSegment::New(bytes)) };
            self.rows.insert((line as usize).min(self.rows.len()), row);
        }
        for (from, to) in treatment.moved {
            if self.leaf.as_ref() == Some(&from) {
                self.leaf = to;
            }
        }
    }

    fn change(&mut self, line: u32, more: Vec<JsonEdit>) {
        match self.rows.get_mut(line as usize - 1).and_then(|row| row.piece.as_mut()) {
            Some(DraftSegment::Line(_, changes)) => changes.extend(more),
            Some(DraftSegment::New(bytes)) => {
                if let Some(altered) = apply_edits(bytes, &more) {
                    *bytes = altered;
                }
            }
            _ => {}
        }
    }

    /// Gives the entry to go on from a moment: clients load nothing that goes on from one without.
    pub(super) fn date(&mut self, tree: &Tree, leaf: NodeId, now: Timestamp) {
        let speaks = |no: NodeId| matches!(tree.node(no).kind, Kind::User | Kind::Assistant);
        let mut speaker = Some(leaf);
        while let Some(no) = speaker.filter(|&no| !speaks(no)) {
            speaker = tree.node(no).parent();
        }
        let Some(no) = speaker.filter(|&no| tree.node(no).time().is_none()) else { return };
        let before = (0..no).rev().find_map(|no| tree.node(no).time());
        let line = tree.node(no).place.line;
        let moment = format_timestamp(before.map_or(now, |before| Timestamp(before.0.saturating_add(1))));
        self.change(line, vec![JsonEdit::set_string([PathSegment::from("timestamp")], &moment)]);
        let mended = AppliedFix { code: Code::NoConversation, line, act: FixAction::Dated(moment) };
        self.done.push(Done {
            line: self.rows.get(line as usize - 1).and_then(|row| row.line),
            mended,
            to_line: None,
        });
    }

    /// Returns the uuid of the entry in a row.
    pub(super) fn uuid(&mut self, line: u32) -> Option<String> {
        let row = self.rows.get((line as usize).checked_sub(1)?)?;
        let bytes = read(row, &mut self.lines).ok()??;
        crate::edit::edit_session::with_entry(&bytes, |entry| {
            entry.uuid.map(|uuid| uuid.decode().into_owned())
        })?
    }
}

/// Reads a row as it will be.
fn read(row: &Row, lines: &mut LineReader) -> std::io::Result<Option<Vec<u8>>> {
    Ok(match &row.piece {
        None | Some(DraftSegment::Copy(_)) => None,
        Some(DraftSegment::New(bytes)) => Some(bytes.clone()),
        Some(DraftSegment::Line(place, changes)) => {
            Some(Draft::default().render(&lines.read(*place)?, changes).into_owned())
        }
    })
}

impl CheckedDraft {
    fn patient(&self, session: Option<Id>) -> CheckInput<'_> {
        CheckInput {
            tree: &self.tree,
            facts: &self.facts,
            checkup: &self.checkup,
            problems: &self.problems,
            resume: &self.resume,
            newest: self.newest.as_ref().unwrap_or(&self.resume),
            session,
            live: false,
        }
    }

    /// Returns how many entries the client has within reach, and how many there are.
    pub(super) fn reach(&self) -> (usize, usize) {
        (self.resume.entries - self.resume.lost().min(self.resume.entries), self.resume.entries)
    }
}
