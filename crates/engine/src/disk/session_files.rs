//! The files of one session, without looking at those of any other.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::find::{Roots, SessionFile, find};

/// Finds the file of a session and those of its subagents that lie in its folder, in the order of their paths, with some
/// `more` files. What is not there is left out.
pub(crate) fn find_session_files<'p>(
    main: &'p Path,
    more: impl IntoIterator<Item = &'p Path>,
) -> Vec<SessionFile> {
    let subagents = main.with_extension("").join("subagents");
    let mut paths: Vec<_> = [main].into_iter().chain(more).filter(|path| path.is_file()).collect();
    paths.extend(subagents.is_dir().then_some(subagents.as_path()));
    find(&Roots { paths: paths.into_iter().map(Path::to_owned).collect() }).0
}

/// Lists the files beside a session in which older clients kept their subagents, whichever session these are of.
pub(crate) fn agents_beside(main: &Path) -> Vec<OsString> {
    let folder = main.parent().filter(|folder| !folder.as_os_str().is_empty());
    let names = std::fs::read_dir(folder.unwrap_or(Path::new("."))).into_iter().flatten();
    let names = names.filter_map(Result::ok).map(|entry| entry.file_name());
    let is_agent = |name: &OsStr| {
        let name = name.as_encoded_bytes();
        name.starts_with(b"agent-") && name.ends_with(b".jsonl")
    };
    names.filter(|name| is_agent(name)).collect()
}
