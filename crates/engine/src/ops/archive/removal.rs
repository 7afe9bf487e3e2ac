//! Tells which archived sessions were removed on purpose.

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use rethread_core::entry::members;

use crate::archive::{ArchiveLocation, ArchivedFile};
use crate::disk::find_working_folder;
use crate::error::Error;
use crate::plain_file::open_file;
use crate::writer::{FileOpKind, OpStatus, SessionWriter};

/// The maximum length of the state file of the client.
const MAX_STATE_BYTES: u64 = 256 << 20;

/// How the file of an archived session was removed on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeletionCause {
    /// `rm` moved it to the trash.
    Removed,
    /// The client forgot the whole project: the project has no sessions and is not in its list of projects.
    Purged,
}

/// Finds out how session files were removed on purpose.
pub(super) struct RemovalFinder<'a> {
    location: &'a ArchiveLocation,
    /// The paths that `rm` moved to the trash.
    removed: HashSet<PathBuf>,
    /// By project folder, whether the client forgot the project.
    purged: HashMap<PathBuf, bool>,
}

impl<'a> RemovalFinder<'a> {
    pub(super) fn new(
        location: &'a ArchiveLocation,
        writer: &SessionWriter,
    ) -> Result<RemovalFinder<'a>, Error> {
        Ok(RemovalFinder { location, removed: find_removed_paths(writer)?, purged: HashMap::new() })
    }

    /// Returns how the file of an archived session was removed. Returns `None` if nothing shows that it was on purpose, or another
    /// machine archived it.
    pub(super) fn find_cause(&mut self, file: &ArchivedFile<'_>) -> Option<DeletionCause> {
        if !file.is_of_machine(self.location) {
            return None;
        }
        let path = file.original_path();
        if self.removed.contains(&path) || self.removed.contains(&resolve_links(&path)) {
            return Some(DeletionCause::Removed);
        }
        if !file.relative.starts_with("projects") {
            return None;
        }
        let project_dir = path.parent().unwrap_or(Path::new("")).to_owned();
        let root = &file.root;
        let is_purged = *self.purged.entry(project_dir).or_insert_with_key(|dir| is_purged(root, dir, file));
        is_purged.then_some(DeletionCause::Purged)
    }
}

/// Returns the session files that operations of `rm` in effect moved to the trash.
fn find_removed_paths(writer: &SessionWriter) -> Result<HashSet<PathBuf>, Error> {
    let journal = match writer.read_journal() {
        Err(Error::NoStateDir) => return Ok(HashSet::new()),
        journal => journal?,
    };
    let ops = journal.ops.into_iter().filter(|op| op.command == "rm" && op.status == OpStatus::Done);
    let changes = ops.flat_map(|op| op.changes).filter(|change| change.kind == FileOpKind::Remove);
    Ok(changes.map(|change| change.path).collect())
}

/// Returns a path with the links of its folder resolved.
fn resolve_links(path: &Path) -> PathBuf {
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    folder.zip(path.file_name()).map_or_else(|| path.to_owned(), |(folder, name)| folder.join(name))
}

/// Returns `true` if the client forgot a project, as `claude purge` does: no session is left in its folder, and the list of
/// projects does not contain it. A deletion for its age leaves the project in the list.
fn is_purged(client_dir: &Path, project_dir: &Path, file: &ArchivedFile<'_>) -> bool {
    let entries = std::fs::read_dir(project_dir).into_iter().flatten().flatten();
    let has_session =
        entries.into_iter().any(|entry| entry.path().extension().is_some_and(|name| name == "jsonl"));
    if has_session {
        return false;
    }
    let Some(folder) = find_working_folder(file.read(file.newest())) else { return false };
    let Some(folder) = folder.to_str() else { return false };
    lists_other_projects_only(client_dir, folder)
}

/// Returns `true` if the state file of the client has a list of projects that does not contain a folder.
fn lists_other_projects_only(client_dir: &Path, folder: &str) -> bool {
    // With CLAUDE_CONFIG_DIR it is in the folder, else next to it.
    let inside = client_dir.join(".claude.json");
    let path = if inside.exists() { inside } else { client_dir.with_file_name(".claude.json") };
    let mut state = Vec::new();
    let read = open_file(&path).and_then(|file| file.take(MAX_STATE_BYTES).read_to_end(&mut state));
    if read.is_err() {
        return false;
    }
    let Some((_, projects)) = members(&state).find(|(key, _)| key.equals("projects")) else { return false };
    let mut projects = members(projects).peekable();
    projects.peek().is_some() && !projects.any(|(key, _)| key.equals(folder))
}
