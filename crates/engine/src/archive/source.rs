//! Finds the files to archive.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::seen_files::{SeenFile, SeenPlace};
use super::source_walk::SourceWalk;
use crate::Error;
use crate::disk::{FileFingerprint, Roots, find_client_dir};

/// The folders of a client that belong to its sessions.
const CLIENT_FOLDERS: [&str; 5] = ["projects", "file-history", "plans", "tasks", "todos"];
/// The folders of a client that contain a folder per session.
pub(crate) const SESSION_FOLDERS: [&str; 2] = ["file-history", "tasks"];
/// The prompts of all sessions.
pub(crate) const PROMPT_HISTORY: &str = "history.jsonl";

/// A file to archive.
#[derive(Debug, Clone)]
pub(crate) struct SourceFile {
    /// The path below its root.
    pub(crate) relative: PathBuf,
    pub(crate) fingerprint: FileFingerprint,
    /// The permission bits. 0 if unknown.
    pub(crate) mode: u32,
    /// The state of the file when it was archived.
    pub(super) seen: Option<SeenFile>,
}

/// The files below a root.
#[derive(Debug)]
pub(crate) struct SourceFiles {
    /// The folder, usually `~/.claude`.
    pub(crate) root: PathBuf,
    /// Sorted by path.
    pub(crate) files: Vec<SourceFile>,
}

/// A folder, and what to archive below it.
#[derive(Debug)]
pub(super) struct SourceRoot {
    /// The folder, usually `~/.claude`.
    pub(super) root: PathBuf,
    /// The paths below the folder: files, and folders of which all files are archived.
    paths: Vec<PathBuf>,
    /// Whether only files with the names of session data are archived.
    is_filtered: bool,
}

/// Lists the files to archive below each root. Adds the errors of unreadable folders to `failures`.
pub(crate) fn list_sources(roots: &Roots, failures: &mut Vec<Error>) -> Vec<SourceFiles> {
    let sources = find_sources(roots).into_iter();
    sources.map(|source| source.list_files(&mut SeenPlace::default(), 0, failures).0).collect()
}

/// Returns what to archive below each root.
pub(super) fn find_sources(roots: &Roots) -> Vec<SourceRoot> {
    let mut sources: Vec<SourceRoot> = Vec::new();
    for root in &roots.paths {
        let source = if root.is_file() {
            SourceRoot::of_session(root)
        } else if let Some(client_dir) = find_client_root(root) {
            let paths = CLIENT_FOLDERS.iter().chain([&PROMPT_HISTORY]).map(PathBuf::from).collect();
            SourceRoot { root: client_dir, paths, is_filtered: false }
        } else {
            SourceRoot { root: root.clone(), paths: vec![PathBuf::new()], is_filtered: true }
        };
        if !sources.iter().any(|known| known.root == source.root) || root.is_file() {
            sources.push(source);
        }
    }
    sources
}

impl SourceRoot {
    /// Returns the files of one session: its transcript, its folder, its file history and its tasks.
    fn of_session(path: &Path) -> SourceRoot {
        let transcript_paths = |root: &Path| {
            let paths = [path.to_owned(), path.with_extension("")];
            paths.iter().filter_map(|path| path.strip_prefix(root).ok().map(Path::to_owned)).collect()
        };
        let Some(client_dir) = find_client_dir(path) else {
            let root = path.parent().unwrap_or(Path::new("."));
            return SourceRoot { root: root.to_owned(), paths: transcript_paths(root), is_filtered: false };
        };
        let mut paths: Vec<PathBuf> = transcript_paths(client_dir);
        let id = path.file_stem().unwrap_or_default();
        paths.extend(SESSION_FOLDERS.map(|folder| Path::new(folder).join(id)));
        SourceRoot { root: client_dir.to_owned(), paths, is_filtered: false }
    }

    /// Lists the files, and updates the listings of folders in `seen`. Returns the files, and whether a listing changed.
    pub(super) fn list_files(
        self,
        seen: &mut SeenPlace,
        now: i64,
        failures: &mut Vec<Error>,
    ) -> (SourceFiles, bool) {
        let mut walk = SourceWalk::new(&self.root, self.is_filtered, seen, now, failures);
        self.paths.iter().for_each(|path| walk.visit(path));
        let (mut files, is_changed) = walk.finish();
        // Almost sorted.
        files.sort_by(|a, b| a.relative.as_os_str().cmp(b.relative.as_os_str()));
        (SourceFiles { root: self.root, files }, is_changed)
    }
}

/// Returns the folder of the client if `root` is one or is its `projects` folder.
pub(crate) fn find_client_root(root: &Path) -> Option<PathBuf> {
    if root.file_name() == Some(OsStr::new("projects")) {
        return root.parent().map(Path::to_owned);
    }
    root.join("projects").is_dir().then(|| root.to_owned())
}
