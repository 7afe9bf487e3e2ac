//! `repair`: mends what `doctor` finds, in a new session or in place.

mod destination;
mod draft;
mod recover;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rethread_core::check::Diagnostic;
use rethread_core::edit::{Draft, DraftSegment, ResumeMarker};
use rethread_core::entry::{Kind, Timestamp};
use rethread_core::fix::{
    AppliedFix, Extract, FixAction, FixOptions, assign_new_uuids, drop_foreign_lines, fix_content,
    needs_repair, relink,
};
use rethread_core::id::{Id, IdSet};
use rethread_core::tree::NodeId;

use self::destination::in_place;
use self::draft::{CheckedDraft, Done, RepairDraft};
use self::recover::{ranges, salvage};
use super::doctor::{SessionReport, diagnose};
use super::selector::EntrySelector;
use crate::Error;
use crate::edit::edit_session::{EditSession, ExpectedLoad, ParsedLines, matches_expected};
use crate::edit::new_session::{NewSession, NewSessionExtras, NewSessionSpec, aside};
use crate::edit::write_draft::{simulate_draft, write_draft};
use crate::session::load::load_to_tell;
use crate::writer::{Content, FileOp, OpId, Plan, SessionWriter};

/// What to repair, and how.
#[derive(Debug, Clone)]
pub struct RepairRequest {
    /// The session file.
    pub path: PathBuf,
    /// Mend the file itself, and do not make a new session.
    pub in_place: bool,
    /// Calls without a result leave, and do not get one.
    pub drop_unpaired: bool,
    /// Where to put pictures that leave.
    pub extract: Option<PathBuf>,
    /// Where to go on from; the newest tip, where nothing is said.
    pub leaf: Option<EntrySelector>,
    /// The present.
    pub now: Timestamp,
    /// Only say what would be done.
    pub dry_run: bool,
    /// Write although somebody may be at work in the session.
    pub even_if_live: bool,
}

/// What a doctor says of a session.
#[derive(Debug)]
pub struct AfterReport {
    /// What is wrong.
    pub findings: Vec<Diagnostic>,
    /// How many entries its client has within reach, and how many there are.
    pub reach: (usize, usize),
}

/// Something that was mended.
#[derive(Debug)]
pub struct Repaired {
    /// The line of the file; `None` for one that was added.
    pub line: Option<u32>,
    /// The line that it hangs on now.
    pub to_line: Option<u32>,
    /// What was wrong and what was done about it.
    pub mended: AppliedFix,
}

/// What was written, or would be.
#[derive(Debug)]
pub enum Written {
    /// A new session.
    New(Box<NewSession>),
    /// The session itself.
    InPlace {
        /// What is promised of each client.
        promises: Vec<ExpectedLoad>,
        /// The operation; `None` where nothing was written.
        op: Option<OpId>,
    },
}

/// What a repair came to.
#[derive(Debug)]
pub struct Repair {
    /// What was wrong before.
    pub before: SessionReport,
    /// What was mended; empty where nothing called for repair.
    pub mends: Vec<Repaired>,
    /// What is wrong afterwards.
    pub after: AfterReport,
    /// Where damaged bytes are kept.
    pub damaged: Option<PathBuf>,
    /// Pictures that were taken out.
    pub pictures: Vec<PathBuf>,
    /// What was written; `None` where nothing called for repair.
    pub written: Option<Written>,
}

/// How many rounds there are at most: each mends what the one before uncovered.
const ROUNDS: usize = 24;

