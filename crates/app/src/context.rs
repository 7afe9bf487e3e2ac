//! What every face needs to know: where to look, the present, what changes files and what saves reading.

use std::path::PathBuf;

use rethread_engine::{CacheDir, Error, Roots, SessionWriter, ops};

use crate::text::clean;
use crate::text::shell::typed;
use crate::text::time::Clock;

/// What every command needs to know.
pub(crate) struct AppContext {
    /// Where to look.
    pub(crate) roots: Roots,
    /// The present.
    pub(crate) clock: Clock,
    /// The user's home folder, which is written `~`.
    pub(crate) home: Option<PathBuf>,
    /// What changes files.
    pub(crate) pen: SessionWriter,
    /// What saves reading.
    pub(crate) index: Option<CacheDir>,
}

impl AppContext {
    /// Finds the file of a session by name.
    pub(crate) fn session(&self, name: &str) -> Result<PathBuf, Error> {
        ops::find_session(&self.roots, name, self.index.as_ref())
    }

    /// Finds the file of a session that is to be changed.
    pub(crate) fn session_to_change(&self, name: &str) -> Result<PathBuf, Error> {
        ops::find_session_to_change(&self.roots, name, self.index.as_ref())
    }

    /// Writes a path on one line, with `~` for the home folder.
    pub(crate) fn tilde(&self, path: &str) -> String {
        clean::line(&self.below_home(path).map_or_else(|| path.to_owned(), |rest| format!("~{rest}")))
    }

    /// Returns what of a path stands behind the home folder.
    fn below_home<'p>(&self, path: &'p str) -> Option<&'p str> {
        let home = self.home.as_deref().and_then(|home| home.to_str()).filter(|home| home.len() > 1);
        home.and_then(|home| path.strip_prefix(home)).filter(|r| r.is_empty() || r.starts_with('/'))
    }

    /// Returns what to type to resume a session.
    pub(crate) fn resume_command(&self, id: &str, folder: &str) -> String {
        // What begins with a dash would be an option: then the client asks which one.
        let id = Some(id).filter(|id| !id.starts_with('-')).map(|id| format!(" {}", typed(id)));
        let command = format!("claude --resume{}", id.unwrap_or_default());
        if folder.is_empty() { command } else { format!("cd {} && {command}", self.quoted(folder)) }
    }

    /// Writes a folder so that a shell finds it.
    fn quoted(&self, folder: &str) -> String {
        match self.below_home(folder) {
            Some(rest) if rest.is_empty() || typed(rest) == rest => format!("~{rest}"),
            _ if folder.starts_with('-') => typed(&format!("./{folder}")),
            _ => typed(folder),
        }
    }
}
