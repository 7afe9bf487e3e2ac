//! Moves the point from which the next resume goes on: lines are added, none is changed.

use std::path::PathBuf;

use rethread_core::edit::{Anchor, Draft, Envelope, Renaming, way};
use rethread_core::entry::Moment;
use rethread_core::id::Id;
use rethread_core::tree::NodeNo;

use super::load::Head;
use super::point::Where;
use super::source::{Growth, Promise, Source, kept, with_entry};
use crate::Failure;
use crate::write::{Deed, OpNo, Pen, Plan};

/// Where to go.
#[derive(Debug, Clone)]
pub struct GotoRequest {
    /// The session file.
    pub path: PathBuf,
    /// The point.
    pub at: Where,
    /// The present.
    pub now: Moment,
    /// Only say what would be done.
    pub dry_run: bool,
    /// Also while a client has the session open.
    pub even_if_live: bool,
}

/// What was done, or would be.
#[derive(Debug)]
pub struct Moved {
    /// Which session it is.
    pub head: Head,
    /// The entry that the client went on from until now.
    pub from: Option<Stand>,
    /// The entry that it goes on from.
    pub to: Stand,
    /// What is promised of each client.
    pub promises: Vec<Promise>,
    /// How many lines were written a second time, because a compaction stands between.
    pub replayed: usize,
    /// The lines that were added.
    pub added: Vec<u8>,
    /// The operation; `None` where nothing was written.
    pub op: Option<OpNo>,
}

/// An entry, to be told.
#[derive(Debug, Clone)]
pub struct Stand {
    /// Its name, to be typed.
    pub handle: String,
    /// Its uuid.
    pub uuid: String,
    /// Its line.
    pub line: u32,
    /// The number of its turn.
    pub turn: Option<u32>,
    /// The words of the prompt that it belongs to.
    pub prompt: Option<String>,
}

/// Lines that make clients go on from an entry, and what they load then.
struct Move {
    added: Vec<u8>,
    promises: Vec<Promise>,
    replayed: usize,
}

/// Moves the point of a session.
pub fn goto(request: &GotoRequest, pen: &Pen) -> Result<Moved, Failure> {
    let (mut source, growth) = Source::open_to_grow(&request.path)?;
    let to = source.point(&request.at)?;
    let from = source.session.active().leaf.map(|no| source.stand(no));
    let stand = source.stand(to);
    let moved = match plain(&mut source, &growth, to, request.now)? {
        Some(moved) => moved,
        None => replay(&mut source, &growth, to, request.now)?
            .ok_or_else(|| Failure::NoWay { name: stand.handle.clone() })?,
    };
    let head = source.session.head();
    let op =
        if request.dry_run { None } else { Some(write(&source, &growth, request, &stand, &moved, pen)?) };
    let Move { added, promises, replayed } = moved;
    Ok(Moved { head, from, to: stand, promises, replayed, added, op })
}

/// Hangs the two lines on the entry itself; `None` where some client would not come there.
fn plain(source: &mut Source, growth: &Growth, to: NodeNo, now: Moment) -> Result<Option<Move>, Failure> {
    let Some(promises) = source.promise_at(to) else { return Ok(None) };
    let leaf = source.uuid(to);
    let added = [source.gap(), &source.anchor(to, &leaf, now)?].concat();
    let found = growth.with(source, &added).promises(&source.clients());
    Ok(kept(&promises, &found).then_some(Move { added, promises, replayed: 0 }))
}

/// Writes the way to the entry a second time, under new names, and the two lines behind it.
fn replay(source: &mut Source, growth: &Growth, to: NodeNo, now: Moment) -> Result<Option<Move>, Failure> {
    let (tree, facts) = (&source.session.tree, &source.session.facts);
    let way = way(tree, facts, &source.clients(), to);
    let mut names = Renaming::default();
    for &no in &way {
        names.add(source.uuid(no), uuid::Uuid::new_v4().to_string());
    }
    let draft = Draft::default();
    let mut added = source.gap().to_vec();
    for &no in &way {
        let line = source.read(source.session.tree.node(no).place)?;
        added.extend_from_slice(&draft.render(&line, &names.changes(&line)));
        added.push(b'\n');
    }
    let leaf = names.of(Id::of(source.uuid(to).as_bytes())).unwrap_or_default().to_owned();
    added.extend(source.anchor(to, &leaf, now)?);
    // Alone in a file the lines would load as they should here.
    let clients = source.clients();
    let promises = super::source::Known::of(&added).promises(&clients);
    let found = growth.with(source, &added).promises(&clients);
    let sent = promises.iter().all(|promise| !promise.path.is_empty());
    Ok((sent && kept(&promises, &found)).then_some(Move { added, promises, replayed: way.len() }))
}

