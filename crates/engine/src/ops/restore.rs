//! `restore` from backups: restores the state of a session before the first change by rethread, even if the session was removed.

use std::collections::{BTreeSet, HashSet};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::archive::{ArchiveLocation, RESTORE_COMMAND, find_archived_path};
use super::resolve::{find_session, find_session_to_change};
use crate::disk::{Roots, ScanEvent, ScanOptions, TailFingerprint, open_file, scan};
use crate::edit::effect::{FileEffect, backup_content, plan_effects};
use crate::error::Error;
use crate::writer::{
    BackupStore, ChangeRecord, FileOp, FileOpKind, FileState, Journal, NewContent, Op, OpId, OpStatus, Plan,
    SessionWriter, ensure_undamaged, find_change,
};

/// Options of [`restore`].
#[derive(Debug, Clone, Default)]
pub struct RestoreRequest {
    /// The session id or its start, also that of a removed session; or any other name of a session.
    pub name: String,
    /// Restore the session from the file `<session>.jsonl.backup` next to it, which another program made.
    pub from_backup_file: bool,
    /// Write even if another process is using the session.
    pub even_if_live: bool,
    /// Report the effects without writing.
    pub dry_run: bool,
}

/// The result of [`restore`].
#[derive(Debug, Clone)]
pub struct RestoreOutcome {
    /// The number of the op. `None` in a dry run, or if nothing has to change.
    pub op: Option<OpId>,
    /// The session id.
    pub session: String,
    /// The first op that changed the session and has a backup. The state before it is restored. `None` if the session is
    /// restored from a backup file.
    pub first: Option<OpId>,
    /// The backup next to the session file that another program made. `None` if there is none.
    pub backup_file: Option<PathBuf>,
    /// Whether the backup of an earlier op was pruned.
    pub pruned: bool,
    /// The effects on files. Empty if nothing has to change.
    pub effects: Vec<FileEffect>,
}

/// The place from which a session is restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestoreSource {
    /// The backups of changes by rethread: [`restore`].
    Backups,
    /// The archive: [`super::archive::restore_from_archive`].
    Archive,
}

/// Chooses the source from which to restore a session.
///
/// A session whose file is gone is restored from the archive, unless rethread removed it: then the trash has its newest state.
/// A session whose file exists is restored from its backups, or from the archive if it has none.
pub fn choose_source(
    writer: &SessionWriter,
    archive: Option<&ArchiveLocation>,
    name: &str,
) -> Result<RestoreSource, Error> {
    let Some(path) = archive.and_then(|location| find_archived_path(location, name)) else {
        return Ok(RestoreSource::Backups);
    };
    let journal = writer.read_journal()?;
    let session = path.file_stem().unwrap_or_default().to_string_lossy();
    let has_backups = if path.exists() {
        !find_earliest_states(&journal, &writer.open_backups()?, &session).is_empty()
    } else {
        // Paths in the journal have no symbolic links.
        let is_of_file = |change: &&ChangeRecord| change.path.file_name() == path.file_name();
        let in_effect = journal.ops.iter().filter(|op| op.status == OpStatus::Done);
        let newest = in_effect.flat_map(|op| op.changes.iter().filter(is_of_file)).next_back();
        newest.is_some_and(|change| change.kind == FileOpKind::Remove)
    };
    Ok(if has_backups { RestoreSource::Backups } else { RestoreSource::Archive })
}

/// Restores the files of a session from the earliest available backups, or the session file from a backup file.
pub fn restore(
    writer: &SessionWriter,
    roots: &Roots,
    request: &RestoreRequest,
) -> Result<RestoreOutcome, Error> {
    if request.from_backup_file {
        return restore_backup_file(writer, roots, request);
    }
    let journal = writer.read_journal()?;
    let backups = writer.open_backups()?;
    let session = resolve_session(&journal, roots, &request.name)?;
    let states = find_earliest_states(&journal, &backups, &session);
    // The name of a removed session may be part of the title of another one.
    let session_file = find_session(roots, &request.name, None).ok();
    let session_file = session_file.filter(|path| path.file_stem().is_some_and(|stem| *stem == *session));
    let backup_file = session_file.and_then(|path| find_backup_file(&path));
    let Some(first) = states.iter().map(|(op, ..)| *op).min() else {
        return Err(Error::NoBackup { session, backup_file });
    };
    let is_earlier = |op: &Op| op.session == session && op.was_completed() && op.id < first;
    let pruned = journal
        .ops
        .iter()
        .any(|op| is_earlier(op) && op.changes.iter().any(|change| change.before.is_some()));
    let mut file_ops = Vec::new();
    for (_, path, before) in states {
        file_ops.extend(build_file_op(&backups, path, before)?);
    }
    let plan = Plan {
        command: "restore",
        session: session.clone(),
        about: format!("to before {first}"),
        file_ops,
        even_if_live: request.even_if_live,
    };
    let effects = plan_effects(&plan);
    let skips_commit = request.dry_run || effects.is_empty();
    let op = if skips_commit { None } else { Some(writer.commit(plan, || Ok(()))?) };
    Ok(RestoreOutcome { op, session, first: Some(first), backup_file, pruned, effects })
}

