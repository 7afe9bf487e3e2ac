//! Finds the sessions that a running client has open.

use std::path::Path;

use super::process_table::ProcessTable;
use crate::plain_file::read_small_file;
use rethread_core::entry::{Timestamp, members, value_text};

/// A client process that has registered itself in `sessions/<pid>.json` of its client directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RegisteredClient {
    /// The process id.
    pub pid: u32,
    /// The id of the session that it has open.
    pub session: String,
    /// The folder in which it runs.
    pub cwd: Option<String>,
    /// The version of the client.
    pub version: Option<String>,
    /// Its status in its own words: `busy` or `idle`. Older clients do not say.
    pub status: Option<String>,
    /// The time of that status.
    pub status_since: Option<Timestamp>,
    /// The time at which it started.
    pub started_at: Option<Timestamp>,
    /// The time at which its process started, as the system counts it. Another process may have the same id later.
    pub process_start: Option<String>,
    /// The time of the newest change of the registration.
    pub updated_at: Option<Timestamp>,
}

/// Returns the ids of the sessions that running clients have registered.
pub(crate) fn find_live_sessions(root: &Path, processes: &dyn ProcessTable) -> Vec<String> {
    find_registered_clients(root, processes).into_iter().map(|client| client.session).collect()
}

/// Returns the running clients of a client directory. `root` is that directory or its `projects` folder. Registrations of
/// processes that have ended are skipped.
pub(crate) fn find_registered_clients(root: &Path, processes: &dyn ProcessTable) -> Vec<RegisteredClient> {
    let is_running = |client: &RegisteredClient| processes.is_running(client.pid);
    find_registrations(root).into_iter().filter(is_running).collect()
}

/// Returns the registrations in a client directory, also those of processes that have ended. A client that ends normally
/// removes its own. `root` is that directory or its `projects` folder.
pub(crate) fn find_registrations(root: &Path) -> Vec<RegisteredClient> {
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
            RegisteredClient::parse(pid, &read_small_file(&path)?)
        })
        .collect()
}

impl RegisteredClient {
    /// Parses a registration. Returns `None` if it names no session.
    fn parse(pid: u32, bytes: &[u8]) -> Option<RegisteredClient> {
        let mut client = RegisteredClient { pid, ..RegisteredClient::default() };
        for (key, value) in members(bytes) {
            let text = || Some(value_text(value).into_owned());
            let time = || value_text(value).parse().ok().map(Timestamp);
            match key.decode().as_ref() {
                "sessionId" => client.session = value_text(value).into_owned(),
                "cwd" => client.cwd = text(),
                "version" => client.version = text(),
                "status" => client.status = text(),
                "statusUpdatedAt" => client.status_since = time(),
                "startedAt" => client.started_at = time(),
                "procStart" => client.process_start = text(),
                "updatedAt" => client.updated_at = time(),
                _ => {}
            }
        }
        (!client.session.is_empty()).then_some(client)
    }
}

/// Returns the client directory of a session file: the parent of the `projects` folder. Returns `None` if the path
/// contains no such folder.
pub(crate) fn find_client_dir(path: &Path) -> Option<&Path> {
    path.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == "projects"))?.parent()
}
