//! A new session that holds exactly the path to a point of another.

use std::path::PathBuf;

use rethread_core::edit::{DraftSegment, required_entries};
use rethread_core::entry::Timestamp;
use rethread_core::id::IdSet;

use super::selector::EntrySelector;
use crate::Error;
use crate::edit::edit_session::EditSession;
use crate::edit::new_session::{NewSession, NewSessionSpec, keys};
use crate::writer::SessionWriter;

/// What to fork, and where.
#[derive(Debug, Clone)]
pub struct ForkRequest {
    /// The session file.
    pub path: PathBuf,
    /// The point; the one that the client goes on from, where none is named.
    pub at: Option<EntrySelector>,
    /// What the fork is called; after its origin, where nothing is said.
    pub title: Option<String>,
    /// The present.
    pub now: Timestamp,
    /// Only say what would be done.
    pub dry_run: bool,
}

/// Makes a fork.
pub fn fork(request: &ForkRequest, pen: &SessionWriter) -> Result<NewSession, Error> {
    let source = EditSession::open(&request.path)?;
    let leaf = match &request.at {
        Some(at) => source.point(at)?,
        None => source.leaf()?,
    };
    let (tree, facts) = (&source.session.tree, &source.session.facts);
    let way = required_entries(tree, facts, &source.clients(), leaf);
    let birth = NewSessionSpec {
        command: "fork",
        id: None,
        about: format!("of {} at {}", source.session.id, source.session.handle(leaf)),
        pieces: way.iter().map(|&no| DraftSegment::Line(tree.node(no).place, Vec::new())).collect(),
        entries: keys(&source, &way),
        leaf,
        title: source.title_for(request.title.as_deref(), "fork")?,
        into: None,
        promises: source.promise_at(leaf),
        wanted: IdSet::default(),
        now: request.now,
        dry_run: request.dry_run,
    };
    birth.create(source, pen)
}
