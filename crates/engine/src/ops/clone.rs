//! `clone`: creates a trimmed copy of a session.

use std::path::PathBuf;

use rethread_core::entry::Timestamp;
use rethread_core::trim::{ContentKind, TrimOptions, TrimmedPath};

use crate::Error;
use crate::disk::{LineReader, Roots};
use crate::edit::trimmed_copy::{CopyOptions, CopyScope, SessionTrimmer, TrimmedCopy};
use crate::writer::SessionWriter;

/// Options of [`clone`].
#[derive(Debug, Clone, Default)]
pub struct CloneRequest {
    /// The session file.
    pub path: PathBuf,
    /// An entry of the branch to copy. By default, the active branch is copied.
    pub branch: Option<String>,
    /// The turns and kinds of content to remove.
    pub trim: TrimOptions,
    /// The suffix that is added to the origin's title in parentheses, if `title` is `None`.
    pub title_suffix: String,
    /// The title of the copy. By default, it is derived from that of the origin.
    pub title: Option<String>,
    /// The working folder of the copy. By default, that of the origin.
    pub project_folder: Option<PathBuf>,
    /// The roots of the store: the project folder of `project_folder` is below one of them. Empty for any folder.
    pub roots: Roots,
    /// The current time. New lines are always dated after the newest entry, also with the default.
    pub now: Timestamp,
    /// Report the copy without writing it.
    pub dry_run: bool,
}

/// Creates a new session with a trimmed copy of one branch. In a dry run, only computes what it would contain.
///
/// If no content is to be removed, the copy also has all lines without a uuid, and all branches unless one is selected.
pub fn clone(request: &CloneRequest, writer: &SessionWriter) -> Result<TrimmedCopy, Error> {
    let trimmer = SessionTrimmer::open(&request.path, request.branch.as_deref())?;
    let mut lines = LineReader::open(&request.path).map_err(Error::reading(&request.path))?;
    let read_span = |span| lines.read_span(span).map_err(Error::reading(&request.path));
    let trimmed = TrimmedPath::from_options(&trimmer.trim_input(), &request.trim, read_span)?;
    let options = CopyOptions {
        command: "clone",
        title_suffix: request.title_suffix.clone(),
        title: request.title.clone(),
        project: request.project_folder.clone().map(|folder| (folder, request.roots.clone())),
        scope: match (request.trim.is_empty(), &request.branch) {
            (true, None) => CopyScope::File,
            (true, Some(_)) => CopyScope::PathAndRecords,
            (false, _) => CopyScope::Path,
        },
        copy_backups: !request.trim.has_kind(ContentKind::Snapshots),
        now: request.now,
        dry_run: request.dry_run,
    };
    trimmer.write_copy(trimmed, None, options, writer)
}
