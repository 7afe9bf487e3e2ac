//! Brings a session back to what it was before rethread first changed it, also where it is gone.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use super::resolve::find_session;
use crate::disk::{Roots, TailFingerprint};
use crate::edit::effect::{Effects, effects, kept};
use crate::error::Error;
use crate::writer::{BackupStore, FileOp, FileState, Journal, Op, OpId, OpState, Plan, SessionWriter, drift};

/// Which session, and how.
#[derive(Debug, Clone, Default)]
pub struct RestoreRequest {
    /// Its id or the beginning of it, also of one that is gone; or any other name of a session.
    pub name: String,
    /// Also while somebody is at work in the session.
    pub even_if_live: bool,
    /// Only say what would happen.
    pub dry_run: bool,
}

/// What was brought back.
#[derive(Debug, Clone)]
pub struct Restore {
    /// The op; none where it was only said, or where all is as it was.
    pub op: Option<OpId>,
    /// The id of the session.
    pub session: String,
    /// The op before which it is as it was: the first that changed it, as far as a backup is kept.
    pub first: OpId,
    /// Whether there is an earlier op, whose backup was pruned.
    pub pruned: bool,
    /// What happens to which file; nothing where all is as it was.
    pub effects: Effects,
}

/// Brings a session back.
pub fn restore(pen: &SessionWriter, roots: &Roots, request: &RestoreRequest) -> Result<Restore, Error> {
    let journal = pen.journal()?;
    let keep = pen.keep()?;
    let session = which(&journal, roots, &request.name)?;
    let firsts = first_states(&journal, &keep, &session);
    let Some(first) = firsts.iter().map(|(op, ..)| *op).min() else {
        return Err(Error::NoBackup { session });
    };
    let is_earlier = |op: &Op| op.session == session && op.state == OpState::Done && op.no < first;
    let pruned = journal.ops.iter().any(|op| is_earlier(op) && op.changes.iter().any(|c| c.before.is_some()));
    let mut deeds = Vec::new();
    for (_, path, before) in firsts {
        deeds.extend(deed(&keep, path, before)?);
    }
    let plan = Plan {
        command: "restore",
        session: session.clone(),
        about: format!("to before {first}"),
        deeds,
        even_if_live: request.even_if_live,
    };
    let effects = effects(&plan);
    let idle = request.dry_run || effects.is_empty();
    let op = if idle { None } else { Some(pen.commit(plan, || Ok(()))?) };
    Ok(Restore { op, session, first, pruned, effects })
}

/// Finds the session among those that were changed.
fn which(journal: &Journal, roots: &Roots, name: &str) -> Result<String, Error> {
    let ids = || journal.ops.iter().map(|op| op.session.as_str());
    let fits = |id: &str, name: &str| !name.is_empty() && (id == name || id.starts_with(name));
    let known: BTreeSet<&str> = ids().filter(|id| fits(id, name)).collect();
    if let Some(exact) = known.get(name).or_else(|| known.first().filter(|_| known.len() == 1)) {
        return Ok((*exact).to_owned());
    }
    if known.len() > 1 {
        let candidates = known.into_iter().map(|id| (id.to_owned(), String::new())).collect();
        return Err(Error::AmbiguousSession { name: name.to_owned(), candidates });
    }
    // A path, also of a file that is gone.
    let path = std::path::absolute(name).unwrap_or_default();
    let touches = |path: &Path| {
        let op = journal.ops.iter().find(|op| op.changes.iter().any(|change| change.path == path));
        op.map(|op| op.session.clone())
    };
    if let Some(session) = touches(&path) {
        return Ok(session);
    }
    let path = find_session(roots, name, None)?;
    let real = std::fs::canonicalize(&path).unwrap_or(path);
    let stem = real.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let session = touches(&real).or_else(|| ids().find(|id| *id == stem).map(str::to_owned));
    session.ok_or(Error::NoBackup { session: stem })
}

/// Returns the earliest state of each file that is kept, or that the file is in. What rethread made itself is not taken
/// away.
fn first_states(journal: &Journal, keep: &BackupStore, session: &str) -> Vec<(OpId, PathBuf, FileState)> {
    let mut seen = HashSet::new();
    let mut firsts = Vec::new();
    let ops = journal.ops.iter().filter(|op| op.session == session && op.state == OpState::Done);
    for (op, change) in ops.flat_map(|op| op.changes.iter().map(move |change| (op, change))) {
        let is_there = |before: &FileState| matches!(drift(&change.path, before), Ok(None));
        let before = change.before.as_ref().filter(|before| is_there(before) || keep.holds(before));
        let Some(before) = before else { continue };
        if seen.insert(change.path.clone()) {
            firsts.push((op.no, change.path.clone(), before.clone()));
        }
    }
    firsts
}

/// Says what brings a file to a state; nothing where it is in it.
fn deed<'k>(keep: &'k BackupStore, path: PathBuf, before: FileState) -> Result<Option<FileOp<'k>>, Error> {
    if std::fs::symlink_metadata(&path).is_err() {
        return Ok(Some(match before.trash.clone() {
            Some(from) => FileOp::Return { path, from },
            None => FileOp::Create { path, content: kept(keep, before) },
        }));
    }
    // A folder that is there again is not mixed with the one that was removed.
    if before.folder || drift(&path, &before).map_err(Error::reading(&path))?.is_none() {
        return Ok(None);
    }
    let stamp = TailFingerprint::of(&path).map_err(Error::reading(&path))?;
    Ok(Some(FileOp::Replace { path, stamp, content: kept(keep, before) }))
}
