//! Finds the sessions that a running client has open.

use std::path::Path;

use super::process_table::ProcessTable;
use crate::plain_file::read_small_file;
use rethread_core::entry::{members, value_text};

/// Returns the ids of the sessions that running clients have registered in `sessions/<pid>.json`. `root` is a client
/// directory or its `projects` folder. Entries of processes that have ended are skipped.
pub(crate) fn find_live_sessions(root: &Path, processes: &dyn ProcessTable) -> Vec<String> {
    let client_dir =
        if root.file_name().is_some_and(|name| name == "projects") { root.parent() } else { Some(root) };
    let Some(entries) = client_dir.and_then(|dir| std::fs::read_dir(dir.join("sessions")).ok()) else {
        return Vec::new();
    };
    let files = entries.filter_map(Result::ok).map(|entry| entry.path());
    let files = files.filter(|path| path.extension().is_some_and(|ext| ext == "json"));
    files
        .filter_map(|path| {
            let pid: u32 = path.file_stem()?.to_str()?.parse().ok()?;
            if !processes.is_running(pid) {
                return None;
            }
            let bytes = read_small_file(&path)?;
            let id =
                members(&bytes).find(|(key, _)| key.equals("sessionId")).map(|(_, value)| value_text(value));
            id.map(std::borrow::Cow::into_owned)
        })
        .collect()
}

/// Returns the client directory of a session file: the parent of the `projects` folder. Returns `None` if the path
/// contains no such folder.
pub(crate) fn find_client_dir(path: &Path) -> Option<&Path> {
    path.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == "projects"))?.parent()
}
