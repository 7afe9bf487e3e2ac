//! Finds session files, and derives from their paths the session they belong to.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use rethread_core::id::{Id, IdSet};

use super::dir_cache::DirCache;
use super::file_content::is_only_archived;
use super::fingerprint::FileFingerprint;
use super::open_archive::{find_archived, find_archived_file, list_archived_below};
use super::tail_fingerprint::hash_tail_at;
use super::walk::{FolderWalk, WalkLimits};
use crate::Error;
use crate::archive_reader::tombstones::is_session_id;
use crate::plain_file::open_file;

/// The folders and files that are searched for sessions.
#[derive(Debug, Clone, Default)]
pub struct Roots {
    /// `.claude` folders, `projects` folders, any folders with `*.jsonl` below them, or single files.
    pub paths: Vec<PathBuf>,
    /// The archive that is read too. `None` reads files on disk only.
    pub archive: Option<ArchiveScope>,
}

/// The part of an archive that is read together with the files on disk.
#[derive(Debug, Clone)]
pub struct ArchiveScope {
    /// The folder of the archive. It may not exist.
    pub dir: PathBuf,
    /// Whether the sessions of all machines and folders are read, and not only those that were below the roots.
    pub all_places: bool,
    /// Which sessions are read.
    pub kept: KeptFilter,
}

/// Selects sessions by whether their files exist.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum KeptFilter {
    /// Sessions on disk, and those that only the archive has.
    #[default]
    With,
    /// Sessions on disk.
    Without,
    /// Sessions that only the archive has.
    Only,
}

impl Roots {
    /// Returns roots without an archive.
    pub fn new(paths: Vec<PathBuf>) -> Roots {
        Roots { paths, archive: None }
    }

    /// Returns the same roots without an archive: only files on disk are found.
    pub fn without_archive(&self) -> Roots {
        Roots::new(self.paths.clone())
    }

    /// Returns `true` if a filter omits some of the session files. Their values stay in the cache.
    pub(crate) fn is_filtered(&self) -> bool {
        self.archive.as_ref().is_some_and(|scope| scope.kept != KeptFilter::With)
    }
}

/// A file of a session: its transcript, a transcript of a subagent, or a stored tool result.
#[derive(Debug, Clone)]
pub(crate) struct SessionFile {
    pub(crate) path: PathBuf,
    /// The root it was found under.
    pub(crate) root: Arc<Path>,
    pub(crate) len: u64,
    pub(crate) mtime: Option<SystemTime>,
    pub(crate) role: FileRole,
    pub(crate) fingerprint: FileFingerprint,
    /// Whether any later change is guaranteed to change the fingerprint.
    pub(crate) is_stable: bool,
    /// Whether only an archive has the file.
    pub(crate) is_archived: bool,
}

/// The role of a file in its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileRole {
    /// The transcript of the session itself.
    Main,
    /// The transcript of a subagent. The session is `None` if the file is not in the folder of a session.
    Agent { session: Option<String> },
    /// A large tool result in a file of its own.
    Result { session: String },
}

impl SessionFile {
    /// Returns the file name without extension. Returns an empty string if it is not UTF-8.
    pub(crate) fn stem(&self) -> &str {
        self.path.file_stem().and_then(OsStr::to_str).unwrap_or_default()
    }

    /// Returns a hash of the path.
    pub(crate) fn path_id(&self) -> Id {
        Id::from_text(self.path.as_os_str().as_encoded_bytes())
    }

    pub(crate) fn is_agent(&self) -> bool {
        matches!(self.role, FileRole::Agent { .. })
    }

    pub(crate) fn is_result(&self) -> bool {
        matches!(self.role, FileRole::Result { .. })
    }

    /// Returns the id of the session that the file belongs to. Returns `None` if the path does not contain it.
    pub(crate) fn session_id(&self) -> Option<&str> {
        match &self.role {
            FileRole::Agent { session } => session.as_deref(),
            FileRole::Result { session } => Some(session),
            FileRole::Main => Some(self.stem()).filter(|stem| is_session_id(stem)),
        }
    }

    /// Returns the folder for the subagents and tool results of the session. It may not exist.
    pub(crate) fn side_dir(&self) -> PathBuf {
        self.path.with_extension("")
    }

