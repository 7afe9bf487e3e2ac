//! Checks the paths of files and folders that a command writes because the user named them.

use std::io;
use std::path::{Component, Path, PathBuf};

use super::AppContext;
use super::error::CliError;
use crate::env;

/// The content of a folder that output must not be written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProtectedFolder {
    /// Sessions, or other files of the client.
    Sessions,
    /// The journal and the backups of rethread.
    State,
    /// The cache and the search index of rethread.
    Cache,
}

/// Resolves `path`, which may not exist yet: the result is absolute and contains no symbolic links.
///
/// Returns an error if it is inside a searched root, the client's folder, the file `session`, or a folder of rethread.
pub(super) fn resolve_output_path(
    path: &Path,
    app: &AppContext,
    session: &Path,
) -> Result<PathBuf, CliError> {
    let resolve =
        |path: &Path| resolve_links(path).map_err(|source| CliError::Unwritable(path.to_owned(), source));
    let target = resolve(path)?;
    for (folder, content) in list_protected_folders(app, session) {
        if target.starts_with(resolve(&folder)?) {
            return Err(CliError::InsideProtectedFolder { path: path.to_owned(), folder, content });
        }
    }
    Ok(target)
}

/// Returns the folders and files that output must not be written to. They may not exist.
fn list_protected_folders(app: &AppContext, session: &Path) -> Vec<(PathBuf, ProtectedFolder)> {
    let sessions = app.roots.paths.iter().cloned().chain(env::claude_dir()).chain([session.to_owned()]);
    let sessions = sessions.map(|path| (path, ProtectedFolder::Sessions));
    let state = env::state_dir().map(|path| (path, ProtectedFolder::State));
    let cache = env::cache_dir().map(|path| (path, ProtectedFolder::Cache));
    sessions.chain(state).chain(cache).collect()
}

/// Makes a path absolute and resolves the symbolic links and `..` in it. The last parts of the path may not exist.
fn resolve_links(path: &Path) -> io::Result<PathBuf> {
    let mut resolved = PathBuf::new();
    for component in std::path::absolute(path)?.components() {
        if component == Component::ParentDir {
            resolved.pop();
        } else {
            resolved.push(component);
            // A part that does not exist is kept: it cannot be a link.
            resolved = resolved.canonicalize().unwrap_or(resolved);
        }
    }
    Ok(resolved)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::resolve_links;

    #[test]
    #[cfg(unix)]
    fn links_are_resolved_before_parent_folders() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        std::os::unix::fs::symlink("/usr/lib", base.join("link")).unwrap();
        std::os::unix::fs::symlink(base.join("loop"), base.join("loop")).unwrap();
        std::os::unix::fs::symlink(base.join("missing"), base.join("dangling")).unwrap();
        for (path, expected) in [
            ("link/..", Path::new("/usr").to_owned()),
            ("link/../missing/../a", Path::new("/usr/a").to_owned()),
            ("missing/../a/b", base.join("a/b")),
            ("./a//b/", base.join("a/b")),
            ("loop/a", base.join("loop/a")),
            ("dangling", base.join("dangling")),
        ] {
            assert_eq!(resolve_links(&base.join(path)).unwrap(), expected, "{path}");
        }
        assert_eq!(resolve_links(Path::new("a")).unwrap(), std::env::current_dir().unwrap().join("a"));
        assert!(resolve_links(Path::new("")).is_err());
    }
}
