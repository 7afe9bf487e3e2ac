//! Runs a repair: salvage, round after round of mending, the write, and the doctor again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rethread_core::edit::{Anchor, Draft, Piece};
use rethread_core::entry::{Kind, Moment};
use rethread_core::health::Finding;
use rethread_core::id::{Id, IdSet};
use rethread_core::mend::{
    Act, Extract, Mended, Wishes, calls_for_repair, leave_out_foreign, mend_content, relink, rename,
};
use rethread_core::tree::NodeNo;

use super::super::doctor::{Diagnosis, diagnose};
use super::super::load::load_to_tell;
use super::super::offspring::{Birth, More, Offspring, aside};
use super::super::point::Where;
use super::super::pour::{foresee, pour};
use super::super::source::{Known, Promise, Source, kept};
use super::bench::{Bench, Done, Examined};
use super::place::in_place;
use super::salvage::{ranges, salvage};
use crate::Failure;
use crate::write::{Content, Deed, OpNo, Pen, Plan};

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
    pub leaf: Option<Where>,
    /// The present.
    pub now: Moment,
    /// Only say what would be done.
    pub dry_run: bool,
    /// Write although somebody may be at work in the session.
    pub even_if_live: bool,
}

/// What a doctor says of a session.
#[derive(Debug)]
pub struct Prognosis {
    /// What is wrong.
    pub findings: Vec<Finding>,
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
    pub mended: Mended,
}

/// What was written, or would be.
#[derive(Debug)]
pub enum Written {
    /// A new session.
    New(Box<Offspring>),
    /// The session itself.
    InPlace {
        /// What is promised of each client.
        promises: Vec<Promise>,
        /// The operation; `None` where nothing was written.
        op: Option<OpNo>,
    },
}