    fn new(path: PathBuf, root: &Arc<Path>, meta: &Metadata, now: SystemTime) -> SessionFile {
        let fingerprint = FileFingerprint::from_metadata(meta);
        SessionFile {
            role: FileRole::from_path(&path),
            path,
            root: Arc::clone(root),
            len: meta.len(),
            mtime: meta.modified().ok(),
            fingerprint,
            is_stable: fingerprint.is_stable(now),
            is_archived: false,
        }
    }

    /// Creates a session file from a path that the user named. A file without the extension `jsonl` is a transcript too.
    /// Returns `None` if its metadata cannot be read.
    fn from_named_path(path: &Path, root: &Arc<Path>, now: SystemTime) -> Option<SessionFile> {
        let meta = std::fs::metadata(path).ok()?;
        let file = SessionFile::new(path.to_owned(), root, &meta, now);
        let role = if path.extension() == Some(OsStr::new("jsonl")) { file.role } else { FileRole::Main };
        Some(SessionFile { role, ..file })
    }
}

impl FileRole {
    /// Derives the role from the path: `*.txt` is a tool result, `agent-*` a subagent, any other file a main transcript.
    pub(super) fn from_path(path: &Path) -> FileRole {
        // A store has thousands of files: splitting the path with `Path` methods would dominate the time to list them.
        let is_separator = |byte: &u8| std::path::is_separator(char::from(*byte));
        let names = path.as_os_str().as_encoded_bytes().rsplit(is_separator);
        let mut names = names.filter(|name| !name.is_empty() && *name != b".");
        let name = names.next().unwrap_or_default();
        let to_text = |name: &[u8]| std::str::from_utf8(name).map(str::to_owned).ok();
        if name.ends_with(b".txt") {
            FileRole::Result { session: names.nth(1).and_then(to_text).unwrap_or_default() }
        } else if name.starts_with(b"agent-") {
            let is_in_subagents = names.any(|folder| folder == b"subagents");
            FileRole::Agent { session: names.next().filter(|_| is_in_subagents).and_then(to_text) }
        } else {
            FileRole::Main
        }
    }
}

/// Finds the transcripts of all sessions and subagents, sorted by path. Also returns the errors of unreadable folders.
pub(crate) fn find_sessions(roots: &Roots) -> (Vec<SessionFile>, Vec<Error>) {
    let (mut files, failures) = find_sessions_and_results(roots, &mut DirCache::default());
    files.retain(|file| !file.is_result());
    (files, failures)
}

/// Finds all transcripts and stored tool results, sorted by path. Also returns the errors of unreadable folders.
/// Unchanged directories are listed from `dir_cache`.
pub(crate) fn find_sessions_and_results(
    roots: &Roots,
    dir_cache: &mut DirCache<'_>,
) -> (Vec<SessionFile>, Vec<Error>) {
    let mut files = Vec::new();
    let mut failures = Vec::new();
    let now = SystemTime::now();
    let mut folders: Vec<Arc<Path>> = Vec::new();
    for root in &roots.paths {
        if root.is_file() {
            files.extend(SessionFile::from_named_path(root, &root.parent().unwrap_or(root).into(), now));
        } else if is_only_archived(root) {
            files.extend(find_archived_file(root, &root.parent().unwrap_or(root).into()));
        } else {
            folders.push(find_sessions_dir(root).into());
        }
    }
    let mut has_links = false;
    let walk = FolderWalk::new(dir_cache, &mut failures, WalkLimits::default());
    walk.run(&folders, |found| {
        has_links |= found.is_linked;
        files.push(SessionFile::new(found.path, found.root, found.meta, now));
    });
    // A file that is reachable through a link or below two roots is returned once. Real paths come before linked ones.
    let mut seen = IdSet::with_capacity_and_hasher(files.len(), Default::default());
    let inode_id = |(device, inode): (u64, u64)| Id::from_bits(u128::from(device) << 64 | u128::from(inode));
    files.retain(|file| file.fingerprint.inode.is_none_or(|inode| seen.insert(inode_id(inode))));
    let live_count = files.len();
    if let Some(scope) = roots.archive.as_ref().filter(|scope| scope.kept != KeptFilter::Without) {
        // A folder that could not be read may contain any file.
        let walked = if failures.is_empty() { roots.paths.clone() } else { Vec::new() };
        let archived = find_archived(scope, &roots.paths, &files, &walked, &mut failures);
        files.extend(archived);
        if scope.kept == KeptFilter::Only {
            files.drain(..live_count);
        }
    }
    // The files below one root are already sorted.
    if roots.paths.len() > 1 || has_links || files.len() > live_count || roots.is_filtered() {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files.dedup_by(|a, b| a.path.as_os_str() == b.path.as_os_str());
    }
    if folders.len() > 1 {
        remove_copies(&mut files, &folders);
    }
    (files, failures)
}

