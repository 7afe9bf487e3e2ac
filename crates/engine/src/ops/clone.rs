//! A lighter copy of a session.

use std::path::PathBuf;

use rethread_core::entry::Moment;
use rethread_core::trim::{Cut, Trim, What};

use super::lighter::{Lighter, Trimmer, Wish};
use crate::Failure;
use crate::disk::Lines;
use crate::write::Pen;

/// What to copy, and what to leave out.
#[derive(Debug, Clone)]
pub struct CloneRequest {
    /// The session file.
    pub path: PathBuf,
    /// The branch with this entry, instead of the one that the client goes on from.
    pub branch: Option<String>,
    /// What to leave out.
    pub trim: Trim,
    /// What the title says of the copy, where it is not given.
    pub what: String,
    /// What the copy is called.
    pub title: Option<String>,
    /// The project that it goes to.
    pub into: Option<PathBuf>,
    /// The present.
    pub now: Moment,
    /// Only say what would be done.
    pub dry_run: bool,
}

/// Makes a lighter copy.
pub fn clone(request: &CloneRequest, pen: &Pen) -> Result<Lighter, Failure> {
    let trimmer = Trimmer::open(&request.path, request.branch.as_deref())?;
    let mut lines = Lines::open(&request.path).map_err(Failure::reading(&request.path))?;
    let read = |place| lines.read(place).map_err(Failure::reading(&request.path));
    let cut = Cut::by(&trimmer.scene(), &request.trim, read)?;
    let wish = Wish {
        command: "clone",
        what: request.what.clone(),
        title: request.title.clone(),
        into: request.into.clone(),
        backups: !request.trim.drops(What::Snapshots),
        now: request.now,
        dry_run: request.dry_run,
    };
    trimmer.give(cut, None, wish, pen)
}
