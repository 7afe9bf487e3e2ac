//! What every lighter copy needs: the way to trim, and what came of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rethread_core::edit::required_entries;
use rethread_core::entry::Timestamp;
use rethread_core::id::IdSet;
use rethread_core::resume::{ResumeOutcome, resume_at};
use rethread_core::tree::NodeId;
use rethread_core::trim::{BlockInventory, RemovalCause, SavingsByCause, TrimInput, TrimmedPath};

use super::edit_session::{EditSession, ExpectedLoad};
use super::new_session::{NewSession, NewSessionSpec};
use crate::Error;
use crate::session::project::project_of;
use crate::writer::SessionWriter;

/// How large a conversation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionSize {
    /// Bytes of its file.
    pub bytes: u64,
    /// Tokens of its context, as far as they can be told.
    pub tokens: u64,
}

/// A copy with less in it.
#[derive(Debug)]
pub struct TrimmedCopy {
    /// The new session.
    pub born: NewSession,
    /// What its origin weighs.
    pub before: SessionSize,
    /// What it weighs.
    pub after: SessionSize,
    /// What was left out, by cause.
    pub ledger: SavingsByCause,
    /// The paths at which lines were changed, and how often.
    pub changed: Vec<(String, u64)>,
}

/// How a copy is to be made.
pub(crate) struct CopyOptions {
    pub(crate) command: &'static str,
    /// What its title says of it.
    pub(crate) what: String,
    pub(crate) title: Option<String>,
    pub(crate) into: Option<PathBuf>,
    /// Whether it takes the backups of files along.
    pub(crate) backups: bool,
    pub(crate) now: Timestamp,
    pub(crate) dry_run: bool,
}

/// A session opened to be trimmed.
pub(crate) struct Trimmer {
    pub(crate) source: EditSession,
    pub(crate) survey: BlockInventory,
    pub(crate) way: Vec<NodeId>,
    pub(crate) leaf: NodeId,
    pub(crate) resume: ResumeOutcome,
}

impl Trimmer {
    /// Opens a session to trim the way to an entry, or to where the client goes on.
    pub(crate) fn open(path: &Path, branch: Option<&str>) -> Result<Trimmer, Error> {
        let mut survey = BlockInventory::default();
        let source = EditSession::open_seeing(path, |entry, place| survey.add(entry, place))?;
        let nothing = || Error::NothingToLoad { path: path.to_owned() };
        let session = &source.session;
        if session.tree.is_sidechain_file() {
            return Err(nothing());
        }
        let leaf = match branch {
            Some(name) => session.tip_below(session.entry(name)?),
            None => source.leaf()?,
        };
        let resume = resume_at(&session.tree, &session.facts, &session.client(), leaf);
        let resume =
            resume.filter(|resume| resume.halt.is_none() && !resume.path.is_empty()).ok_or_else(nothing)?;
        let way = required_entries(&session.tree, &session.facts, &source.clients(), leaf);
        Ok(Trimmer { source, survey, way, leaf, resume })
    }

    /// Shows the conversation to a trim.
    pub(crate) fn scene(&self) -> TrimInput<'_> {
        let session = &self.source.session;
        let way = (&self.way[..], self.leaf, &self.resume);
        TrimInput::new(&session.tree, &session.facts, &self.survey, &session.id, way)
    }

    /// Makes the new session of what a cut left; `note` is a line that stands for turns.
    pub(crate) fn give(
        self,
        cut: TrimmedPath,
        note: Option<(String, Vec<u8>)>,
        wish: CopyOptions,
        pen: &SessionWriter,
    ) -> Result<TrimmedCopy, Error> {
        let session = &self.source.session;
        let path = session.path.clone();
        let leaf = cut.leaf.ok_or_else(|| Error::NothingLeft { path: path.clone() })?;
        let tokens = self.resume.tokens(&session.facts);
        let before = SessionSize { bytes: session.bytes, tokens };
        let ledger = self.account(&cut, wish.backups);
        let entries: IdSet = cut.lines.iter().map(|(no, _)| session.tree.node(*no).id).collect();
        let wanted: IdSet = self.resume.path.iter().map(|&no| session.tree.node(no).id).collect();
        let wanted: IdSet = wanted.intersection(&entries).copied().collect();
        // What the cut was made of is no longer needed, and the draft will be.
        drop((self.survey, self.resume, self.way));
        let into = wish.into.map(|folder| project_of(&folder, &path)).transpose()?;
        let changed = changed(&cut);
        let (id, note) = note.unzip();
        let tree = &session.tree;
        let birth = NewSessionSpec {
            command: wish.command,
            id,
            about: format!("of {} at {}", session.id, session.handle(leaf)),
            pieces: cut.pieces(|no| tree.node(no).place, note),
            entries: if wish.backups { entries } else { IdSet::default() },
            leaf,
            title: self.source.title_for(wish.title.as_deref(), &wish.what)?,
            into,
            promises: None,
            now: wish.now,
            dry_run: wish.dry_run,
            wanted,
        };
        let born = birth.create(self.source, pen)?;
        let tokens = born.promises.first().map_or(0, |promise: &ExpectedLoad| promise.tokens);
        let after = SessionSize { bytes: born.bytes, tokens };
        Ok(TrimmedCopy { born, before, after, ledger, changed })
    }

    /// Adds to what a cut took what no copy takes along.
    fn account(&self, cut: &TrimmedPath, backups: bool) -> SavingsByCause {
        let mut ledger = cut.ledger.clone();
        self.survey.beside(&mut ledger, backups);
        let tree = &self.source.session.tree;
        let mut on_way = vec![false; tree.nodes().len()];
        self.way.iter().for_each(|&no| on_way[no as usize] = true);
        let elsewhere = tree.nodes().iter().enumerate().filter(|(no, _)| !on_way[*no]);
        elsewhere
            .for_each(|(_, node)| ledger.add(RemovalCause::Elsewhere, 1, u64::from(node.place.len) + 1, 0));
        ledger
    }
}

/// Counts the changes by the path at which they are made.
fn changed(cut: &TrimmedPath) -> Vec<(String, u64)> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for change in cut.lines.iter().flat_map(|(_, changes)| changes) {
        *counts.entry(change.name()).or_default() += 1;
    }
    counts.into_iter().collect()
}