/// Removes the files that are copies of a file with the same path below another folder, such as a backup of `~/.claude`: nothing
/// is counted twice. A shorter copy is an earlier state of the longer file. Of equal files, that in the first folder stays.
fn remove_copies(files: &mut Vec<SessionFile>, folders: &[Arc<Path>]) {
    let mut kept: HashMap<&Path, usize> = HashMap::new();
    let mut is_copy = vec![false; files.len()];
    // Files that the user named are in no folder.
    let rank = |file: &SessionFile| folders.iter().position(|folder| *folder == file.root);
    let order = |idx: usize| (std::cmp::Reverse(files[idx].len), rank(&files[idx]));
    for (idx, file) in files.iter().enumerate().filter(|(_, file)| !file.is_archived) {
        let Some(relative) = rank(file).and_then(|_| file.path.strip_prefix(&file.root).ok()) else {
            continue;
        };
        // A root is a client's folder or its `projects` folder.
        let relative = relative.strip_prefix("projects").unwrap_or(relative);
        let other = *kept.entry(relative).or_insert(idx);
        if other != idx && have_equal_start(file, &files[other]) {
            let (best, copy) = if order(idx) < order(other) { (idx, other) } else { (other, idx) };
            is_copy[copy] = true;
            kept.insert(relative, best);
        }
    }
    let mut is_copy = is_copy.into_iter();
    files.retain(|_| !is_copy.next().unwrap_or_default());
}

/// Returns `true` if the end of the shorter of two files is at the same offset in the longer one.
fn have_equal_start(a: &SessionFile, b: &SessionFile) -> bool {
    let len = a.len.min(b.len);
    let hash = |file: &SessionFile| open_file(&file.path).and_then(|file| hash_tail_at(&file, len)).ok();
    hash(a).is_some_and(|a| hash(b) == Some(a))
}

/// Finds the transcripts at and below a path, on disk and in an open archive, sorted by path.
pub(crate) fn find_sessions_below(path: &Path) -> Vec<SessionFile> {
    let mut files = find_sessions(&Roots::new(vec![path.to_owned()])).0;
    let archived = list_archived_below(path);
    if !archived.is_empty() {
        let root: Arc<Path> = path.into();
        files.extend(archived.iter().filter_map(|path| find_archived_file(path, &root)));
        let is_transcript = |path: &Path| path.extension() == Some(OsStr::new("jsonl"));
        files.retain(|file| !file.is_archived || is_transcript(&file.path));
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files.dedup_by(|a, b| a.path == b.path);
    }
    files
}

/// Returns the folder below a root that contains sessions: `projects` of a `.claude` folder, else the root itself.
fn find_sessions_dir(root: &Path) -> PathBuf {
    let projects = root.join("projects");
    let is_client_dir = root.file_name() == Some(OsStr::new(".claude"))
        || ["history.jsonl", "settings.json", "todos"].iter().any(|name| root.join(name).exists());
    if is_client_dir && projects.is_dir() { projects } else { root.to_owned() }
}

/// Lists the files at any depth below a folder, sorted by path: regular files on disk, and files that only an open archive
/// has. Skips everything that cannot be read.
pub(crate) fn list_files(folder: &Path) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().filter_map(Result::ok);
    let files = entries.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path);
    let mut files: Vec<PathBuf> = files.collect();
    files.extend(list_archived_below(folder));
    files.sort();
    files
}

/// Lists the names in a folder, on disk and in an open archive, in no particular order. Returns an empty list if the folder
/// cannot be read.
pub(crate) fn list_names(folder: &Path) -> Vec<OsString> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<OsString> = entries.map(|entry| entry.file_name()).collect();
    let archived = list_archived_below(folder).into_iter().filter(|path| path.parent() == Some(folder));
    names.extend(archived.filter_map(|path| path.file_name().map(OsStr::to_owned)));
    names
}

/// Returns the total length in bytes of the files at and below a path. Unreadable files count as 0.
pub(crate) fn total_size(path: &Path) -> u64 {
    let entries = walkdir::WalkDir::new(path).into_iter().filter_map(Result::ok);
    entries
        .filter_map(|entry| entry.metadata().ok())
        .filter(std::fs::Metadata::is_file)
        .map(|meta| meta.len())
        .sum()
}
