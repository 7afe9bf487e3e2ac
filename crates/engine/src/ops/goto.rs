//! Moves the point from which the next resume goes on: lines are added, none is changed.

use std::path::PathBuf;

use rethread_core::edit::{Draft, Envelope, ResumeMarker, UuidMap, required_entries};
use rethread_core::entry::Timestamp;
use rethread_core::id::Id;
use rethread_core::tree::NodeId;

use super::selector::EntrySelector;
use crate::Error;
use crate::edit::edit_session::{AppendSimulator, EditSession, ExpectedLoad, matches_expected, with_entry};
use crate::session::load::SessionHeader;
use crate::writer::{FileOp, OpId, Plan, SessionWriter};

/// Where to go.
#[derive(Debug, Clone)]
pub struct GotoRequest {
    /// The session file.
    pub path: PathBuf,
    /// The point.
    pub at: EntrySelector,
    /// The present.
    pub now: Timestamp,
    /// Only say what would be done.
    pub dry_run: bool,
    /// Also while a client has the session open.
    pub even_if_live: bool,
}

/// What was done, or would be.
#[derive(Debug)]
pub struct GotoOutcome {
    /// Which session it is.
    pub head: SessionHeader,
    /// The entry that the client went on from until now.
    pub from: Option<EntryRef>,
    /// The entry that it goes on from.
    pub to: EntryRef,
    /// What is promised of each client.
    pub promises: Vec<ExpectedLoad>,
    /// How many lines were written a second time, because a compaction stands between.
    pub replayed: usize,
    /// The lines that were added.
    pub added: Vec<u8>,
    /// The operation; `None` where nothing was written.
    pub op: Option<OpId>,
}

/// An entry, to be told.
#[derive(Debug, Clone)]
pub struct EntryRef {
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
    promises: Vec<ExpectedLoad>,
    replayed: usize,
}

/// Moves the point of a session.
pub fn goto(request: &GotoRequest, pen: &SessionWriter) -> Result<GotoOutcome, Error> {
    let (mut source, growth) = EditSession::open_to_grow(&request.path)?;
    let to = source.point(&request.at)?;
    let from = source.session.active().leaf.map(|no| source.stand(no));
    let stand = source.stand(to);
    let moved = match append_marker(&mut source, &growth, to, request.now)? {
        Some(moved) => moved,
        None => replay(&mut source, &growth, to, request.now)?
            .ok_or_else(|| Error::CannotResumeFrom { name: stand.handle.clone() })?,
    };
    let head = source.session.head();
    let op =
        if request.dry_run { None } else { Some(write(&source, &growth, request, &stand, &moved, pen)?) };
    let Move { added, promises, replayed } = moved;
    Ok(GotoOutcome { head, from, to: stand, promises, replayed, added, op })
}

/// Hangs the two lines on the entry itself; `None` where some client would not come there.
fn append_marker(
    source: &mut EditSession,
    growth: &AppendSimulator,
    to: NodeId,
    now: Timestamp,
) -> Result<Option<Move>, Error> {
    let Some(promises) = source.promise_at(to) else { return Ok(None) };
    let leaf = source.uuid(to);
    let added = [source.gap(), &source.anchor(to, &leaf, now)?].concat();
    let found = growth.with(source, &added).promises(&source.clients());
    Ok(matches_expected(&promises, &found).then_some(Move { added, promises, replayed: 0 }))
}

/// Writes the way to the entry a second time, under new names, and the two lines behind it.
fn replay(
    source: &mut EditSession,
    growth: &AppendSimulator,
    to: NodeId,
    now: Timestamp,
) -> Result<Option<Move>, Error> {
    let (tree, facts) = (&source.session.tree, &source.session.facts);
    let way = required_entries(tree, facts, &source.clients(), to);
    let mut names = UuidMap::default();
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
    let promises = crate::edit::edit_session::ParsedLines::of(&added).promises(&clients);
    let found = growth.with(source, &added).promises(&clients);
    let sent = promises.iter().all(|promise| !promise.path.is_empty());
    Ok((sent && matches_expected(&promises, &found)).then_some(Move { added, promises, replayed: way.len() }))
}

fn write(
    source: &EditSession,
    growth: &AppendSimulator,
    request: &GotoRequest,
    to: &EntryRef,
    moved: &Move,
    pen: &SessionWriter,
) -> Result<OpId, Error> {
    let path = request.path.clone();
    let bytes = moved.added.clone();
    let turn = to.turn.map(|turn| format!(" t{turn}")).unwrap_or_default();
    let plan = Plan {
        command: "goto",
        session: source.session.id.clone(),
        about: format!("to {}{turn}", to.handle),
        deeds: vec![FileOp::Append { path: path.clone(), stamp: source.stamp, bytes }],
        even_if_live: request.even_if_live,
    };
    pen.commit(plan, || {
        // What was read before is as it was: the pen saw to that. Only what stands behind it is read again.
        let added = source.added_since().map_err(Error::reading(&path))?;
        let found = growth.with(source, &added).promises(&source.clients());
        if matches_expected(&moved.promises, &found) {
            Ok(())
        } else {
            Err(Error::VerificationFailed { path: path.clone() })
        }
    })
}

impl EditSession {
    /// Tells an entry.
    pub(crate) fn stand(&mut self, no: NodeId) -> EntryRef {
        let turn = self.session.tree.turn_of(no);
        let number = |turn| self.session.tree.turns().position(|no| no == turn).map(|k| k as u32 + 1);
        EntryRef {
            handle: self.session.handle(no),
            uuid: self.uuid(no),
            line: self.session.tree.node(no).place.line,
            turn: turn.and_then(number),
            prompt: self.prompt_of(no),
        }
    }

    /// Writes the two lines that make clients go on from `leaf`, which is or stands for the entry `at`.
    pub(crate) fn anchor(&mut self, at: NodeId, leaf: &str, now: Timestamp) -> Result<Vec<u8>, Error> {
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
        at: NodeId,
        leaf: &str,
        envelope: &Envelope,
        now: Timestamp,
    ) -> Result<Vec<u8>, Error> {
        let prompt = self.prompt_of(at);
        let time = self.after_all(now);
        let line = self.read(self.session.tree.node(at).place)?;
        let version = self.session.facts.version().map(str::to_owned);
        let uuid = uuid::Uuid::new_v4().to_string();
        let write = |cwd: Option<&str>, git_branch: Option<&str>, entrypoint: Option<&str>| {
            let anchor = ResumeMarker {
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
            [anchor.marker_line(), anchor.leaf_pointer_line(), Vec::new()].join(&b'\n')
        };
        let lines = with_entry(&line, |entry| {
            let text =
                |text: Option<rethread_core::entry::JsonStr<'_>>| text.map(|text| text.decode().into_owned());
            let (cwd, branch, entry) = (text(entry.cwd), text(entry.git_branch), text(entry.entrypoint));
            let cwd = cwd.map(|cwd| envelope.moved(&cwd).unwrap_or(cwd));
            write(cwd.as_deref(), branch.as_deref(), entry.as_deref())
        });
        lines.ok_or_else(|| Error::Changed { path: self.session.path.clone() })
    }
}
