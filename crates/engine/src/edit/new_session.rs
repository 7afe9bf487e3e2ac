//! A new session made of lines of another: its id, its title, its state, its side files, and the proof that clients load
//! it.

use std::path::{Path, PathBuf};

use rethread_core::edit::{Draft, DraftSegment, Envelope};
use rethread_core::entry::Timestamp;
use rethread_core::id::IdSet;
use rethread_core::tree::NodeId;
use rethread_core::version::Version;

use super::edit_session::{EditSession, ExpectedLoad, ParsedLines, matches_expected};
use super::side_files::copy_side_files;
use super::title::title_lines;
use super::write_draft::{simulate_draft, write_draft};
use crate::Error;
use crate::session::load::{SessionHeader, load_to_tell};
use crate::writer::{Content, FileOp, OpId, Plan, SessionWriter};

/// A new session, or what it would be.
#[derive(Debug)]
pub struct NewSession {
    /// The session that it comes from.
    pub origin: SessionHeader,
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its file.
    pub path: PathBuf,
    /// The folder to resume it in.
    pub folder: String,
    /// How many lines of the origin it holds.
    pub lines: usize,
    /// How many bytes it has, where they were counted before it was written.
    pub bytes: u64,
    /// Files beside it: subagents, tool results, backups of files.
    pub side: usize,
    /// What is promised of each client.
    pub promises: Vec<ExpectedLoad>,
    /// The operation; `None` where nothing was written.
    pub op: Option<OpId>,
}

/// How a new session is to be made.
pub(crate) struct NewSessionSpec {
    /// The command that makes it.
    pub(crate) command: &'static str,
    /// Its id, where one of its lines says it already.
    pub(crate) id: Option<String>,
    /// Words for the log.
    pub(crate) about: String,
    /// Lines of the origin, in order.
    pub(crate) pieces: Vec<DraftSegment>,
    /// The entries of the origin that it holds.
    pub(crate) entries: IdSet,
    /// The entry that it goes on from.
    pub(crate) leaf: NodeId,
    /// Its title.
    pub(crate) title: String,
    /// The project that it goes to, if not its origin's: a folder of sessions and the folder to work in.
    pub(crate) into: Option<(PathBuf, String)>,
    /// What clients are to load, where that is known already; else it is found out from the lines.
    pub(crate) promises: Option<Vec<ExpectedLoad>>,
    /// Entries that the client of its origin must load of it.
    pub(crate) wanted: IdSet,
    /// The present.
    pub(crate) now: Timestamp,
    /// Only say what would be done.
    pub(crate) dry_run: bool,
}

/// What else a new session may need.
#[derive(Default)]
pub(crate) struct NewSessionExtras {
    /// The uuid of the entry that it goes on from, where that is another line than the origin's.
    pub(crate) leaf: Option<String>,
    /// Whether the pieces hold every line: then none is added that says how things stand.
    pub(crate) whole: bool,
    /// Damaged bytes of the origin, to be kept beside it.
    pub(crate) damage: Vec<u8>,
    /// What else is to be done.
    pub(crate) deeds: Vec<FileOp<'static>>,
}

impl NewSessionSpec {
    /// Makes the session.
    pub(crate) fn create(self, source: EditSession, pen: &SessionWriter) -> Result<NewSession, Error> {
        self.give_with(NewSessionExtras::default(), source, pen)
    }

