//! The mistakes in a configuration file.

use std::path::PathBuf;

/// How severe a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Severity {
    /// The value is not used.
    Error,
    /// The key has no effect, or only a part of the value is used.
    Warning,
}

/// A problem of the configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConfigProblem {
    /// How severe it is.
    pub(crate) severity: Severity,
    /// The line number, from 1. `None` if the whole file is concerned.
    pub(crate) line: Option<usize>,
    /// The key, as in `ls.columns`. Empty if the whole file is concerned.
    pub(crate) key: String,
    /// The description. It may quote the file and is not cleaned.
    pub(crate) message: String,
}

impl ConfigProblem {
    /// Creates a problem of the whole file.
    pub(super) fn in_file(severity: Severity, message: impl Into<String>) -> ConfigProblem {
        ConfigProblem { severity, line: None, key: String::new(), message: message.into() }
    }
}

/// The file that was read, and what is wrong with it.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConfigReport {
    /// The file. `None` if there is no home folder.
    pub(crate) path: Option<PathBuf>,
    /// Whether the file exists.
    pub(crate) exists: bool,
    /// The problems, in the order of their lines.
    pub(crate) problems: Vec<ConfigProblem>,
}

impl ConfigReport {
    /// Returns `true` if the file may set `roots`, but its value cannot be used.
    pub(crate) fn is_roots_value_lost(&self) -> bool {
        let is_lost = |problem: &ConfigProblem| {
            problem.severity == Severity::Error && (problem.key.is_empty() || problem.key == "roots")
        };
        self.problems.iter().any(is_lost)
    }
}