/// Repairs a session.
pub fn repair(request: &RepairRequest, pen: &SessionWriter) -> Result<Repair, Error> {
    let mut source = EditSession::open(&request.path)?;
    let before = diagnose(&request.path)?;
    if !needs_repair(&before.findings) || source.session.tree.is_sidechain_file() {
        return Ok(Repair::nothing(before));
    }
    let salvage = salvage(&request.path, &before.findings)?;
    let damaged = salvage.damaged.clone();
    let mut bench = RepairDraft::new(request.path.clone(), salvage)?;
    let examined = mend_links(&mut bench)?;
    let moved = bench.done.iter().any(|done| moves(&done.mended.act));
    choose_leaf(&mut bench, &source, request, &examined, moved)?;
    let examined = mend_sent(&mut bench, &source, request)?;
    if bench.done.is_empty() {
        return Ok(Repair::nothing(before));
    }
    let pictures = pictures(&bench, request, &source.session.id);
    let job =
        Job { request, bench: &bench, examined: &examined, damaged: &damaged, moved, pictures: &pictures };
    let (written, aside) =
        if request.in_place { job.replace(&mut source, pen)? } else { job.write_new_session(source, pen)? };
    let after = match &written {
        Written::New(born) if born.op.is_some() => prognosis(&born.path)?,
        Written::InPlace { op: Some(_), .. } => prognosis(&request.path)?,
        _ => AfterReport { reach: examined.reach(), findings: examined.findings },
    };
    let told = |Done { line, mended, to_line }| Repaired { line, to_line, mended };
    Ok(Repair {
        before,
        mends: bench.done.into_iter().map(told).collect(),
        after,
        damaged: aside,
        pictures: pictures.into_iter().map(|(path, _)| path).collect(),
        written: Some(written),
    })
}

impl Repair {
    /// Nothing was mended.
    fn nothing(before: SessionReport) -> Repair {
        let after = AfterReport { findings: before.findings.clone(), reach: before.within_reach() };
        Repair { before, mends: Vec::new(), after, damaged: None, pictures: Vec::new(), written: None }
    }
}

fn prognosis(path: &Path) -> Result<AfterReport, Error> {
    let diagnosis = diagnose(path)?;
    Ok(AfterReport { reach: diagnosis.within_reach(), findings: diagnosis.findings })
}

/// Whether something is loaded differently because of an act.
fn moves(act: &FixAction) -> bool {
    matches!(act, FixAction::Salvaged(_) | FixAction::Relinked { .. } | FixAction::Renamed(_))
}

/// Mends names and links until they hold.
fn mend_links(bench: &mut RepairDraft) -> Result<CheckedDraft, Error> {
    for _ in 0..ROUNDS {
        let examined = bench.examine()?;
        let worked = bench.apply_round(&examined, drop_foreign_lines)
            || bench.apply_round(&examined, assign_new_uuids)
            || bench.apply_round(&examined, relink);
        if !worked {
            return Ok(examined);
        }
    }
    bench.examine()
}

/// Mends what is sent until nothing is refused.
fn mend_sent(
    bench: &mut RepairDraft,
    source: &EditSession,
    request: &RepairRequest,
) -> Result<CheckedDraft, Error> {
    let wishes = FixOptions { drop_unpaired: request.drop_unpaired, extract: request.extract.is_some() };
    let mut answered = IdSet::default();
    for _ in 0..ROUNDS {
        let leaf = bench.leaf.clone();
        let leaf = leaf.ok_or_else(|| Error::NothingToLoad { path: request.path.clone() })?;
        bench.anchor = anchor(source, &leaf, request.now);
        let examined = bench.examine()?;
        if !bench.apply_round(&examined, |ward| fix_content(ward, wishes, &mut answered)) {
            return Ok(examined);
        }
    }
    bench.examine()
}

/// Makes the two lines that clients go on from, as far as they decide what is loaded.
fn anchor(source: &EditSession, leaf: &str, now: Timestamp) -> Vec<Vec<u8>> {
    let uuid = uuid::Uuid::new_v4().to_string();
    let time = Some(source.after_all(now));
    let anchor =
        ResumeMarker { leaf, uuid: &uuid, session: &source.session.id, time, ..ResumeMarker::default() };
    vec![anchor.marker_line(), anchor.leaf_pointer_line()]
}

