//! What the environment says: home, the client's folder, our own, pager, colours, width. The only reader of it.
#![expect(clippy::disallowed_methods, reason = "this is the module that reads the environment")]

use std::env::{var, var_os};
use std::path::PathBuf;

/// Returns the user's home folder.
pub(crate) fn home() -> Option<PathBuf> {
    var_os("HOME").or_else(|| var_os("USERPROFILE")).filter(|home| !home.is_empty()).map(PathBuf::from)
}

/// Returns the folder in which the client keeps its sessions.
pub(crate) fn claude() -> Option<PathBuf> {
    let named = var_os("CLAUDE_CONFIG_DIR").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    named.or_else(|| Some(home()?.join(".claude")))
}

/// Returns the folder in which rethread keeps its journal and its backups.
pub(crate) fn state() -> Option<PathBuf> {
    let named = var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    named.or_else(|| Some(home()?.join(".local/state"))).map(|folder| folder.join("rethread"))
}

/// Returns the folder in which rethread keeps what saves it from reading all files again.
pub(crate) fn cache() -> Option<PathBuf> {
    let named = var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    named.or_else(|| Some(home()?.join(".cache"))).map(|folder| folder.join("rethread"))
}

/// Returns the folder in which the user's settings are.
pub(crate) fn config() -> Option<PathBuf> {
    let named = var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    named.or_else(|| Some(home()?.join(".config"))).map(|folder| folder.join("rethread"))
}

/// Returns after how many steps of writing a test wants the process to die.
#[cfg(debug_assertions)]
pub(crate) fn stop_after() -> Option<u32> {
    var("RETHREAD_STOP_AFTER").ok()?.parse().ok()
}

/// Returns the pager's command line, split at spaces; none where the user wants none.
pub(crate) fn pager() -> Vec<String> {
    let named = var("RETHREAD_PAGER").or_else(|_| var("PAGER")).unwrap_or_else(|_| "less -RFXK".to_owned());
    let words: Vec<String> = named.split_whitespace().map(str::to_owned).collect();
    if words == ["cat"] { Vec::new() } else { words }
}

/// Whether `less` was told how to behave.
pub(crate) fn less_env_is_set() -> bool {
    var_os("LESS").is_some()
}

/// Says whether colours are wanted, where the environment says anything about it.
pub(crate) fn color() -> Option<bool> {
    if var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) {
        return Some(false);
    }
    if var_os("CLICOLOR_FORCE").is_some_and(|value| !value.is_empty() && value != "0") {
        return Some(true);
    }
    var_os("TERM").is_some_and(|term| term == "dumb").then_some(false)
}

/// Returns the width that the environment asks for.
pub(crate) fn columns() -> Option<usize> {
    var("COLUMNS").ok()?.trim().parse().ok().filter(|&columns| columns > 0)
}