/// Restores a session file from the backup next to it that another program made.
///
/// Returns an error if there is none or it contains no entry.
fn restore_backup_file(
    writer: &SessionWriter,
    roots: &Roots,
    request: &RestoreRequest,
) -> Result<RestoreOutcome, Error> {
    let path = find_session_to_change(roots, &request.name, None)?;
    let session = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let Some(backup) = find_backup_file(&path) else {
        return Err(Error::NoBackup { session, backup_file: None });
    };
    let mut has_entries = false;
    let set_has_entries = |event: ScanEvent<'_, '_>| has_entries |= matches!(event, ScanEvent::Entry(..));
    scan(&backup, &ScanOptions::default(), set_has_entries).map_err(Error::reading(&backup))?;
    if !has_entries {
        return Err(Error::NothingToLoad { path: backup });
    }
    let is_equal = have_equal_content(&path, &backup).map_err(Error::reading(&backup))?;
    let fingerprint = TailFingerprint::from_path(&path).map_err(Error::reading(&path))?;
    let replace = FileOp::Replace { path, fingerprint, content: NewContent::Copy(backup.clone()) };
    let plan = Plan {
        command: "restore",
        session: session.clone(),
        about: "from a backup file".to_owned(),
        file_ops: if is_equal { Vec::new() } else { vec![replace] },
        even_if_live: request.even_if_live,
    };
    let effects = plan_effects(&plan);
    let skips_commit = request.dry_run || effects.is_empty();
    let op = if skips_commit { None } else { Some(writer.commit(plan, || Ok(()))?) };
    Ok(RestoreOutcome { op, session, first: None, backup_file: Some(backup), pruned: false, effects })
}

/// Returns the path of the backup next to a session file. Returns `None` if it is not a regular file.
fn find_backup_file(session: &Path) -> Option<PathBuf> {
    let mut name = session.as_os_str().to_owned();
    name.push(".backup");
    let path = PathBuf::from(name);
    std::fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file()).then_some(path)
}

/// Returns `true` if two files have the same bytes.
fn have_equal_content(a: &Path, b: &Path) -> io::Result<bool> {
    let (mut a, mut b) = (BufReader::new(open_file(a)?), BufReader::new(open_file(b)?));
    loop {
        let (left, right) = (a.fill_buf()?, b.fill_buf()?);
        let len = left.len().min(right.len());
        if left[..len] != right[..len] || len == 0 {
            return Ok(left.is_empty() && right.is_empty());
        }
        a.consume(len);
        b.consume(len);
    }
}

/// Finds the id of a session that rethread changed, by id, start of the id, path or any other name. Returns an error if
/// several match, or none.
fn resolve_session(journal: &Journal, roots: &Roots, name: &str) -> Result<String, Error> {
    let ids = || journal.ops.iter().map(|op| op.session.as_str());
    let is_match = |id: &str, name: &str| !name.is_empty() && (id == name || id.starts_with(name));
    let matching: BTreeSet<&str> = ids().filter(|id| is_match(id, name)).collect();
    if let Some(exact) = matching.get(name).or_else(|| matching.first().filter(|_| matching.len() == 1)) {
        return Ok((*exact).to_owned());
    }
    if matching.len() > 1 {
        let candidates = matching.into_iter().map(|id| (id.to_owned(), String::new())).collect();
        return Err(Error::AmbiguousSession { name: name.to_owned(), candidates });
    }
    // The name may be the path of a removed file.
    let path = std::path::absolute(name).unwrap_or_default();
    let find_changed_session = |path: &Path| {
        let op = journal.ops.iter().find(|op| op.changes.iter().any(|change| change.path == path));
        op.map(|op| op.session.clone())
    };
    if let Some(session) = find_changed_session(&path) {
        return Ok(session);
    }
    let path = find_session(roots, name, None)?;
    let canonical = std::fs::canonicalize(&path).unwrap_or(path);
    let stem = canonical.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let session =
        find_changed_session(&canonical).or_else(|| ids().find(|id| *id == stem).map(str::to_owned));
    session.ok_or_else(|| Error::NoBackup { session: stem, backup_file: find_backup_file(&canonical) })
}

/// Returns the earliest available state of each file, with the op before which it was recorded and the path. A state is
/// available if it has a backup or is the current one. Files that rethread created, and the prompt history to which a restore
/// from the archive appended lines, are not included.
fn find_earliest_states(
    journal: &Journal,
    backups: &BackupStore,
    session: &str,
) -> Vec<(OpId, PathBuf, FileState)> {
    let mut seen = HashSet::new();
    let mut states = Vec::new();
    let is_backed_up =
        |op: &&Op| op.session == session && op.was_completed() && op.command != RESTORE_COMMAND;
    let ops = journal.ops.iter().filter(is_backed_up);
    for (op, change) in ops.flat_map(|op| op.changes.iter().map(move |change| (op, change))) {
        let is_current = |before: &FileState| matches!(find_change(&change.path, before), Ok(None));
        let before =
            change.before.as_ref().filter(|before| is_current(before) || backups.has_content(before));
        let Some(before) = before else { continue };
        if seen.insert(change.path.clone()) {
            states.push((op.id, change.path.clone(), before.clone()));
        }
    }
    states
}

/// Builds the operation that restores a file to an earlier state. Returns `None` if the file has that state already, or
/// if the state is of a removed folder and `path` exists again.
fn build_file_op<'k>(
    backups: &'k BackupStore,
    path: PathBuf,
    before: FileState,
) -> Result<Option<FileOp<'k>>, Error> {
    if std::fs::symlink_metadata(&path).is_err() {
        return Ok(Some(match before.trash.clone() {
            Some(from) => {
                ensure_undamaged(&from, &before)?;
                FileOp::Return { path, from }
            }
            None => FileOp::Create { path, content: backup_content(backups, before) },
        }));
    }
    // A folder that exists again is not merged with the removed one.
    if before.folder || find_change(&path, &before).map_err(Error::reading(&path))?.is_none() {
        return Ok(None);
    }
    let fingerprint = TailFingerprint::from_path(&path).map_err(Error::reading(&path))?;
    Ok(Some(FileOp::Replace { path, fingerprint, content: backup_content(backups, before) }))
}
