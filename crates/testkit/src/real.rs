//! Real sessions. Their folders are not part of the project; environment variables name them.

use std::path::PathBuf;

/// Returns the session files below the folder that a variable names. Returns none if the variable is not set.
pub fn find_sessions(variable: &str) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = env_folder(variable).into_iter().collect();
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

/// Returns the folder that a variable names. Returns `None` if the variable is not set.
#[expect(clippy::disallowed_methods, reason = "the environment names the folders of real sessions")]
pub fn env_folder(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from)
}

/// Returns the number in a variable. Returns `None` if it is not set or not a number.
#[expect(clippy::disallowed_methods, reason = "benchmarks are configured by the environment")]
pub fn env_number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}
