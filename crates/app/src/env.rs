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

/// Returns the folders in which applications keep their data, on any system: `$APPDATA`, `$XDG_CONFIG_HOME` or `~/.config`, and
/// `~/Library/Application Support`. They may not exist.
pub(crate) fn app_data_dirs() -> Vec<PathBuf> {
    let named = var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let roaming = var_os("APPDATA").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let in_home = |folder: &str| home_dir().map(|home| home.join(folder));
    let folders = [named.or_else(|| in_home(".config")), roaming, in_home("Library/Application Support")];
    folders.into_iter().flatten().collect()
}

/// Returns the name of this machine: `$COMPUTERNAME`, else the content of `/etc/hostname`.
pub(crate) fn host_name() -> Option<String> {
    let name = var("COMPUTERNAME").or_else(|_| std::fs::read_to_string("/etc/hostname")).ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// Returns the name of the user: `$USER`, `$LOGNAME` or `$USERNAME`.
pub(crate) fn user_name() -> Option<String> {
    let names = ["USER", "LOGNAME", "USERNAME"].into_iter().filter_map(|name| var(name).ok());
    names.into_iter().find(|name| !name.is_empty())
}

/// Returns the folder of the settings: `$XDG_CONFIG_HOME/rethread` or `~/.config/rethread`.
///
/// Returns `None` if neither the variable nor the home folder is set. Relative paths in the variable are ignored.
pub(crate) fn config_dir() -> Option<PathBuf> {
    let named = var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    named.or_else(|| Some(home_dir()?.join(".config"))).map(|folder| folder.join("rethread"))
}

/// Returns the configuration file that `$RETHREAD_CONFIG` names. Returns `None` if it is unset or empty.
pub(crate) fn named_config_file() -> Option<PathBuf> {
    var_os("RETHREAD_CONFIG").filter(|file| !file.is_empty()).map(PathBuf::from)
}

/// Returns `true` if `$CLAUDE_CONFIG_DIR` names the folder of Claude Code.
pub(crate) fn names_claude_dir() -> bool {
    var_os("CLAUDE_CONFIG_DIR").is_some_and(|folder| !folder.is_empty())
}

/// Returns the time zone in `$TZ`. Returns `None` if it is unset or empty.
pub(crate) fn time_zone() -> Option<String> {
    var("TZ").ok().filter(|zone| !zone.is_empty())
}

/// Returns `true` if a completion script runs the program.
pub(crate) fn asks_for_completion() -> bool {
    var_os("COMPLETE").is_some_and(|shell| !shell.is_empty() && shell != "0")
}

/// Returns the index of the word at the cursor, which the scripts of some shells pass.
pub(crate) fn completed_word() -> Option<usize> {
    var("_CLAP_COMPLETE_INDEX").ok()?.parse().ok()
}

/// Returns the command line of the editor, split at spaces: `$VISUAL`, `$EDITOR` or `vi`.
pub(crate) fn editor() -> Vec<String> {
    let named = ["VISUAL", "EDITOR"].into_iter().filter_map(|name| var(name).ok());
    let words = named.map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    words.into_iter().find(|words| !words.is_empty()).unwrap_or_else(|| vec!["vi".to_owned()])
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

/// Returns whether to use colours, and the variable that determines it: `$NO_COLOR`, `$CLICOLOR_FORCE` or `$TERM`, in
/// this order.
///
/// Returns `None` if the environment does not specify it.
pub(crate) fn color() -> Option<(bool, &'static str)> {
    if var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) {
        return Some((false, "NO_COLOR"));
    }
    if var_os("CLICOLOR_FORCE").is_some_and(|value| !value.is_empty() && value != "0") {
        return Some((true, "CLICOLOR_FORCE"));
    }
    var_os("TERM").is_some_and(|term| term == "dumb").then_some((false, "TERM"))
}

/// Returns the terminal width given by `$COLUMNS`. Returns `None` if it is unset or not a positive number.
pub(crate) fn columns() -> Option<usize> {
    var("COLUMNS").ok()?.trim().parse().ok().filter(|&columns| columns > 0)
}

/// Returns the settings file of Claude Code that the administrator of the machine provides. It may not exist.
///
/// In debug builds, tests name another file.
pub(crate) fn managed_settings() -> PathBuf {
    #[cfg(debug_assertions)]
    if let Some(path) = var_os("RETHREAD_MANAGED_SETTINGS") {
        return PathBuf::from(path);
    }
    let dir = if cfg!(target_os = "macos") {
        "/Library/Application Support/ClaudeCode"
    } else if cfg!(windows) {
        r"C:\Program Files\ClaudeCode"
    } else {
        "/etc/claude-code"
    };
    PathBuf::from(dir).join("managed-settings.json")
}

/// Returns the absolute path of this program.
pub(crate) fn current_program() -> Option<PathBuf> {
    std::env::current_exe().ok()
}
