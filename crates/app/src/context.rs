//! The context shared by all frontends: roots, clock, writer and cache.

use std::path::{Path, PathBuf};

use rethread_engine::{CacheDir, Error, Roots, SessionWriter, ops};

use crate::prices::PricesSource;
use crate::text::clean;
use crate::text::command::quote_command;
use crate::text::resume_command::ResumeTemplate;
use crate::text::shell::quote;
use crate::text::time::Clock;

/// The context of every command.
pub(crate) struct AppContext {
    /// The folders with sessions.
    pub(crate) roots: Roots,
    /// The current time and time zone.
    pub(crate) clock: Clock,
    /// The home folder of the user, shown as `~`.
    pub(crate) home: Option<PathBuf>,
    /// Writes all changes of session files.
    pub(crate) writer: SessionWriter,
    /// The cache. `None` if it is disabled.
    pub(crate) cache: Option<CacheDir>,
    /// Whether the sessions are those of the demo store.
    pub(crate) is_demo: bool,
    /// The default folder of the archive. `None` if there is no home folder.
    pub(crate) archive_dir: Option<PathBuf>,
    /// The folders that the configuration leaves out of the archive.
    pub(crate) excluded_dirs: Vec<PathBuf>,
    /// The command that resumes a session.
    pub(crate) resume: ResumeTemplate,
    /// The configured price table.
    pub(crate) prices: PricesSource,
}

impl AppContext {
    /// Finds the file of a session. `name` is an id, the start of one, part of a title, a path, or `last`.
    ///
    /// Returns an error if several sessions match, or none.
    pub(crate) fn find_session(&self, name: &str) -> Result<PathBuf, Error> {
        ops::resolve::find_session(&self.roots, name, self.cache.as_ref())
    }

    /// Finds the file of a session to change, like [`Self::find_session`]. Returns an error also if it is outside the roots.
    pub(crate) fn find_session_to_change(&self, name: &str) -> Result<PathBuf, Error> {
        ops::resolve::find_session_to_change(&self.roots, name, self.cache.as_ref())
    }

    /// Finds the file of a session to copy, like [`Self::find_session_to_change`]. It may be in the archive only.
    pub(crate) fn find_session_to_copy(&self, name: &str) -> Result<PathBuf, Error> {
        ops::resolve::find_session_to_copy(&self.roots, name, self.cache.as_ref())
    }

    /// Returns the root that contains a session file. Returns `None` if none does.
    pub(crate) fn find_root(&self, path: &Path) -> Option<&Path> {
        let roots = self.roots.paths.iter().filter(|root| path.starts_with(root));
        roots.max_by_key(|root| root.as_os_str().len()).map(PathBuf::as_path)
    }

    /// Returns a label of the root of a session file: its folder, or that it is a sandbox of the desktop app. Returns `None` for the
    /// first root, so that a single store needs no labels.
    pub(crate) fn root_label(&self, path: &Path) -> Option<String> {
        let root = self
            .find_root(path)
            .filter(|root| self.roots.paths.first().is_some_and(|first| first != root))?;
        let is_sandbox = root.components().any(|part| part.as_os_str() == "local-agent-mode-sessions");
        Some(if is_sandbox { "desktop".to_owned() } else { self.format_path(&root.display().to_string()) })
    }

    /// Formats a file path on one line, cleaned, with `~` for the home folder.
    pub(crate) fn format_path(&self, path: &str) -> String {
        clean::line(&self.strip_home(path).map_or_else(|| path.to_owned(), |rest| format!("~{rest}")))
    }

    /// Returns a file path without the home folder: empty, or starting with `/`.
    ///
    /// Returns `None` if the path is elsewhere, or the home folder is unknown, not UTF-8, or `/`.
    fn strip_home<'p>(&self, path: &'p str) -> Option<&'p str> {
        let home = self.home.as_deref().and_then(|home| home.to_str()).filter(|home| home.len() > 1);
        home.and_then(|home| path.strip_prefix(home)).filter(|r| r.is_empty() || r.starts_with('/'))
    }

    /// Builds the shell command that resumes a session. `folder` is its working directory; it is empty if unknown.
    pub(crate) fn resume_command(&self, id: &str, folder: &str) -> String {
        self.resume.fill(id, folder, |folder| self.quote_folder(folder))
    }

    /// Returns why the command of [`Self::resume_command`] fails, and what to do. Returns `None` if `folder` exists or is empty.
    pub(crate) fn resume_obstacle(&self, id: &str, folder: &str) -> Option<String> {
        if folder.is_empty() || Path::new(folder).is_dir() {
            return None;
        }
        Some(match self.is_demo {
            true => "the sessions of --demo are invented: Claude Code cannot resume them".to_owned(),
            false => format!(
                "the folder {} does not exist any more; {} makes a copy that can be resumed elsewhere",
                self.format_path(folder),
                quote_command(&["clone", id, "--preset", "whole", "--into", "FOLDER"])
            ),
        })
    }

    /// Quotes a folder path for a shell, with `~` for the home folder if the rest needs no quotes.
    fn quote_folder(&self, folder: &str) -> String {
        match self.strip_home(folder) {
            Some(rest) if rest.is_empty() || quote(rest) == rest => format!("~{rest}"),
            _ if folder.starts_with('-') => quote(&format!("./{folder}")),
            _ => quote(folder),
        }
    }
}
