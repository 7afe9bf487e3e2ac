//! `restore`: restores the state of a session before the first change by rethread, even if the session was removed.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use super::resolve::find_session;
use crate::disk::{Roots, TailFingerprint};
use crate::edit::effect::{FileEffect, backup_content, plan_effects};
use crate::error::Error;
use crate::writer::{
    BackupStore, FileOp, FileState, Journal, Op, OpId, Plan, SessionWriter, ensure_undamaged, find_change,
};

/// Options of [`restore`].
#[derive(Debug, Clone, Default)]
pub struct RestoreRequest {
    /// The session id or its start, also that of a removed session; or any other name of a session.
    pub name: String,
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
    /// The first op that changed the session and has a backup. The state before it is restored.
    pub first: OpId,
    /// Whether the backup of an earlier op was pruned.
    pub pruned: bool,
    /// The effects on files. Empty if nothing has to change.
    pub effects: Vec<FileEffect>,
}

/// Restores the files of a session from the earliest available backups.
pub fn restore(
    writer: &SessionWriter,
    roots: &Roots,
    request: &RestoreRequest,
) -> Result<RestoreOutcome, Error> {
    let journal = writer.read_journal()?;
    let backups = writer.open_backups()?;
    let session = resolve_session(&journal, roots, &request.name)?;
    let states = find_earliest_states(&journal, &backups, &session);
    let Some(first) = states.iter().map(|(op, ..)| *op).min() else {
        return Err(Error::NoBackup { session });
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
    Ok(RestoreOutcome { op, session, first, pruned, effects })
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
    session.ok_or(Error::NoBackup { session: stem })
}

/// Returns the earliest available state of each file, with the op before which it was recorded and the path. A state is
/// available if it has a backup or is the current one. Files that rethread created are not included.
fn find_earliest_states(
    journal: &Journal,
    backups: &BackupStore,
    session: &str,
) -> Vec<(OpId, PathBuf, FileState)> {
    let mut seen = HashSet::new();
    let mut states = Vec::new();
    let ops = journal.ops.iter().filter(|op| op.session == session && op.was_completed());
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
