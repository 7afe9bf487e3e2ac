//! Locates the client's project folder for a working folder.

use std::path::{Path, PathBuf};

use crate::Error;

/// The maximum length of a project folder name. The client truncates longer ones and appends a hash.
const MAX_NAME_BYTES: usize = 200;

/// Finds the project folder for the working folder `folder` in the store that contains the file `session`. Also returns
/// the canonical path of `folder`. Returns an error if `folder` does not exist or its project folder is ambiguous.
pub(crate) fn locate_project_dir(folder: &Path, session: &Path) -> Result<(PathBuf, String), Error> {
    let missing_error = || Error::FolderNotFound { path: folder.to_owned() };
    let folder = folder.canonicalize().ok().filter(|folder| folder.is_dir()).ok_or_else(missing_error)?;
    let cwd = folder.to_str().ok_or_else(missing_error)?.to_owned();
    let projects_dir = session.parent().and_then(Path::parent);
    let projects_dir = projects_dir.ok_or_else(|| Error::OutsideStore { path: session.to_owned() })?;
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

/// Encodes a path as the client names project folders: every character except ASCII letters and digits becomes a dash.
fn encode_project_name(path: &str) -> String {
    let encode_unit = |unit: u16| match u8::try_from(unit) {
        Ok(byte) if byte.is_ascii_alphanumeric() => char::from(byte),
        _ => '-',
    };
    path.encode_utf16().map(encode_unit).collect()
}

#[cfg(test)]
mod tests {
    use super::encode_project_name;

    #[test]
    fn project_name_matches_the_client_encoding() {
        assert_eq!(encode_project_name("/home/ann/my garden_2.0"), "-home-ann-my-garden-2-0");
        // JavaScript counts UTF-16 units: one dash for an umlaut, two for an emoji.
        assert_eq!(encode_project_name("/ü/🌱"), "-----");
    }
}
