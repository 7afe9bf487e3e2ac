//! Finds the files to archive.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::disk::{FileFingerprint, Roots, find_client_dir};

/// The folders of a client that belong to its sessions.
const CLIENT_FOLDERS: [&str; 5] = ["projects", "file-history", "plans", "tasks", "todos"];
/// The prompts of all sessions.
pub(crate) const PROMPT_HISTORY: &str = "history.jsonl";

/// A file to archive.
#[derive(Debug, Clone)]
pub(crate) struct SourceFile {
    /// The path of the file.
    pub(crate) path: PathBuf,
    /// The path below its root.
    pub(crate) relative: PathBuf,
    pub(crate) fingerprint: FileFingerprint,
    /// The permission bits. 0 if unknown.
    pub(crate) mode: u32,
}

/// The files below a root.
#[derive(Debug)]
pub(crate) struct SourceRoot {
    /// The folder, usually `~/.claude`.
    pub(crate) root: PathBuf,
    pub(crate) files: Vec<SourceFile>,
}

/// Lists the files to archive below each root, sorted by path. Adds the errors of unreadable folders to `failures`.
pub(crate) fn list_sources(roots: &Roots, failures: &mut Vec<Error>) -> Vec<SourceRoot> {
    let mut sources: Vec<SourceRoot> = Vec::new();
    for root in &roots.paths {
        let source = if root.is_file() {
            list_session(root, failures)
        } else if let Some(client_dir) = find_client_root(root) {
            let folders = CLIENT_FOLDERS.iter().map(|name| client_dir.join(name));
            let paths: Vec<PathBuf> = folders.chain([client_dir.join(PROMPT_HISTORY)]).collect();
            list_below(&client_dir, &paths, |_| true, failures)
        } else {
            list_below(root, std::slice::from_ref(root), is_session_data, failures)
        };
        if !sources.iter().any(|known| known.root == source.root) || root.is_file() {
            sources.push(source);
        }
    }
    sources
}

/// Lists the files of one session: its transcript, its folder, its file history and its tasks.
fn list_session(path: &Path, failures: &mut Vec<Error>) -> SourceRoot {
    let mut paths = vec![path.to_owned(), path.with_extension("")];
    let Some(client_dir) = find_client_dir(path) else {
        return list_below(path.parent().unwrap_or(Path::new(".")), &paths, |_| true, failures);
    };
    let id = path.file_stem().unwrap_or_default();
    paths.extend(["file-history", "tasks"].map(|folder| client_dir.join(folder).join(id)));
    list_below(client_dir, &paths, |_| true, failures)
}

/// Returns the folder of the client if `root` is one or is its `projects` folder.
pub(crate) fn find_client_root(root: &Path) -> Option<PathBuf> {
    if root.file_name() == Some(OsStr::new("projects")) {
        return root.parent().map(Path::to_owned);
    }
    root.join("projects").is_dir().then(|| root.to_owned())
}

/// Returns `true` if a file of a folder that is not a client's belongs to a session.
fn is_session_data(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let is_result = || {
        let folder = path.parent().and_then(Path::file_name);
        name.ends_with(b".txt") && folder == Some(OsStr::new("tool-results"))
    };
    name.ends_with(b".jsonl") || name.ends_with(b".meta.json") || is_result()
}

/// Lists the regular files at and below `paths` that pass a test. Symbolic links are not followed.
fn list_below(
    root: &Path,
    paths: &[PathBuf],
    is_included: impl Fn(&Path) -> bool,
    failures: &mut Vec<Error>,
) -> SourceRoot {
    let mut files = Vec::new();
    for path in paths.iter().filter(|path| std::fs::symlink_metadata(path).is_ok()) {
        for entry in walkdir::WalkDir::new(path) {
            let entry = entry.and_then(|entry| Ok((entry.metadata()?, entry)));
            match entry {
                Ok((meta, entry)) if meta.is_file() && is_included(entry.path()) => {
                    files.extend(SourceFile::new(root, entry.into_path(), &meta));
                }
                Ok(_) => {}
                Err(error) => {
                    let path = error.path().unwrap_or(path).to_owned();
                    let source = error.into_io_error().unwrap_or(std::io::ErrorKind::Other.into());
                    failures.push(Error::Unreadable { path, source });
                }
            }
        }
    }
    // Comparing paths name by name would take a quarter of a run without changes.
    files.sort_unstable_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
    SourceRoot { root: root.to_owned(), files }
}

impl SourceFile {
    fn new(root: &Path, path: PathBuf, meta: &Metadata) -> Option<SourceFile> {
        let relative = path.strip_prefix(root).ok()?.to_owned();
        let fingerprint = FileFingerprint::from_metadata(meta);
        Some(SourceFile { relative, mode: permission_bits(meta), fingerprint, path })
    }
}

#[cfg(unix)]
fn permission_bits(meta: &Metadata) -> u32 {
    std::os::unix::fs::MetadataExt::mode(meta) & 0o7777
}

/// Other systems have no permission bits.
#[cfg(not(unix))]
fn permission_bits(_meta: &Metadata) -> u32 {
    0
}