/// What a repair came to.
#[derive(Debug)]
pub struct Repair {
    /// What was wrong before.
    pub before: Diagnosis,
    /// What was mended; empty where nothing called for repair.
    pub mends: Vec<Repaired>,
    /// What is wrong afterwards.
    pub after: Prognosis,
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
pub fn repair(request: &RepairRequest, pen: &Pen) -> Result<Repair, Failure> {
    let mut source = Source::open(&request.path)?;
    let before = diagnose(&request.path)?;
    if !calls_for_repair(&before.findings) || source.session.tree.is_side_file() {
        return Ok(Repair::nothing(before));
    }
    let salvage = salvage(&request.path, &before.findings)?;
    let damaged = salvage.damaged.clone();
    let mut bench = Bench::new(request.path.clone(), salvage)?;
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
        if request.in_place { job.replace(&mut source, pen)? } else { job.bear(source, pen)? };
    let after = match &written {
        Written::New(born) if born.op.is_some() => prognosis(&born.path)?,
        Written::InPlace { op: Some(_), .. } => prognosis(&request.path)?,
        _ => Prognosis { reach: examined.reach(), findings: examined.findings },
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
    fn nothing(before: Diagnosis) -> Repair {
        let after = Prognosis { findings: before.findings.clone(), reach: before.within_reach() };
        Repair { before, mends: Vec::new(), after, damaged: None, pictures: Vec::new(), written: None }
    }
}

fn prognosis(path: &Path) -> Result<Prognosis, Failure> {
    let diagnosis = diagnose(path)?;
    Ok(Prognosis { reach: diagnosis.within_reach(), findings: diagnosis.findings })
}

/// Whether something is loaded differently because of an act.
fn moves(act: &Act) -> bool {
    matches!(act, Act::Salvaged(_) | Act::Relinked { .. } | Act::Renamed(_))
}

/// Mends names and links until they hold.
fn mend_links(bench: &mut Bench) -> Result<Examined, Failure> {
    for _ in 0..ROUNDS {
        let examined = bench.examine()?;
        let worked = bench.treat(&examined, leave_out_foreign)
            || bench.treat(&examined, rename)
            || bench.treat(&examined, relink);
        if !worked {
            return Ok(examined);
        }
    }
    bench.examine()
}

/// Mends what is sent until nothing is refused.
fn mend_sent(bench: &mut Bench, source: &Source, request: &RepairRequest) -> Result<Examined, Failure> {
    let wishes = Wishes { drop_unpaired: request.drop_unpaired, extract: request.extract.is_some() };
    let mut answered = IdSet::default();
    for _ in 0..ROUNDS {
        let leaf = bench.leaf.clone();
        let leaf = leaf.ok_or_else(|| Failure::NothingToLoad { path: request.path.clone() })?;
        bench.anchor = anchor(source, &leaf, request.now);
        let examined = bench.examine()?;
        if !bench.treat(&examined, |ward| mend_content(ward, wishes, &mut answered)) {
            return Ok(examined);
        }
    }
    bench.examine()
}

/// Makes the two lines that clients go on from, as far as they decide what is loaded.
fn anchor(source: &Source, leaf: &str, now: Moment) -> Vec<Vec<u8>> {
    let uuid = uuid::Uuid::new_v4().to_string();
    let time = Some(source.after_all(now));
    let anchor = Anchor { leaf, uuid: &uuid, session: &source.session.id, time, ..Anchor::default() };
    vec![anchor.child(), anchor.pin()]
}

/// Chooses the entry to go on from: the one asked for; where links were mended the newest, else the client's.
fn choose_leaf(
    bench: &mut Bench,
    source: &Source,
    request: &RepairRequest,
    examined: &Examined,
    moved: bool,
) -> Result<(), Failure> {
    let tree = &examined.tree;
    let line = match &request.leaf {
        Some(at) => {
            let place = source.session.tree.node(source.point(at)?).place;
            let is_it = |piece: &Piece| match piece {
                Piece::Line(here, _) => here.offset == place.offset,
                _ => true,
            };
            let found = bench
                .rows
                .iter()
                .position(|row| row.line == Some(place.line) && row.piece.as_ref().is_some_and(is_it));
            found.ok_or_else(|| Failure::NoPoint { name: at.name.clone() })? as u32 + 1
        }
        None => {
            let speaks = |no: &NodeNo| {
                tree.is_told(*no) && matches!(tree.node(*no).kind, Kind::User | Kind::Assistant)
            };
            let newest = (0..tree.nodes().len() as NodeNo).rev().find(speaks);
            let chosen = examined.resume.leaf.filter(|_| !moved && examined.resume.halt.is_none());
            let leaf = chosen.map(|(leaf, _)| leaf).or(newest);
            let leaf = leaf.ok_or_else(|| Failure::NothingToLoad { path: request.path.clone() })?;
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
fn pictures(bench: &Bench, request: &RepairRequest, session: &str) -> Vec<(PathBuf, Vec<u8>)> {
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
    bench: &'j Bench,
    examined: &'j Examined,
    damaged: &'j BTreeSet<u32>,
    moved: bool,
    pictures: &'j [(PathBuf, Vec<u8>)],
}

impl Job<'_> {
    fn pieces(&self) -> Vec<Piece> {
        self.bench.rows.iter().filter_map(|row| row.piece.clone()).collect()
    }

    fn leaf(&self) -> Result<String, Failure> {
        let path = || self.request.path.clone();
        self.bench.leaf.clone().ok_or_else(|| Failure::NothingToLoad { path: path() })
    }

    /// Finds the entry of the file that stands for the leaf: itself, or the line that it was put behind.
    fn stand(&self, source: &Source) -> Result<NodeNo, Failure> {
        let tree = &self.examined.tree;
        let leaf = tree.find(Id::of(self.leaf()?.as_bytes())).map(|no| tree.node(no).place.line as usize);
        let nodes = source.session.tree.nodes();
        let rows = &self.bench.rows[..leaf.unwrap_or(0)];
        let node = |line: u32| nodes.iter().rposition(|node| node.place.line == line);
        let found = rows.iter().rev().find_map(|row| node(row.line?));
        let path = || self.request.path.clone();
        found.map(|no| no as NodeNo).ok_or_else(|| Failure::NothingToLoad { path: path() })
    }

    fn about(&self) -> String {
        let mends = self.bench.done.len();
        format!("{mends} {}", if mends == 1 { "mend" } else { "mends" })
    }

    /// Reads the damaged lines as they stand in the file.
    fn damage(&self, source: &mut Source) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        for (line, range) in ranges(&self.request.path, self.damaged)? {
            let len = u32::try_from(range.end - range.start).unwrap_or(u32::MAX);
            bytes.extend(source.read(rethread_core::tree::Place { offset: range.start, len, line })?);
            if bytes.last() != Some(&b'\n') {
                bytes.push(b'\n');
            }
        }
        Ok(bytes)
    }

    fn deeds(&self) -> Vec<Deed<'static>> {
        let deed = |(path, bytes): &(PathBuf, Vec<u8>)| Deed::Create {
            path: path.clone(),
            content: Content::Bytes(bytes.clone()),
        };
        self.pictures.iter().map(deed).collect()
    }

    /// Makes a new session.
    fn bear(&self, mut source: Source, pen: &Pen) -> Result<(Written, Option<PathBuf>), Failure> {
        let leaf = self.stand(&source)?;
        let birth = Birth {
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
        let more = More { leaf: Some(self.leaf()?), whole: true, damage, deeds: self.deeds() };
        let born = birth.give_with(more, source, pen)?;
        let aside = any.then(|| aside(&born.path, &born.id));
        Ok((Written::New(Box::new(born)), aside))
    }

    /// Mends the file itself.
    fn replace(&self, source: &mut Source, pen: &Pen) -> Result<(Written, Option<PathBuf>), Failure> {
        let path = &self.request.path;
        let clients = source.clients();
        let at = self.stand(source)?;
        let behind = source.anchor(at, &self.leaf()?, self.request.now)?;
        let behind: Vec<Vec<u8>> =
            behind.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect();
        let mut draft = Draft { pieces: self.pieces(), envelope: None };
        let (alone, _) = foresee(&draft, path, &clients)?;
        draft.pieces.extend(behind.iter().cloned().map(Piece::New));
        let (promises, _) = foresee(&draft, path, &clients)?;
        if promises.iter().any(|promise| promise.path.is_empty()) {
            return Err(Failure::NoWay { name: source.session.handle(at) });
        }
        // Where clients go on from there anyway, nothing is added.
        let behind = if self.moved || !kept(&promises, &alone) { behind } else { Vec::new() };
        let shape = (source.stamp.len, source.stamp.open_end);
        let draft = in_place(path, &self.bench.rows, self.damaged, shape, behind)?;
        let damage = self.damage(source)?;
        let beside = (!damage.is_empty()).then(|| free(&aside(path, &source.session.id)));
        if self.request.dry_run {
            return Ok((Written::InPlace { promises, op: None }, beside));
        }
        let mut deeds = self.deeds();
        deeds.extend(beside.clone().map(|path| Deed::Create { path, content: Content::Bytes(damage) }));
        let made = Content::Made(Box::new(|out| pour(&draft, path, out)));
        deeds.push(Deed::Replace { path: path.clone(), stamp: source.stamp, content: made });
        let plan = Plan {
            command: "repair",
            session: source.session.id.clone(),
            about: self.about(),
            deeds,
            even_if_live: self.request.even_if_live,
        };
        let op = pen.commit(plan, || {
            let session = load_to_tell(path)?;
            let found = Known { tree: session.tree, facts: session.facts }.promises(&clients);
            if kept(&promises, &found) { Ok(()) } else { Err(Failure::BrokenPromise { path: path.clone() }) }
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