    /// Makes the session, with more than lines of its origin.
    pub(crate) fn give_with(
        mut self,
        more: NewSessionExtras,
        mut source: EditSession,
        pen: &SessionWriter,
    ) -> Result<NewSession, Error> {
        let id = self.id.take().unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
        let origin = source.session.head();
        let path = source.session.path.clone();
        let (folder, cwd) = self.into.take().unwrap_or_else(|| {
            let beside = path.parent().unwrap_or(Path::new(""));
            (beside.to_owned(), origin.folder.clone())
        });
        let target = folder.join(format!("{id}.jsonl"));
        let moved = (cwd != origin.folder).then(|| (origin.folder.clone(), cwd.clone()));
        let envelope = Envelope { session: id.clone(), origin: Some(origin.id.clone()), folder: moved };
        let (wanted, promises) = (std::mem::take(&mut self.wanted), self.promises.take());
        let (command, about, title) = (self.command, self.about.clone(), self.title.clone());
        let (dry_run, lines) = (self.dry_run, self.pieces.len());
        let (handle, clients) = (source.session.handle(self.leaf), source.clients());
        let draft = self.lay_out(&more, envelope, &mut source)?;
        // What comes of the draft is read whole: two trees at a time would be one too many.
        drop(source);
        let (promises, bytes) = match promises {
            Some(promises) => (promises, 0),
            None => simulate_draft(&draft, &path, &clients)?,
        };
        let loaded: IdSet = promises.first().into_iter().flat_map(|own| own.path.iter().copied()).collect();
        if promises.iter().any(|promise| promise.path.is_empty()) || !wanted.is_subset(&loaded) {
            return Err(Error::CannotResumeFrom { name: handle });
        }
        drop((loaded, wanted));
        let mut deeds = copy_side_files(&path, &origin.id, &draft, &target)?;
        if !more.damage.is_empty() {
            let content = Content::Bytes(more.damage);
            deeds.push(FileOp::Create { path: aside(&target, &id), content });
        }
        deeds.extend(more.deeds);
        let side = deeds.len();
        let mut created = NewSession {
            origin,
            id,
            title,
            path: target,
            folder: cwd,
            lines,
            bytes,
            side,
            promises,
            op: None,
        };
        if !dry_run {
            let made = Content::Generated(Box::new(|out| write_draft(&draft, &path, out)));
            deeds.push(FileOp::Create { path: created.path.clone(), content: made });
            let session = created.id.clone();
            let plan = Plan { command, session, about, deeds, even_if_live: true };
            created.op = Some(pen.commit(plan, || created.check(&clients))?);
        }
        Ok(created)
    }

    /// Lays out the lines of the new session.
    fn lay_out(
        self,
        more: &NewSessionExtras,
        envelope: Envelope,
        source: &mut EditSession,
    ) -> Result<Draft, Error> {
        let leaf = more.leaf.clone().unwrap_or_else(|| source.uuid(self.leaf));
        let close = source.anchor_in(self.leaf, &leaf, &envelope, self.now)?;
        let mut pieces = own_lines(self.pieces, &envelope);
        if !more.whole {
            let standing = source.states.backups(&self.entries).chain(source.states.latest());
            pieces.extend(standing.map(|place| DraftSegment::Line(place, Vec::new())));
        }
        pieces.extend(title_lines(&self.title, &envelope.session).map(DraftSegment::New));
        let close = close.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        pieces.extend(close.map(|line| DraftSegment::New(line.to_vec())));
        Ok(Draft { pieces, envelope: Some(envelope) })
    }
}

impl NewSession {
    /// Asks the oracle whether clients load what was promised.
    fn check(&self, clients: &[Version]) -> Result<(), Error> {
        let session = load_to_tell(&self.path)?;
        let found = ParsedLines { tree: session.tree, facts: session.facts }.promises(clients);
        if matches_expected(&self.promises, &found) {
            Ok(())
        } else {
            Err(Error::VerificationFailed { path: self.path.clone() })
        }
    }
}

/// Puts lines that are in no file yet into the new session.
fn own_lines(pieces: Vec<DraftSegment>, envelope: &Envelope) -> Vec<DraftSegment> {
    // They were copied from nowhere.
    let own = Draft { pieces: Vec::new(), envelope: Some(Envelope { origin: None, ..envelope.clone() }) };
    let put = |piece| match piece {
        DraftSegment::New(line) => DraftSegment::New(own.render(&line, &[]).into_owned()),
        other => other,
    };
    pieces.into_iter().map(put).collect()
}

/// Returns where the damaged bytes of a session are kept.
pub(crate) fn aside(path: &Path, session: &str) -> PathBuf {
    path.with_extension("").join(format!("{session}.damaged"))
}

/// Returns the keys of some entries.
pub(crate) fn keys(source: &EditSession, nodes: &[NodeId]) -> IdSet {
    nodes.iter().map(|&no| source.session.tree.node(no).id).collect()
}
