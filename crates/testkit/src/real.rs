//! Real sessions, where there are some: their folders are not part of the project, the environment names them.

use std::path::PathBuf;

/// Returns the session files below the folder that a variable names; none where it is not set.
pub fn sessions(variable: &str) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = folder(variable).into_iter().collect();
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder can be read") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Returns the folder that a variable names.
#[expect(
    clippy::disallowed_methods,
    reason = "tests alone are told by the environment where real sessions lie"
)]
pub fn folder(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from)
}

/// Returns the number that a variable holds.
#[expect(clippy::disallowed_methods, reason = "who measures says by the environment how long")]
pub fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}
