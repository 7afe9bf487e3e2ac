//! Walks folders in the order of their paths. Follows symbolic links, but not cycles.

use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::dir_cache::DirCache;
use crate::Error;

/// A path that the walk still has to visit.
enum WalkItem {
    Dir(Arc<LinkTrail>),
    File(Metadata),
}

/// The symbolic links that were followed to reach a folder.
#[derive(Default)]
struct LinkTrail {
    /// The real path of the folder that contains each link.
    link_dirs: Vec<PathBuf>,
}

/// Calls `visit` with every transcript and stored tool result below `root`, in the order of paths. Adds folders that
/// cannot be read to `failures`. Keeps no directory open, whatever the depth.
pub(super) fn walk_sessions(
    root: &Path,
    dir_cache: &mut DirCache<'_>,
    failures: &mut Vec<Error>,
    mut visit: impl FnMut(PathBuf, &Metadata),
) {
    let mut stack = Vec::new();
    push_children(root, &Arc::default(), dir_cache, &mut stack, failures);
    while let Some((path, item)) = stack.pop() {
        match item {
            WalkItem::File(meta) => visit(path, &meta),
            WalkItem::Dir(trail) => push_children(&path, &trail, dir_cache, &mut stack, failures),
        }
    }
}

/// Pushes the subfolders and session files of a folder onto the stack, the first name on top.
fn push_children(
    folder: &Path,
    trail: &Arc<LinkTrail>,
    dir_cache: &mut DirCache<'_>,
    stack: &mut Vec<(PathBuf, WalkItem)>,
    failures: &mut Vec<Error>,
) {
    if let Some(names) = dir_cache.reuse_listing(folder) {
        let stat_name = |(name, is_folder): &(PathBuf, bool)| {
            let path = folder.join(name);
            if *is_folder {
                return Some((path, WalkItem::Dir(Arc::clone(trail))));
            }
            let meta = std::fs::symlink_metadata(&path).ok().filter(Metadata::is_file)?;
            Some((path, WalkItem::File(meta)))
        };
        return stack.extend(names.iter().rev().filter_map(stat_name));
    }
    // Read before the names, so that a later change invalidates the cached listing.
    let meta_and_time = std::fs::symlink_metadata(folder).map(|meta| (meta, SystemTime::now()));
    let mut has_links = false;
    let mut items = Vec::new();
    let mut add_failure = |path: &Path, source: io::Error| {
        failures.push(Error::Unreadable { path: path.to_owned(), source });
    };
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return,
        Err(error) => return add_failure(folder, error),
    };
    for entry in entries {
        let typed_entry = entry.and_then(|entry| Ok((entry.file_type()?, entry)));
        let (kind, entry) = match typed_entry {
            Ok(typed_entry) => typed_entry,
            Err(error) => {
                add_failure(folder, error);
                continue;
            }
        };
        let name = entry.file_name();
        if kind.is_dir() {
            items.push((name, WalkItem::Dir(Arc::clone(trail))));
        } else if kind.is_symlink() {
            has_links = true;
            match follow_link(folder, &name, trail) {
                Ok(item) => items.extend(item.map(|item| (name, item))),
                Err(error) => add_failure(&folder.join(name), error),
            }
        } else if kind.is_file() && is_session_data(folder, &name) {
            // Relative to the open directory, so the system need not resolve the whole path for each file.
            items.extend(entry.metadata().ok().map(|meta| (name, WalkItem::File(meta))));
        }
    }
    items.sort_unstable_by(|(a, _), (b, _)| b.cmp(a));
    if let Ok(meta_and_time) = meta_and_time
        && !has_links
    {
        let to_cached =
            |(name, item): &(OsString, WalkItem)| (PathBuf::from(name), matches!(item, WalkItem::Dir(_)));
        dir_cache.add_listing(folder, &meta_and_time, items.iter().rev().map(to_cached).collect());
    }
    stack.extend(items.into_iter().map(|(name, item)| (folder.join(name), item)));
}

/// Follows a symbolic link to a folder, or to a file if the name of the link is that of session data. Returns `None` for
/// other targets, and for a folder that contains a link on the trail: that would be a cycle.
fn follow_link(folder: &Path, name: &OsString, trail: &Arc<LinkTrail>) -> io::Result<Option<WalkItem>> {
    let link = folder.join(name);
    let meta = std::fs::metadata(&link)?;
    if meta.is_file() {
        return Ok(is_session_data(folder, name).then_some(WalkItem::File(meta)));
    }
    if !meta.is_dir() {
        return Ok(None);
    }
    let (real_folder, target) = (folder.canonicalize()?, link.canonicalize()?);
    let mut link_dirs = trail.link_dirs.clone();
    link_dirs.push(real_folder);
    let is_cycle = link_dirs.iter().any(|dir| dir.starts_with(&target));
    Ok((!is_cycle).then(|| WalkItem::Dir(Arc::new(LinkTrail { link_dirs }))))
}

/// Returns `true` if a file is a transcript (`*.jsonl`) or a stored tool result (`tool-results/*.txt`).
fn is_session_data(folder: &Path, name: &OsStr) -> bool {
    match Path::new(name).extension() {
        Some(extension) if extension == "jsonl" => true,
        Some(extension) if extension == "txt" => folder.file_name() == Some(OsStr::new("tool-results")),
        _ => false,
    }
}
