//! Checks before a write that the files are unchanged since planning (**still-file**) and that no process uses them.

use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::fs;
use super::journal::{Journal, OpStatus};
use super::plan::{FileOp, Plan};
use super::record::FileState;
use crate::disk::{ProcessTable, TailFingerprint, find_client_dir, find_live_sessions, hash_tail_at};
use crate::error::{Error, FileChange, LiveEvidence};

/// A file that was modified within this time counts as in use.
const LIVE_AGE: Duration = Duration::from_secs(5);

/// Returns [`Error::Stale`] if a file has changed since the fingerprint was taken, even if only its time differs.
pub(super) fn ensure_unchanged(path: &Path, fingerprint: &TailFingerprint) -> Result<(), Error> {
    let current = match TailFingerprint::from_path(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        current => Some(current.map_err(Error::reading(path))?),
    };
    if current == Some(*fingerprint) {
        return Ok(());
    }
    let change =
        find_change(path, &FileState::from_fingerprint(fingerprint)).map_err(Error::reading(path))?;
    Err(Error::Stale { path: path.to_owned(), change: change.unwrap_or(FileChange::Touched) })
}

/// Compares a file or folder with an earlier state by length and hash of the tail. Returns `None` if they are equal.
pub(crate) fn find_change(path: &Path, before: &FileState) -> io::Result<Option<FileChange>> {
    let current = match super::trash::read_file_state(path)? {
        None => return Ok(Some(FileChange::Gone)),
        Some(current) if current.is_same_content(before) => return Ok(None),
        Some(current) => current,
    };
    if current.folder || before.folder {
        return Ok(Some(FileChange::Differs));
    }
    if current.len < before.len {
        return Ok(Some(FileChange::Shrank));
    }
    let mut file = fs::open_file(path)?;
    if current.len == before.len || hash_tail_at(&file, before.len)?.to_hex().as_str() != before.tail {
        return Ok(Some(FileChange::Differs));
    }
    file.seek(SeekFrom::Start(before.len))?;
    Ok(Some(FileChange::Grew(count_lines(file)?)))
}

/// Counts the lines from the current position to the end of a file. An unterminated last line counts too.
fn count_lines(mut file: impl Read) -> io::Result<u64> {
    let mut buffer = vec![0; 64 << 10];
    let (mut lines, mut is_unterminated) = (0, false);
    loop {
        let read = file.read(&mut buffer)?;
        let Some(last) = buffer[..read].last() else { break };
        is_unterminated = *last != b'\n';
        lines += memchr::memchr_iter(b'\n', &buffer[..read]).count() as u64;
    }
    Ok(lines + u64::from(is_unterminated))
}

/// Returns [`Error::Live`] if another process is using the session. `named_paths` are the paths of the plan before links
/// were resolved.
pub(super) fn ensure_not_live(
    plan: &Plan<'_>,
    named_paths: &[PathBuf],
    journal: &Journal,
    processes: &dyn ProcessTable,
) -> Result<(), Error> {
    if plan.even_if_live {
        return Ok(());
    }
    let live_error = |evidence| Error::Live { session: plan.session.clone(), evidence };
    let changed_paths: Vec<&Path> =
        plan.file_ops.iter().filter(|file_op| modifies_existing(file_op)).map(FileOp::path).collect();
    let is_affected = |id: &str| {
        id == plan.session || changed_paths.iter().any(|path| path.file_stem().is_some_and(|stem| stem == id))
    };
    let paths = named_paths.iter().map(PathBuf::as_path).chain(changed_paths.iter().copied());
    let client_dirs: std::collections::BTreeSet<&Path> =
        paths.filter_map(find_client_dir).filter(|_| !changed_paths.is_empty()).collect();
    if client_dirs.iter().flat_map(|dir| find_live_sessions(dir, processes)).any(|id| is_affected(&id)) {
        return Err(live_error(LiveEvidence::Registered));
    }
    let files: Vec<(PathBuf, std::fs::Metadata)> =
        changed_paths.iter().flat_map(|path| list_files_at(path)).collect();
    let now = SystemTime::now();
    let is_fresh = |(path, meta): &&(PathBuf, std::fs::Metadata)| {
        // A modification time slightly in the future counts too.
        let age =
            meta.modified().map(|time| now.duration_since(time).unwrap_or_else(|error| error.duration()));
        age.is_ok_and(|age| age < LIVE_AGE) && !is_as_last_written(path, journal)
    };
    if files.iter().any(|file| is_fresh(&file)) {
        return Err(live_error(LiveEvidence::Fresh));
    }
    let metas: Vec<std::fs::Metadata> = files.into_iter().map(|(_, meta)| meta).collect();
    if metas.is_empty() {
        Ok(())
    } else {
        processes.find_writer(&metas).map_or(Ok(()), |evidence| Err(live_error(evidence)))
    }
}

/// Returns `true` if a file operation changes an existing file, which another process may be writing to.
fn modifies_existing(file_op: &FileOp<'_>) -> bool {
    matches!(file_op, FileOp::Append { .. } | FileOp::Replace { .. } | FileOp::Remove { .. })
}

/// Returns a file, or all files below a folder, with their metadata. Skips everything that cannot be read.
fn list_files_at(path: &Path) -> Vec<(PathBuf, std::fs::Metadata)> {
    let entries = walkdir::WalkDir::new(path).into_iter().filter_map(Result::ok);
    let files =
        entries.filter_map(|entry| Some((entry.path().to_owned(), std::fs::metadata(entry.path()).ok()?)));
    files.filter(|(_, meta)| meta.is_file()).collect()
}

/// Returns `true` if a file has the content that rethread wrote last, so no other process has changed it since.
fn is_as_last_written(path: &Path, journal: &Journal) -> bool {
    let ops = journal.ops.iter().rev().filter(|op| op.status != OpStatus::Unfinished);
    let mut changes = ops.flat_map(|op| op.changes.iter().map(move |change| (op, change)));
    let Some((op, change)) = changes.find(|(_, change)| path.starts_with(&change.path)) else { return false };
    let last_written = if op.was_completed() { &change.after } else { &change.before };
    // Compare contents, not times: moving a folder out of the trash sets the modification times of its files.
    let current = super::trash::read_file_state(&change.path).ok().flatten();
    current.zip(last_written.as_ref()).is_some_and(|(current, last)| current.is_same_content(last))
}
