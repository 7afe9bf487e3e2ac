//! Where the sessions of a folder lie.

use std::path::{Path, PathBuf};

use crate::Error;

/// The longest name that the client gives to the folder of a project; behind it comes a number that only it knows.
const LONGEST: usize = 200;

/// Finds where the client keeps the sessions of `folder`, in the store that holds `session`. Returns that place and the
/// folder as the client calls it.
pub(crate) fn project_of(folder: &Path, session: &Path) -> Result<(PathBuf, String), Error> {
    let missing = || Error::NoFolder { path: folder.to_owned() };
    let folder = folder.canonicalize().ok().filter(|folder| folder.is_dir()).ok_or_else(missing)?;
    let cwd = folder.to_str().ok_or_else(missing)?.to_owned();
    let projects = session.parent().and_then(Path::parent);
    let projects = projects.ok_or_else(|| Error::OutsideStore { path: session.to_owned() })?;
    let name = dashed(&cwd);
    if name.len() <= LONGEST {
        return Ok((projects.join(name), cwd));
    }
    let start = &name[..LONGEST];
    let found = std::fs::read_dir(projects).into_iter().flatten().filter_map(Result::ok);
    let fits =
        |entry: &std::fs::DirEntry| entry.file_name().to_str().is_some_and(|name| name.starts_with(start));
    let found: Vec<PathBuf> = found.filter(fits).map(|entry| entry.path()).collect();
    match &found[..] {
        [project] => Ok((project.clone(), cwd)),
        _ => Err(Error::UnknownProject { path: folder, found: found.len() }),
    }
}

/// Writes a path as the client names the folder of a project: what is no letter or digit becomes a dash.
fn dashed(path: &str) -> String {
    let dash = |unit: u16| match u8::try_from(unit) {
        Ok(byte) if byte.is_ascii_alphanumeric() => char::from(byte),
        _ => '-',
    };
    path.encode_utf16().map(dash).collect()
}

#[cfg(test)]
mod tests {
    use super::dashed;

    #[test]
    fn a_folder_is_named_as_the_client_does() {
        assert_eq!(dashed("/home/ann/my garden_2.0"), "-home-ann-my-garden-2-0");
        // Counted as JavaScript counts: one dash for an umlaut, two for a picture.
        assert_eq!(dashed("/ü/🌱"), "-----");
    }
}
