//! The clients that run on this machine, as they have registered themselves.

use std::collections::HashSet;

pub use crate::disk::RegisteredClient;
use crate::disk::{Roots, SystemProcesses, find_registered_clients, list_ancestor_processes};

/// The maximum number of processes between this one and the client that started it, such as shells.
const MAX_ANCESTORS: usize = 8;

/// Returns the running clients of the client directories that contain `roots`, each once, by process id.
pub fn list_running_clients(roots: &Roots) -> Vec<RegisteredClient> {
    let mut clients: Vec<RegisteredClient> =
        roots.paths.iter().flat_map(|root| find_registered_clients(root, &SystemProcesses)).collect();
    clients.sort_by_key(|client| client.pid);
    let mut seen = HashSet::new();
    clients.retain(|client| seen.insert((client.pid, client.session.clone())));
    clients
}

/// Returns the session of the client that started this process, directly or through other processes. Returns `None` if no
/// registered client did.
pub fn find_calling_session(roots: &Roots) -> Option<String> {
    let ancestors = list_ancestor_processes(MAX_ANCESTORS);
    let clients = list_running_clients(roots);
    let find_client = |pid: &u32| clients.iter().find(|client| client.pid == *pid);
    ancestors.iter().find_map(find_client).map(|client| client.session.clone())
}
