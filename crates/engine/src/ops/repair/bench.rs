//! A draft under repair: its rows, and what a doctor says of them.

use std::path::PathBuf;

use rethread_core::edit::{Change, Draft, Piece, Step, alter, stamp};
use rethread_core::entry::{Kind, Moment, Reader};
use rethread_core::health::{Checkup, Code, Finding, Patient, examine};
use rethread_core::id::Id;
use rethread_core::lines::Line;
use rethread_core::mend::{Act, Calls, Edit, Extract, Mended, Treatment, Ward};
use rethread_core::problem::Problem;
use rethread_core::resume::{Facts, Resume, resume};
use rethread_core::tree::{NodeNo, Place, Tree, Weaver};

use super::super::doctor::{client_of, newest};
use super::salvage::Salvage;
use crate::Failure;
use crate::disk::Lines;

/// One line of the draft.
#[derive(Debug, Clone)]
pub(super) struct Row {
    /// The line of the file that it comes from.
    pub(super) line: Option<u32>,
    /// What it holds; nothing where it was left out.
    pub(super) piece: Option<Piece>,
}

/// A draft, and what was done to it.
pub(super) struct Bench {
    path: PathBuf,
    lines: Lines,
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
    pub(super) mended: Mended,
    /// The line of the file that it hangs on now.
    pub(super) to_line: Option<u32>,
}

/// A draft that was examined.
pub(super) struct Examined {
    pub(super) tree: Tree,
    pub(super) facts: Facts,
    pub(super) findings: Vec<Finding>,
    pub(super) resume: Resume,
    newest: Option<Resume>,
    checkup: Checkup,
    calls: Calls,
    problems: Vec<Problem>,
}

impl Bench {
    pub(super) fn new(path: PathBuf, salvage: Salvage) -> Result<Bench, Failure> {
        let lines = Lines::open(&path).map_err(Failure::reading(&path))?;
        let stem = path.file_stem().map(std::ffi::OsStr::as_encoded_bytes).unwrap_or_default();
        let session = Id::is_uuid(stem).then(|| Id::of(stem));
        let done =
            salvage.mends.into_iter().map(|mended| Done { line: Some(mended.line), mended, to_line: None });
        Ok(Bench {
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
    pub(super) fn examine(&mut self) -> Result<Examined, Failure> {
        let mut weaver = Weaver::comparing();
        let (mut facts, mut checkup, mut calls) = (Facts::default(), Checkup::default(), Calls::default());
        let mut problems = Vec::new();
        let mut reader = Reader::default();
        let mut offset = 0;
        let mut take = |no: u32, bytes: &[u8]| {
            let line = Line { no, offset, bytes, open: false };
            reader.read(&line, &mut problems, |entry, offset| {
                let len = u32::try_from(entry.raw.len()).unwrap_or(u32::MAX);
                let place = Place { offset, len, line: no };
                weaver.add(&entry, place);
                facts.add(&entry, place);
                checkup.add(&entry, place);
                calls.add(&entry);
            });
            offset += bytes.len() as u64 + 1;
        };
        let count = self.rows.len() as u32;
        for (no, row) in (1..).zip(&self.rows) {
            if let Some(bytes) = read(row, &mut self.lines).map_err(Failure::reading(&self.path))? {
                take(no, &bytes);
            }
        }
        for (no, line) in (count + 1..).zip(&self.anchor) {
            take(no, line);
        }
        let tree = weaver.finish();
        checkup.finish(&tree, offset);
        let (client, newest) = (client_of(&facts), newest());
        let resumed = resume(&tree, &facts, &client);
        let latest = (client.numbers() < newest.numbers()).then(|| resume(&tree, &facts, &newest));
        let mut examined = Examined {
            tree,
            facts,
            findings: Vec::new(),
            resume: resumed,
            newest: latest,
            checkup,
            calls,
            problems,
        };
        examined.findings = examine(&examined.patient(self.session));
        Ok(examined)
    }

    /// Lets a round of mending work on the draft; says whether it did anything.
    pub(super) fn treat(
        &mut self,
        examined: &Examined,
        round: impl FnOnce(&mut Ward<'_>) -> Treatment,
    ) -> bool {
        let patient = examined.patient(self.session);
        let (rows, lines) = (&self.rows, &mut self.lines);
        let mut read = |no: u32| {
            let row = rows.get((no as usize).checked_sub(1)?)?;
            self::read(row, lines).ok().flatten()
        };
        let mut fresh = || uuid::Uuid::new_v4().to_string();
        let treatment = round(&mut Ward {
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

    fn apply(&mut self, treatment: Treatment) {
        let line_of = |line: u32| self.rows.get((line as usize).wrapping_sub(1)).and_then(|row| row.line);
        for mended in treatment.mends {
            let to_line = match &mended.act {
                Act::Relinked { to_line, .. } => to_line.and_then(line_of),
                Act::Followed { to_line, .. } => line_of(*to_line),
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
            let row = Row { line: None, piece: Some(Piece::New(bytes)) };
            self.rows.insert((line as usize).min(self.rows.len()), row);
        }
        for (from, to) in treatment.moved {
            if self.leaf.as_ref() == Some(&from) {
                self.leaf = to;
            }
        }
    }

    fn change(&mut self, line: u32, more: Vec<Change>) {
        match self.rows.get_mut(line as usize - 1).and_then(|row| row.piece.as_mut()) {
            Some(Piece::Line(_, changes)) => changes.extend(more),
            Some(Piece::New(bytes)) => {
                if let Some(altered) = alter(bytes, &more) {
                    *bytes = altered;
                }
            }
            _ => {}
        }
    }

    /// Gives the entry to go on from a moment: clients load nothing that goes on from one without.
    pub(super) fn date(&mut self, tree: &Tree, leaf: NodeNo, now: Moment) {
        let speaks = |no: NodeNo| matches!(tree.node(no).kind, Kind::User | Kind::Assistant);
        let mut speaker = Some(leaf);
        while let Some(no) = speaker.filter(|&no| !speaks(no)) {
            speaker = tree.node(no).parent();
        }
        let Some(no) = speaker.filter(|&no| tree.node(no).time().is_none()) else { return };
        let before = (0..no).rev().find_map(|no| tree.node(no).time());
        let line = tree.node(no).place.line;
        let moment = stamp(before.map_or(now, |before| Moment(before.0.saturating_add(1))));
        self.change(line, vec![Change::say([Step::from("timestamp")], &moment)]);
        let mended = Mended { code: Code::NoConversation, line, act: Act::Dated(moment) };
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
        super::super::source::with_entry(&bytes, |entry| entry.uuid.map(|uuid| uuid.decode().into_owned()))?
    }
}

/// Reads a row as it will be.
fn read(row: &Row, lines: &mut Lines) -> std::io::Result<Option<Vec<u8>>> {
    Ok(match &row.piece {
        None | Some(Piece::Copy(_)) => None,
        Some(Piece::New(bytes)) => Some(bytes.clone()),
        Some(Piece::Line(place, changes)) => {
            Some(Draft::default().render(&lines.read(*place)?, changes).into_owned())
        }
    })
}

impl Examined {
    fn patient(&self, session: Option<Id>) -> Patient<'_> {
        Patient {
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
