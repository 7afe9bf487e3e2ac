//! Reads environment variables: home, folders, pager, colours, width. No other module reads them.
#![expect(clippy::disallowed_methods, reason = "this is the module that reads the environment")]

use std::env::{var, var_os};
use std::path::PathBuf;

/// Returns the home folder: `$HOME` or `$USERPROFILE`. Returns `None` if both are unset or the value is empty.
pub(crate) fn home_dir() -> Option<PathBuf> {
    var_os("HOME").or_else(|| var_os("USERPROFILE")).filter(|home| !home.is_empty()).map(PathBuf::from)
}

/// Returns the folder of Claude Code: `$CLAUDE_CONFIG_DIR` or `~/.claude`. It may not exist.
///
/// Returns `None` if neither it nor the home folder is set.
pub(crate) fn claude_dir() -> Option<PathBuf> {
    let named = var_os("CLAUDE_CONFIG_DIR").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    named.or_else(|| Some(home_dir()?.join(".claude")))
}

/// Returns the folder of the journal and the backups: `$XDG_STATE_HOME/rethread` or `~/.local/state/rethread`.
///
/// Returns `None` if neither the variable nor the home folder is set. Relative paths in the variable are ignored.
pub(crate) fn state_dir() -> Option<PathBuf> {
    let named = var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    named.or_else(|| Some(home_dir()?.join(".local/state"))).map(|folder| folder.join("rethread"))
}

/// Returns the folder of the cache: `$XDG_CACHE_HOME/rethread` or `~/.cache/rethread`.
///
/// Returns `None` if neither the variable nor the home folder is set. Relative paths in the variable are ignored.
pub(crate) fn cache_dir() -> Option<PathBuf> {
    let named = var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    named.or_else(|| Some(home_dir()?.join(".cache"))).map(|folder| folder.join("rethread"))
}

/// Returns the folder of data to keep: `$XDG_DATA_HOME/rethread` or `~/.local/share/rethread`.
///
/// Returns `None` if neither the variable nor the home folder is set. Relative paths in the variable are ignored.
pub(crate) fn data_dir() -> Option<PathBuf> {
    let named = var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    named.or_else(|| Some(home_dir()?.join(".local/share"))).map(|folder| folder.join("rethread"))
}

/// Returns the name of this machine: `$COMPUTERNAME`, else the content of `/etc/hostname`.
pub(crate) fn host_name() -> Option<String> {
    let name = var("COMPUTERNAME").or_else(|_| std::fs::read_to_string("/etc/hostname")).ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// Returns the folder of the settings: `$XDG_CONFIG_HOME/rethread` or `~/.config/rethread`.
///
/// Returns `None` if neither the variable nor the home folder is set. Relative paths in the variable are ignored.
pub(crate) fn config_dir() -> Option<PathBuf> {
    let named = var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    named.or_else(|| Some(home_dir()?.join(".config"))).map(|folder| folder.join("rethread"))
}

/// Returns the fault that a test injects into the writer, as in `abort:7`.
#[cfg(debug_assertions)]
pub(crate) fn injected_fault() -> Option<String> {
    var("RETHREAD_FAULT").ok()
}

/// Returns `true` if a test hides all other processes.
#[cfg(debug_assertions)]
pub(crate) fn hides_processes() -> bool {
    var_os("RETHREAD_HIDE_PROCESSES").is_some()
}

/// Returns the command line of the pager, split at spaces: `$RETHREAD_PAGER`, `$PAGER` or `less`.
///
/// Returns an empty list if the pager is `cat` or empty.
pub(crate) fn pager() -> Vec<String> {
    let named = var("RETHREAD_PAGER").or_else(|_| var("PAGER")).unwrap_or_else(|_| "less -RFXK".to_owned());
    let words: Vec<String> = named.split_whitespace().map(str::to_owned).collect();
    if words == ["cat"] { Vec::new() } else { words }
}

/// Returns `true` if `$LESS` is set: the user has chosen options for `less`.
pub(crate) fn is_less_set() -> bool {
    var_os("LESS").is_some()
}

/// Returns whether to use colours, by `$NO_COLOR`, `$CLICOLOR_FORCE` and `$TERM`, in this order.
///
/// Returns `None` if the environment does not specify it.
pub(crate) fn color() -> Option<bool> {
    if var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) {
        return Some(false);
    }
    if var_os("CLICOLOR_FORCE").is_some_and(|value| !value.is_empty() && value != "0") {
        return Some(true);
    }
    var_os("TERM").is_some_and(|term| term == "dumb").then_some(false)
}

/// Returns the terminal width given by `$COLUMNS`. Returns `None` if it is unset or not a positive number.
pub(crate) fn columns() -> Option<usize> {
    var("COLUMNS").ok()?.trim().parse().ok().filter(|&columns| columns > 0)
}
