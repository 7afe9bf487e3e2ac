//! A lighter copy of a session.

use std::path::PathBuf;

use rethread_core::entry::Timestamp;
use rethread_core::trim::{ContentKind, TrimOptions, TrimmedPath};

use crate::Error;
use crate::disk::LineReader;
use crate::edit::trimmed_copy::{CopyOptions, TrimmedCopy, Trimmer};
use crate::writer::SessionWriter;

/// What to copy, and what to leave out.
#[derive(Debug, Clone)]
pub struct CloneRequest {
    /// The session file.
    pub path: PathBuf,
    /// The branch with this entry, instead of the one that the client goes on from.
    pub branch: Option<String>,
    /// What to leave out.
    pub trim: TrimOptions,
    /// What the title says of the copy, where it is not given.
    pub what: String,
    /// What the copy is called.
    pub title: Option<String>,
    /// The project that it goes to.
    pub into: Option<PathBuf>,
    /// The present.
    pub now: Timestamp,
    /// Only say what would be done.
    pub dry_run: bool,
}

/// Makes a lighter copy.
pub fn clone(request: &CloneRequest, pen: &SessionWriter) -> Result<TrimmedCopy, Error> {
    let trimmer = Trimmer::open(&request.path, request.branch.as_deref())?;
    let mut lines = LineReader::open(&request.path).map_err(Error::reading(&request.path))?;
    let read = |place| lines.read(place).map_err(Error::reading(&request.path));
    let cut = TrimmedPath::by(&trimmer.scene(), &request.trim, read)?;
    let wish = CopyOptions {
        command: "clone",
        what: request.what.clone(),
        title: request.title.clone(),
        into: request.into.clone(),
        backups: !request.trim.drops(ContentKind::Snapshots),
        now: request.now,
        dry_run: request.dry_run,
    };
    trimmer.give(cut, None, wish, pen)
}
