//! What could not be done; the app finds the words and the hint.

use std::path::PathBuf;

/// A thing that could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A file or folder could not be read.
    #[error("cannot read `{}`", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// No session has this name.
    #[error("no session is called `{name}`")]
    UnknownSession {
        /// What was asked for.
        name: String,
        /// The nearest names: id and title.
        nearest: Vec<(String, String)>,
    },
    /// Several sessions have this name.
    #[error("`{name}` names {} sessions", candidates.len())]
    AmbiguousSession {
        /// What was asked for.
        name: String,
        /// Those: id and title.
        candidates: Vec<(String, String)>,
    },
    /// No entry of the session has this name.
    #[error("no entry of the session is called `{name}`")]
    UnknownEntry {
        /// What was asked for.
        name: String,
    },
    /// The file changed while it was read.
    #[error("`{}` changed while it was read", path.display())]
    Changed {
        /// Which.
        path: PathBuf,
    },
}

impl Failure {
    /// Wraps an error of reading `path`.
    pub(crate) fn reading(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Failure + '_ {
        |source| match source.kind() {
            std::io::ErrorKind::UnexpectedEof => Failure::Changed { path: path.to_owned() },
            _ => Failure::Unreadable { path: path.to_owned(), source },
        }
    }
}
