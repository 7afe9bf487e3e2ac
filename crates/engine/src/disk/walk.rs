//! Walks folders in the order of their paths; links are followed, but not in circles.

use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::dir_cache::DirCache;
use crate::Error;

/// What is met in a folder: a folder to go into, or a file.
enum WalkItem {
    Folder(Arc<LinkTrail>),
    File(Metadata),
}

/// The links that were followed on the way to a folder: where each of them lies, really.
#[derive(Default)]
struct LinkTrail {
    from: Vec<PathBuf>,
}

/// Shows every session file below `root`, and every large result beside one. Nothing is held open, however deep it goes.
pub(super) fn walk(
    root: &Path,
    folders: &mut DirCache<'_>,
    failures: &mut Vec<Error>,
    mut each: impl FnMut(PathBuf, &Metadata),
) {
    let mut stack = Vec::new();
    enter(root, &Arc::default(), folders, &mut stack, failures);
    while let Some((path, met)) = stack.pop() {
        match met {
            WalkItem::File(meta) => each(path, &meta),
            WalkItem::Folder(jumps) => enter(&path, &jumps, folders, &mut stack, failures),
        }
    }
}

/// Puts what is in a folder on the stack, the first by name uppermost.
fn enter(
    folder: &Path,
    jumps: &Arc<LinkTrail>,
    folders: &mut DirCache<'_>,
    stack: &mut Vec<(PathBuf, WalkItem)>,
    failures: &mut Vec<Error>,
) {
    if let Some(names) = folders.names(folder) {
        let look = |(name, is_folder): &(PathBuf, bool)| {
            let path = folder.join(name);
            if *is_folder {
                return Some((path, WalkItem::Folder(Arc::clone(jumps))));
            }
            let meta = std::fs::symlink_metadata(&path).ok().filter(Metadata::is_file)?;
            Some((path, WalkItem::File(meta)))
        };
        return stack.extend(names.iter().rev().filter_map(look));
    }
    let looked = std::fs::symlink_metadata(folder).map(|meta| (meta, SystemTime::now()));
    let mut linked = false;
    let mut met = Vec::new();
    let mut fail = |path: &Path, source: io::Error| {
        failures.push(Error::Unreadable { path: path.to_owned(), source });
    };
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return,
        Err(error) => return fail(folder, error),
    };
    for entry in entries {
        let found = entry.and_then(|entry| Ok((entry.file_type()?, entry)));
        let (kind, entry) = match found {
            Ok(found) => found,
            Err(error) => {
                fail(folder, error);
                continue;
            }
        };
        let name = entry.file_name();
        if kind.is_dir() {
            met.push((name, WalkItem::Folder(Arc::clone(jumps))));
        } else if kind.is_symlink() {
            linked = true;
            match follow(folder, &name, jumps) {
                Ok(found) => met.extend(found.map(|found| (name, found))),
                Err(error) => fail(&folder.join(name), error),
            }
        } else if kind.is_file() && is_ours(folder, &name) {
            // Asked of the open folder, by name: the system need not walk the whole path for each file.
            met.extend(entry.metadata().ok().map(|meta| (name, WalkItem::File(meta))));
        }
    }
    met.sort_unstable_by(|(a, _), (b, _)| b.cmp(a));
    if let Ok(looked) = looked
        && !linked
    {
        let name =
            |(name, met): &(OsString, WalkItem)| (PathBuf::from(name), matches!(met, WalkItem::Folder(_)));
        folders.add(folder, &looked, met.iter().rev().map(name).collect());
    }
    stack.extend(met.into_iter().map(|(name, met)| (folder.join(name), met)));
}

/// Looks where a link leads; nowhere, if that is back up.
fn follow(folder: &Path, name: &OsString, jumps: &Arc<LinkTrail>) -> io::Result<Option<WalkItem>> {
    let link = folder.join(name);
    let meta = std::fs::metadata(&link)?;
    if meta.is_file() {
        return Ok(is_ours(folder, name).then_some(WalkItem::File(meta)));
    }
    if !meta.is_dir() {
        return Ok(None);
    }
    let (here, target) = (folder.canonicalize()?, link.canonicalize()?);
    let mut from = jumps.from.clone();
    from.push(here);
    let back = from.iter().any(|from| from.starts_with(&target));
    Ok((!back).then(|| WalkItem::Folder(Arc::new(LinkTrail { from }))))
}

/// Whether a file is a session or a subagent (`*.jsonl`), or a large result (`tool-results/*.txt`).
fn is_ours(folder: &Path, name: &OsStr) -> bool {
    match Path::new(name).extension() {
        Some(end) if end == "jsonl" => true,
        Some(end) if end == "txt" => folder.file_name() == Some(OsStr::new("tool-results")),
        _ => false,
    }
}
