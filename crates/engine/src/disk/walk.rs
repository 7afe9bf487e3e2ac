//! Walks folders and visits each of them once, however many paths lead to it.
//!
//! The walk first visits the folders that need no symbolic link, and then, round by round, those behind links. So a folder
//! has its real path if that is below a root, else the first of the paths with the fewest links.

use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use rethread_core::id::{Id, IdSet};

use super::dir_cache::DirCache;
use super::work_progress::WalkReporter;
use crate::Error;

/// The maximum numbers of folders that a walk visits.
#[derive(Debug, Clone, Copy)]
pub(super) struct WalkLimits {
    /// Folders in total.
    pub(super) folders: u64,
    /// Folders behind symbolic links. A link may lead to a whole disk.
    pub(super) linked_folders: u64,
}

impl Default for WalkLimits {
    fn default() -> WalkLimits {
        WalkLimits { folders: 2_000_000, linked_folders: 100_000 }
    }
}

/// A path that the walk still has to visit.
enum WalkItem {
    Folder(Arc<LinkTrail>),
    File(Metadata, Arc<LinkTrail>),
    /// A symbolic link.
    Link(Arc<LinkTrail>),
}

/// The root below which a path was found, and the symbolic links that were followed to reach it.
struct LinkTrail {
    root: Arc<Path>,
    /// The real path of the folder that contains each link.
    link_dirs: Vec<PathBuf>,
}

/// A transcript or stored tool result that a walk found.
pub(super) struct FoundFile<'w> {
    pub(super) path: PathBuf,
    pub(super) meta: &'w Metadata,
    /// The root it was found below.
    pub(super) root: &'w Arc<Path>,
    /// Whether a symbolic link below the root leads to it.
    pub(super) is_linked: bool,
}

/// A walk over the folders below some roots.
pub(super) struct FolderWalk<'w, 'c> {
    dir_cache: &'w mut DirCache<'c>,
    failures: &'w mut Vec<Error>,
    limits: WalkLimits,
    visited: IdSet,
    /// The number of visited folders that are behind links.
    linked_count: u64,
    is_stopped: bool,
    /// The paths to visit, the next one on top.
    stack: Vec<(PathBuf, WalkItem)>,
    /// The links to follow in the next round, in the order in which they were found.
    links: Vec<(PathBuf, Arc<LinkTrail>)>,
    reporter: WalkReporter,
}

impl<'w, 'c> FolderWalk<'w, 'c> {
    /// Creates a walk. It adds folders that cannot be read, and a limit that is reached, to `failures`.
    pub(super) fn new(
        dir_cache: &'w mut DirCache<'c>,
        failures: &'w mut Vec<Error>,
        limits: WalkLimits,
    ) -> FolderWalk<'w, 'c> {
        FolderWalk {
            dir_cache,
            failures,
            limits,
            visited: IdSet::default(),
            linked_count: 0,
            is_stopped: false,
            stack: Vec::new(),
            links: Vec::new(),
            reporter: WalkReporter::default(),
        }
    }