/// Chooses the entry to go on from: the one asked for; where links were mended the newest, else the client's.
fn choose_leaf(
    bench: &mut RepairDraft,
    source: &EditSession,
    request: &RepairRequest,
    examined: &CheckedDraft,
    moved: bool,
) -> Result<(), Error> {
    let tree = &examined.tree;
    let line = match &request.leaf {
        Some(at) => {
            let place = source.session.tree.node(source.point(at)?).place;
            let is_it = |piece: &DraftSegment| match piece {
                DraftSegment::Line(here, _) => here.offset == place.offset,
                _ => true,
            };
            let found = bench
                .rows
                .iter()
                .position(|row| row.line == Some(place.line) && row.piece.as_ref().is_some_and(is_it));
            found.ok_or_else(|| Error::NotAResumePoint { name: at.name.clone() })? as u32 + 1
        }
        None => {
            let speaks = |no: &NodeId| {
                tree.is_main_chain(*no) && matches!(tree.node(*no).kind, Kind::User | Kind::Assistant)
            };
            let newest = (0..tree.nodes().len() as NodeId).rev().find(speaks);
            let chosen = examined.resume.leaf.filter(|_| !moved && examined.resume.halt.is_none());
            let leaf = chosen.map(|(leaf, _)| leaf).or(newest);
            let leaf = leaf.ok_or_else(|| Error::NothingToLoad { path: request.path.clone() })?;
            tree.node(leaf).place.line
        }
    };
    bench.leaf = bench.uuid(line);
    if let Some(no) = bench.leaf.as_ref().and_then(|leaf| tree.find(Id::of(leaf.as_bytes()))) {
        bench.date(tree, no, request.now);
    }
    Ok(())
}

/// Names the files for pictures that leave.
fn pictures(bench: &RepairDraft, request: &RepairRequest, session: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let Some(folder) = &request.extract else { return Vec::new() };
    let short: String = session.chars().take(8).collect();
    let name = |line: Option<u32>, picture: &Extract| {
        let kind = picture.media.strip_prefix("image/").unwrap_or("bin");
        format!("{short}-L{}-{}.{kind}", line.unwrap_or(0), picture.number)
    };
    bench
        .pictures
        .iter()
        .map(|(line, picture)| (folder.join(name(*line, picture)), picture.bytes.clone()))
        .collect()
}

/// A repair that is ready to be written.
struct Job<'j> {
    request: &'j RepairRequest,
    bench: &'j RepairDraft,
    examined: &'j CheckedDraft,
    damaged: &'j BTreeSet<u32>,
    moved: bool,
    pictures: &'j [(PathBuf, Vec<u8>)],
}

