//! Real sessions. Their folders are not part of the project; environment variables name them.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Returns the session files below the folder that a variable names.
///
/// Returns none if the variable is not set; see [`data_path`]. Panics if the folder has no session.
pub fn find_sessions(suite: &str, variable: &str) -> Vec<PathBuf> {
    let Some(root) = data_path(suite, variable) else { return Vec::new() };
    let mut folders = vec![root];
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
    assert!(!found.is_empty(), "{variable} names a folder without sessions");
    found.sort();
    found
}

/// Returns the file or folder that a variable names, as input of the tests of `suite`.
///
/// If the variable is not set, prints `skipped: <suite>: <variable> is not set` and returns `None`.
pub fn data_path(suite: &str, variable: &str) -> Option<PathBuf> {
    let path = env_path(variable);
    if path.is_none() {
        print_skipped(suite, &format!("{variable} is not set"));
    }
    path
}

/// Prints that the tests of a suite are skipped, once per process.
///
/// Writes to the standard error itself: the test harness hides what `eprintln!` prints in tests that pass.
pub fn print_skipped(suite: &str, reason: &str) {
    static PRINTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let line = format!("skipped: {suite}: {reason}\n");
    let mut printed = PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
    if printed.insert(line.clone()) {
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
}

/// Returns the path that a variable names. Returns `None` if the variable is not set or empty.
#[expect(clippy::disallowed_methods, reason = "the environment names the folders of real sessions")]
pub fn env_path(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Returns the number in a variable. Returns `None` if it is not set or not a number.
#[expect(clippy::disallowed_methods, reason = "benchmarks are configured by the environment")]
pub fn env_number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}
