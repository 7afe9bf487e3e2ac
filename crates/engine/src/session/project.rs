//! Locates the client's project folder for a working folder.

use std::path::{Path, PathBuf};

use crate::Error;
use crate::disk::{MAX_NAME_BYTES, Roots, encode_project_name};

/// Finds the project folder for the working folder `folder` in the store that contains the file `session`. Also returns
/// the canonical path of `folder`. It is below one of `roots` if there are any.
///
/// Returns an error if `folder` does not exist, or its project folder is ambiguous or outside of the roots.
pub(crate) fn locate_project_dir(
    folder: &Path,
    session: &Path,
    roots: &Roots,
) -> Result<(PathBuf, String), Error> {
    let missing_error = || Error::FolderNotFound { path: folder.to_owned() };
    let folder = folder.canonicalize().ok().filter(|folder| folder.is_dir()).ok_or_else(missing_error)?;
    let cwd = folder.to_str().ok_or_else(missing_error)?.to_owned();
    let projects_dir = find_projects_dir(session, roots)?;
    let name = encode_project_name(&cwd);
    if name.len() <= MAX_NAME_BYTES {
        return Ok((projects_dir.join(name), cwd));
    }
    let prefix = &name[..MAX_NAME_BYTES];
    let entries = std::fs::read_dir(projects_dir).into_iter().flatten().filter_map(Result::ok);
    let has_prefix =
        |entry: &std::fs::DirEntry| entry.file_name().to_str().is_some_and(|name| name.starts_with(prefix));
    let candidates: Vec<PathBuf> = entries.filter(has_prefix).map(|entry| entry.path()).collect();
    match &candidates[..] {
        [project] => Ok((project.clone(), cwd)),
        _ => Err(Error::UnknownProject { path: folder, candidates: candidates.len() }),
    }
}

/// Returns the folder for project folders in the store that contains the file `session`: the one above its own folder.
///
/// If that is outside of the roots, a root is a folder of session files without project folders, and is returned itself.
/// Returns an error if it is a project folder of a client, because clients do not search in folders below.
fn find_projects_dir<'s>(session: &'s Path, roots: &Roots) -> Result<&'s Path, Error> {
    let outside_error = || Error::OutsideStore { path: session.to_owned() };
    let session_dir = session.parent().ok_or_else(outside_error)?;
    let is_in_roots = |dir: &Path| {
        let dir = dir.canonicalize().ok();
        let mut roots = roots.paths.iter().filter_map(|root| root.canonicalize().ok());
        dir.is_some_and(|dir| roots.any(|root| dir.starts_with(root)))
    };
    match session_dir.parent() {
        Some(dir) if roots.paths.is_empty() || is_in_roots(dir) => Ok(dir),
        Some(dir) if dir.file_name().is_some_and(|name| name == "projects") => {
            Err(Error::OutsideStore { path: dir.to_owned() })
        }
        _ => Ok(session_dir),
    }
}