    /// Calls `visit` with every transcript and stored tool result below `roots`: first those without symbolic links in
    /// their paths, in the order of paths below each root, then the others. A file is visited under several paths if links
    /// or hard links lead to it. Keeps no directory open, whatever the depth.
    pub(super) fn run(mut self, roots: &[Arc<Path>], mut visit: impl FnMut(FoundFile<'_>)) {
        for root in roots {
            let trail = Arc::new(LinkTrail { root: Arc::clone(root), link_dirs: Vec::new() });
            match std::fs::metadata(root) {
                Ok(meta) => self.visit_folder(root, &meta, &trail),
                Err(source) => self.add_failure(root, source),
            }
            self.empty_stack(&mut visit);
        }
        while !self.links.is_empty() {
            for (link, trail) in std::mem::take(&mut self.links) {
                if let Err(source) = self.follow_link(&link, &trail, &mut visit) {
                    self.add_failure(&link, source);
                }
                self.empty_stack(&mut visit);
            }
        }
    }

    /// Visits everything on the stack. Links are kept for the next round.
    fn empty_stack(&mut self, visit: &mut impl FnMut(FoundFile<'_>)) {
        while let Some((path, item)) = self.stack.pop() {
            match item {
                WalkItem::File(meta, trail) => {
                    let is_linked = !trail.link_dirs.is_empty();
                    visit(FoundFile { path, meta: &meta, root: &trail.root, is_linked });
                }
                WalkItem::Link(trail) => match self.may_lead_to_sessions(&path) {
                    Ok(true) => self.links.push((path, trail)),
                    Ok(false) => {}
                    Err(source) => self.add_failure(&path, source),
                },
                WalkItem::Folder(trail) => match std::fs::symlink_metadata(&path) {
                    Ok(meta) => self.visit_folder(&path, &meta, &trail),
                    Err(source) => self.add_failure(&path, source),
                },
            }
        }
    }

    /// Visits the target of a symbolic link: a session file, or a folder. Skips a folder that was visited, and one that
    /// contains a link on the trail, because that would be a cycle.
    fn follow_link(
        &mut self,
        link: &Path,
        trail: &LinkTrail,
        visit: &mut impl FnMut(FoundFile<'_>),
    ) -> io::Result<()> {
        let meta = std::fs::metadata(link)?;
        if meta.is_file() {
            visit(FoundFile { path: link.to_owned(), meta: &meta, root: &trail.root, is_linked: true });
        }
        if self.is_stopped || !meta.is_dir() || self.visited.contains(&folder_id(link, &meta)) {
            return Ok(());
        }
        let folder = link.parent().unwrap_or(Path::new("."));
        let target = link.canonicalize()?;
        let mut link_dirs = trail.link_dirs.clone();
        link_dirs.push(folder.canonicalize()?);
        if !link_dirs.iter().any(|dir| dir.starts_with(&target)) {
            let trail = Arc::new(LinkTrail { root: Arc::clone(&trail.root), link_dirs });
            self.visit_folder(link, &meta, &trail);
        }
        Ok(())
    }

    /// Pushes the content of a folder onto the stack, unless it was visited before or a limit is reached.
    fn visit_folder(&mut self, folder: &Path, meta: &Metadata, trail: &Arc<LinkTrail>) {
        if self.is_stopped || !meta.is_dir() || !self.visited.insert(folder_id(folder, meta)) {
            return;
        }
        self.linked_count += u64::from(!trail.link_dirs.is_empty());
        let has_too_many_linked = self.linked_count > self.limits.linked_folders;
        if has_too_many_linked || self.visited.len() as u64 > self.limits.folders {
            self.is_stopped = true;
            let limit = if has_too_many_linked { self.limits.linked_folders } else { self.limits.folders };
            let path = folder.to_owned();
            let failure = Error::TooManyFolders { path, limit, is_linked: has_too_many_linked };
            return self.failures.push(failure);
        }
        self.reporter.count_folder();
        self.push_children(folder, meta, trail);
    }

    /// Pushes the subfolders, links and session files in a folder onto the stack, the first name on top.
    fn push_children(&mut self, folder: &Path, meta: &Metadata, trail: &Arc<LinkTrail>) {
        // Read before the names, so that a later change invalidates the cached listing.
        let now = SystemTime::now();
        if let Some(names) = self.dir_cache.reuse_listing(folder, meta) {
            let stat_name = |(name, is_folder): &(PathBuf, bool)| {
                let path = folder.join(name);
                if *is_folder {
                    return Some((path, WalkItem::Folder(Arc::clone(trail))));
                }
                let meta = std::fs::symlink_metadata(&path).ok().filter(Metadata::is_file)?;
                Some((path, WalkItem::File(meta, Arc::clone(trail))))
            };
            return self.stack.extend(names.iter().rev().filter_map(stat_name));
        }
        let items = match self.read_folder(folder, trail) {
            Ok(items) => items,
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => return,
            Err(error) => return self.add_failure(folder, error),
        };
        if !items.iter().any(|(_, item)| matches!(item, WalkItem::Link(_))) {
            let to_cached = |(name, item): &(OsString, WalkItem)| {
                (PathBuf::from(name), matches!(item, WalkItem::Folder(_)))
            };
            self.dir_cache.add_listing(folder, meta, now, items.iter().rev().map(to_cached).collect());
        }
        self.stack.extend(items.into_iter().map(|(name, item)| (folder.join(name), item)));
    }

    /// Lists the subfolders, links and session files in a folder, the last name first.
    fn read_folder(
        &mut self,
        folder: &Path,
        trail: &Arc<LinkTrail>,
    ) -> io::Result<Vec<(OsString, WalkItem)>> {
        let mut items = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let typed_entry = entry.and_then(|entry| Ok((entry.file_type()?, entry)));
            let (kind, entry) = match typed_entry {
                Ok(typed_entry) => typed_entry,
                Err(error) => {
                    self.add_failure(folder, error);
                    continue;
                }
            };
            let name = entry.file_name();
            if kind.is_dir() {
                items.push((name, WalkItem::Folder(Arc::clone(trail))));
            } else if kind.is_symlink() {
                items.push((name, WalkItem::Link(Arc::clone(trail))));
            } else if kind.is_file() && is_session_data(folder, &name) {
                // Relative to the open directory, so the system need not resolve the whole path for each file.
                items.extend(
                    entry.metadata().ok().map(|meta| (name, WalkItem::File(meta, Arc::clone(trail)))),
                );
            }
        }
        items.sort_unstable_by(|(a, _), (b, _)| b.cmp(a));
        Ok(items)
    }

    /// Returns `true` if a symbolic link leads to a folder that was not visited, or leads to a file and has the name of
    /// session data.
    fn may_lead_to_sessions(&self, link: &Path) -> io::Result<bool> {
        let meta = std::fs::metadata(link)?;
        if meta.is_dir() {
            return Ok(!self.visited.contains(&folder_id(link, &meta)));
        }
        let (folder, name) = (link.parent().unwrap_or(link), link.file_name().unwrap_or_default());
        Ok(meta.is_file() && is_session_data(folder, name))
    }

    fn add_failure(&mut self, path: &Path, source: io::Error) {
        self.failures.push(Error::Unreadable { path: path.to_owned(), source });
    }
}

/// Returns an id of a folder that is the same under all its paths: its device and inode.
#[cfg(unix)]
fn folder_id(_folder: &Path, meta: &Metadata) -> Id {
    use std::os::unix::fs::MetadataExt;
    Id::from_bits(u128::from(meta.dev()) << 64 | u128::from(meta.ino()))
}

/// Returns an id of a folder that is the same under all its paths: a hash of its real path.
#[cfg(not(unix))]
fn folder_id(folder: &Path, _meta: &Metadata) -> Id {
    let real_path = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    Id::from_text(real_path.as_os_str().as_encoded_bytes())
}

/// Returns `true` if a file is a transcript (`*.jsonl`) or a stored tool result (`tool-results/*.txt`).
pub(super) fn is_session_data(folder: &Path, name: &OsStr) -> bool {
    match Path::new(name).extension() {
        Some(extension) if extension == "jsonl" => true,
        Some(extension) if extension == "txt" => folder.file_name() == Some(OsStr::new("tool-results")),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
