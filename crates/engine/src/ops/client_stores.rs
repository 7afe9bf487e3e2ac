//! Finds the stores of other clients of the user: more configuration folders, and sandboxes of the desktop app.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The maximum depth of a sandbox below the folder of all sandboxes.
const MAX_DEPTH: usize = 4;
/// The maximum number of folders that are read to find sandboxes.
const MAX_FOLDERS: usize = 2000;

/// A folder with the sessions of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientStore {
    /// The folder, which contains `projects`.
    pub path: PathBuf,
    /// Whether it is a sandbox of the desktop app.
    pub is_sandbox: bool,
}

/// Finds the stores that exist besides `known`: `.claude` and `.claude-*` in the home folder, `claude` in one of `data_dirs`, and
/// the sandboxes of the desktop app below them. A folder that is reachable by several paths is returned once.
///
/// Reads the names in the home folder and, if the desktop app has sandboxes, at most 2,000 folders.
pub fn find_other_stores(home: Option<&Path>, data_dirs: &[PathBuf], known: &[PathBuf]) -> Vec<ClientStore> {
    let mut stores: Vec<ClientStore> = list_dirs(home.unwrap_or(Path::new("")))
        .into_iter()
        .filter(|path| has_client_name(path))
        .chain(data_dirs.iter().map(|dir| dir.join("claude")))
        .filter(|path| path.join("projects").is_dir())
        .map(|path| ClientStore { path, is_sandbox: false })
        .collect();
    let mut free_folders = MAX_FOLDERS;
    for dir in data_dirs {
        let sandboxes = dir.join("Claude").join("local-agent-mode-sessions");
        add_sandboxes(&sandboxes, MAX_DEPTH, &mut free_folders, &mut stores);
    }
    let real_path = |path: &Path| path.join("projects").canonicalize().ok();
    let mut seen: Vec<PathBuf> = known.iter().filter_map(|path| real_path(path)).collect();
    stores.retain(|store| {
        let Some(path) = real_path(&store.path).filter(|path| !seen.contains(path)) else { return false };
        seen.push(path);
        true
    });
    stores
}

/// Returns `true` for `.claude` and `.claude-*`.
fn has_client_name(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    name == ".claude" || name.starts_with(".claude-")
}

/// Adds the folders `.claude` with a `projects` folder at most `depth` levels below `folder`. Does not search below them, and
/// follows no symbolic link.
fn add_sandboxes(folder: &Path, depth: usize, free_folders: &mut usize, stores: &mut Vec<ClientStore>) {
    if *free_folders == 0 {
        return;
    }
    *free_folders -= 1;
    let client_dir = folder.join(".claude");
    if client_dir.join("projects").is_dir() {
        stores.push(ClientStore { path: client_dir, is_sandbox: true });
    } else if depth > 0 {
        for path in list_dirs(folder) {
            add_sandboxes(&path, depth - 1, free_folders, stores);
        }
    }
}

/// Lists the subfolders of a folder, sorted, without symbolic links. Returns an empty list if it cannot be read.
fn list_dirs(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_dir = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let mut paths: Vec<PathBuf> = entries.filter(is_dir).map(|entry| entry.path()).collect();
    paths.sort();
    paths
}