impl Job<'_> {
    fn pieces(&self) -> Vec<DraftSegment> {
        self.bench.rows.iter().filter_map(|row| row.piece.clone()).collect()
    }

    fn leaf(&self) -> Result<String, Error> {
        let path = || self.request.path.clone();
        self.bench.leaf.clone().ok_or_else(|| Error::NothingToLoad { path: path() })
    }

    /// Finds the entry of the file that stands for the leaf: itself, or the line that it was put behind.
    fn stand(&self, source: &EditSession) -> Result<NodeId, Error> {
        let tree = &self.examined.tree;
        let leaf = tree.find(Id::of(self.leaf()?.as_bytes())).map(|no| tree.node(no).place.line as usize);
        let nodes = source.session.tree.nodes();
        let rows = &self.bench.rows[..leaf.unwrap_or(0)];
        let node = |line: u32| nodes.iter().rposition(|node| node.place.line == line);
        let found = rows.iter().rev().find_map(|row| node(row.line?));
        let path = || self.request.path.clone();
        found.map(|no| no as NodeId).ok_or_else(|| Error::NothingToLoad { path: path() })
    }

    fn about(&self) -> String {
        let mends = self.bench.done.len();
        format!("{mends} {}", if mends == 1 { "mend" } else { "mends" })
    }

    /// Reads the damaged lines as they stand in the file.
    fn damage(&self, source: &mut EditSession) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        for (line, range) in ranges(&self.request.path, self.damaged)? {
            let len = u32::try_from(range.end - range.start).unwrap_or(u32::MAX);
            bytes.extend(source.read(rethread_core::tree::LineSpan { offset: range.start, len, line })?);
            if bytes.last() != Some(&b'\n') {
                bytes.push(b'\n');
            }
        }
        Ok(bytes)
    }

    fn deeds(&self) -> Vec<FileOp<'static>> {
        let deed = |(path, bytes): &(PathBuf, Vec<u8>)| FileOp::Create {
            path: path.clone(),
            content: Content::Bytes(bytes.clone()),
        };
        self.pictures.iter().map(deed).collect()
    }

    /// Makes a new session.
    fn write_new_session(
        &self,
        mut source: EditSession,
        pen: &SessionWriter,
    ) -> Result<(Written, Option<PathBuf>), Error> {
        let leaf = self.stand(&source)?;
        let birth = NewSessionSpec {
            command: "repair",
            id: None,
            about: format!("of {}: {}", source.session.id, self.about()),
            pieces: self.pieces(),
            entries: IdSet::default(),
            leaf,
            title: source.title_for(None, "repaired")?,
            into: None,
            promises: None,
            wanted: IdSet::default(),
            now: self.request.now,
            dry_run: self.request.dry_run,
        };
        let damage = self.damage(&mut source)?;
        let any = !damage.is_empty();
        let more = NewSessionExtras { leaf: Some(self.leaf()?), whole: true, damage, deeds: self.deeds() };
        let born = birth.give_with(more, source, pen)?;
        let aside = any.then(|| aside(&born.path, &born.id));
        Ok((Written::New(Box::new(born)), aside))
    }

    /// Mends the file itself.
    fn replace(
        &self,
        source: &mut EditSession,
        pen: &SessionWriter,
    ) -> Result<(Written, Option<PathBuf>), Error> {
        let path = &self.request.path;
        let clients = source.clients();
        let at = self.stand(source)?;
        let behind = source.anchor(at, &self.leaf()?, self.request.now)?;
        let behind: Vec<Vec<u8>> =
            behind.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect();
        let mut draft = Draft { pieces: self.pieces(), envelope: None };
        let (alone, _) = simulate_draft(&draft, path, &clients)?;
        draft.pieces.extend(behind.iter().cloned().map(DraftSegment::New));
        let (promises, _) = simulate_draft(&draft, path, &clients)?;
        if promises.iter().any(|promise| promise.path.is_empty()) {
            return Err(Error::CannotResumeFrom { name: source.session.handle(at) });
        }
        // Where clients go on from there anyway, nothing is added.
        let behind = if self.moved || !matches_expected(&promises, &alone) { behind } else { Vec::new() };
        let shape = (source.stamp.len, source.stamp.open_end);
        let draft = in_place(path, &self.bench.rows, self.damaged, shape, behind)?;
        let damage = self.damage(source)?;
        let beside = (!damage.is_empty()).then(|| free(&aside(path, &source.session.id)));
        if self.request.dry_run {
            return Ok((Written::InPlace { promises, op: None }, beside));
        }
        let mut deeds = self.deeds();
        deeds.extend(beside.clone().map(|path| FileOp::Create { path, content: Content::Bytes(damage) }));
        let made = Content::Generated(Box::new(|out| write_draft(&draft, path, out)));
        deeds.push(FileOp::Replace { path: path.clone(), stamp: source.stamp, content: made });
        let plan = Plan {
            command: "repair",
            session: source.session.id.clone(),
            about: self.about(),
            deeds,
            even_if_live: self.request.even_if_live,
        };
        let op = pen.commit(plan, || {
            let session = load_to_tell(path)?;
            let found = ParsedLines { tree: session.tree, facts: session.facts }.promises(&clients);
            if matches_expected(&promises, &found) {
                Ok(())
            } else {
                Err(Error::VerificationFailed { path: path.clone() })
            }
        })?;
        Ok((Written::InPlace { promises, op: Some(op) }, beside))
    }
}

/// Returns a path at which nothing stands.
fn free(path: &Path) -> PathBuf {
    let numbered = |number: u32| path.with_extension(format!("damaged.{number}"));
    let mut others = (2..).map(numbered);
    let others = std::iter::once(path.to_owned()).chain(&mut others);
    others.into_iter().find(|path| !path.exists()).unwrap_or_else(|| path.to_owned())
}
