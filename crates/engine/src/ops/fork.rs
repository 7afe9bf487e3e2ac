//! `fork`: creates a new session with exactly the path to an entry of another one.

use std::path::PathBuf;

use rethread_core::edit::{DraftSegment, required_entries};
use rethread_core::entry::Timestamp;
use rethread_core::resume::TrailingEntries;

use super::selector::{EntrySelector, resolve_entry};
use crate::Error;
use crate::edit::edit_session::EditSession;
use crate::edit::new_session::{NewSession, NewSessionSpec, entry_ids};
use crate::edit::title::choose_title;
use crate::writer::SessionWriter;

/// Options of [`fork`].
#[derive(Debug, Clone, Default)]
pub struct ForkRequest {
    /// The session file.
    pub path: PathBuf,
    /// The entry to fork at. By default, the one from which the client resumes.
    pub at: Option<EntrySelector>,
    /// The title. By default, it is derived from that of the origin.
    pub title: Option<String>,
    /// The current time. New lines are always dated after the newest entry, also with the default.
    pub now: Timestamp,
    /// Report the new session without writing it.
    pub dry_run: bool,
}

/// Creates a new session with the path to an entry. In a dry run, only computes what it would contain.
pub fn fork(request: &ForkRequest, writer: &SessionWriter) -> Result<NewSession, Error> {
    let source = EditSession::open(&request.path, &mut ())?;
    let (leaf, trailing) = match &request.at {
        Some(at) => (resolve_entry(&source, at)?, TrailingEntries::SameTurn),
        None => (source.active_leaf()?, TrailingEntries::All),
    };
    let (tree, resume_index) = (&source.session.tree, &source.session.resume_index);
    let path = required_entries(tree, resume_index, &source.clients(), leaf, trailing);
    let spec = NewSessionSpec {
        command: "fork",
        about: format!("of {} at {}", source.session.id, source.session.entry_handle(leaf)),
        segments: path
            .iter()
            .map(|&node_id| DraftSegment::Line(tree.node(node_id).span, Vec::new()))
            .collect(),
        entries: entry_ids(&source, &path),
        leaf,
        title: choose_title(request.title.as_deref(), &source.session, "fork")?,
        expected_loads: source.simulate_loads_at(leaf, trailing),
        now: request.now,
        dry_run: request.dry_run,
        ..NewSessionSpec::default()
    };
    spec.create(source, writer)
}