fn write(
    source: &Source,
    growth: &Growth,
    request: &GotoRequest,
    to: &Stand,
    moved: &Move,
    pen: &Pen,
) -> Result<OpNo, Failure> {
    let path = request.path.clone();
    let bytes = moved.added.clone();
    let turn = to.turn.map(|turn| format!(" t{turn}")).unwrap_or_default();
    let plan = Plan {
        command: "goto",
        session: source.session.id.clone(),
        about: format!("to {}{turn}", to.handle),
        deeds: vec![Deed::Append { path: path.clone(), stamp: source.stamp, bytes }],
        even_if_live: request.even_if_live,
    };
    pen.commit(plan, || {
        // What was read before is as it was: the pen saw to that. Only what stands behind it is read again.
        let added = source.added_since().map_err(Failure::reading(&path))?;
        let found = growth.with(source, &added).promises(&source.clients());
        if kept(&moved.promises, &found) {
            Ok(())
        } else {
            Err(Failure::BrokenPromise { path: path.clone() })
        }
    })
}

impl Source {
    /// Tells an entry.
    pub(crate) fn stand(&mut self, no: NodeNo) -> Stand {
        let turn = self.session.tree.turn_of(no);
        let number = |turn| self.session.tree.turns().position(|no| no == turn).map(|k| k as u32 + 1);
        Stand {
            handle: self.session.handle(no),
            uuid: self.uuid(no),
            line: self.session.tree.node(no).place.line,
            turn: turn.and_then(number),
            prompt: self.prompt_of(no),
        }
    }

    /// Writes the two lines that make clients go on from `leaf`, which is or stands for the entry `at`.
    pub(crate) fn anchor(&mut self, at: NodeNo, leaf: &str, now: Moment) -> Result<Vec<u8>, Failure> {
        let here = Envelope { session: self.session.id.clone(), ..Envelope::default() };
        self.anchor_in(at, leaf, &here, now)
    }

    /// Returns what ends a last line that has no end.
    fn gap(&self) -> &'static [u8] {
        if self.stamp.open_end { b"\n" } else { b"" }
    }

    /// The same in another session.
    pub(crate) fn anchor_in(
        &mut self,
        at: NodeNo,
        leaf: &str,
        envelope: &Envelope,
        now: Moment,
    ) -> Result<Vec<u8>, Failure> {
        let prompt = self.prompt_of(at);
        let time = self.after_all(now);
        let line = self.read(self.session.tree.node(at).place)?;
        let version = self.session.facts.version().map(str::to_owned);
        let uuid = uuid::Uuid::new_v4().to_string();
        let write = |cwd: Option<&str>, git_branch: Option<&str>, entrypoint: Option<&str>| {
            let anchor = Anchor {
                leaf,
                uuid: &uuid,
                session: &envelope.session,
                time: Some(time),
                words: "rethread: the conversation goes on from here",
                prompt: prompt.as_deref(),
                cwd,
                version: version.as_deref(),
                git_branch,
                entrypoint,
            };
            [anchor.child(), anchor.pin(), Vec::new()].join(&b'\n')
        };
        let lines = with_entry(&line, |entry| {
            let text =
                |text: Option<rethread_core::entry::Text<'_>>| text.map(|text| text.decode().into_owned());
            let (cwd, branch, entry) = (text(entry.cwd), text(entry.git_branch), text(entry.entrypoint));
            let cwd = cwd.map(|cwd| envelope.moved(&cwd).unwrap_or(cwd));
            write(cwd.as_deref(), branch.as_deref(), entry.as_deref())
        });
        lines.ok_or_else(|| Failure::Changed { path: self.session.path.clone() })
    }
}
