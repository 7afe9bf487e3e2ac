//! Is the file still what the plan was made for (**still-file**), and is nobody at work in it?

use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::journal::{Journal, OpState};
use super::plan::{FileOp, Plan};
use super::record::FileState;
use crate::disk::{TailFingerprint, client_home, live_sessions, open, tail_at, writer_of};
use crate::error::{Error, FileChange, LiveEvidence};

/// A file that changed within this time is being written.
const FRESH: Duration = Duration::from_secs(5);

/// Refuses a file that is not as it was.
pub(super) fn ensure_unchanged(path: &Path, stamp: &TailFingerprint) -> Result<(), Error> {
    let now = match TailFingerprint::of(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        now => Some(now.map_err(Error::reading(path))?),
    };
    if now == Some(*stamp) {
        return Ok(());
    }
    let drift = drift(path, &FileState::file(stamp)).map_err(Error::reading(path))?;
    Err(Error::Stale { path: path.to_owned(), drift: drift.unwrap_or(FileChange::Touched) })
}

/// Says how a file differs from what it was; nothing where it does not.
pub(crate) fn drift(path: &Path, was: &FileState) -> io::Result<Option<FileChange>> {
    let now = match super::trash::file_state(path)? {
        None => return Ok(Some(FileChange::Gone)),
        Some(now) if now.same(was) => return Ok(None),
        Some(now) => now,
    };
    if now.folder || was.folder {
        return Ok(Some(FileChange::Differs));
    }
    if now.len < was.len {
        return Ok(Some(FileChange::Shrank));
    }
    let mut file = open(path)?;
    if now.len == was.len || tail_at(&file, was.len)?.to_hex().as_str() != was.tail {
        return Ok(Some(FileChange::Differs));
    }
    file.seek(SeekFrom::Start(was.len))?;
    Ok(Some(FileChange::Grew(count_lines(file)?)))
}

/// Counts lines, the last one also where it has no end.
fn count_lines(mut file: impl Read) -> io::Result<u64> {
    let mut piece = vec![0; 64 << 10];
    let (mut lines, mut open_end) = (0, false);
    loop {
        let read = file.read(&mut piece)?;
        let Some(last) = piece[..read].last() else { break };
        open_end = *last != b'\n';
        lines += memchr::memchr_iter(b'\n', &piece[..read]).count() as u64;
    }
    Ok(lines + u64::from(open_end))
}

/// Refuses a session in which somebody is at work. `named` are its paths before links in them were followed.
pub(super) fn refuse_if_live(plan: &Plan<'_>, named: &[PathBuf], journal: &Journal) -> Result<(), Error> {
    if plan.even_if_live {
        return Ok(());
    }
    let live = |why| Error::Live { session: plan.session.clone(), why };
    let changed: Vec<&Path> = plan.deeds.iter().filter(|deed| changes_old(deed)).map(FileOp::path).collect();
    let is_ours = |id: &str| {
        id == plan.session || changed.iter().any(|path| path.file_stem().is_some_and(|stem| stem == id))
    };
    let homes = named.iter().map(PathBuf::as_path).chain(changed.iter().copied()).filter_map(client_home);
    let homes: std::collections::BTreeSet<&Path> = homes.filter(|_| !changed.is_empty()).collect();
    if homes.iter().flat_map(|home| live_sessions(home)).any(|id| is_ours(&id)) {
        return Err(live(LiveEvidence::Registered));
    }
    let files: Vec<(PathBuf, std::fs::Metadata)> = changed.iter().flat_map(|path| files_at(path)).collect();
    let now = SystemTime::now();
    let fresh = |(path, meta): &&(PathBuf, std::fs::Metadata)| {
        let since =
            meta.modified().map(|then| now.duration_since(then).unwrap_or_else(|ahead| ahead.duration()));
        since.is_ok_and(|since| since < FRESH) && !is_as_we_left(path, journal)
    };
    if files.iter().any(|file| fresh(&file)) {
        return Err(live(LiveEvidence::Fresh));
    }
    let metas: Vec<std::fs::Metadata> = files.into_iter().map(|(_, meta)| meta).collect();
    if metas.is_empty() { Ok(()) } else { writer_of(&metas).map_or(Ok(()), |why| Err(live(why))) }
}

/// Whether a deed changes something that others may be writing to.
fn changes_old(deed: &FileOp<'_>) -> bool {
    matches!(deed, FileOp::Append { .. } | FileOp::Replace { .. } | FileOp::Remove { .. })
}

/// Returns a file, or all files of a folder.
fn files_at(path: &Path) -> Vec<(PathBuf, std::fs::Metadata)> {
    let found = walkdir::WalkDir::new(path).into_iter().filter_map(Result::ok);
    let files =
        found.filter_map(|found| Some((found.path().to_owned(), std::fs::metadata(found.path()).ok()?)));
    files.filter(|(_, meta)| meta.is_file()).collect()
}

/// Whether the last change of a file was made here: it is as our last op left it.
fn is_as_we_left(path: &Path, journal: &Journal) -> bool {
    let ops = journal.ops.iter().rev().filter(|op| op.state != OpState::Unfinished);
    let mut changes = ops.flat_map(|op| op.changes.iter().map(move |change| (op, change)));
    let Some((op, change)) = changes.find(|(_, change)| path.starts_with(&change.path)) else { return false };
    let left = if op.state == OpState::Done { &change.after } else { &change.before };
    // A folder that was brought back has the date of that.
    let now = super::trash::file_state(&change.path).ok().flatten();
    now.zip(left.as_ref()).is_some_and(|(now, left)| now.same(left))
}
