//! Finds the files of one session without listing the whole store.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::find::{Roots, SessionFile, find_sessions, list_names};

/// Returns the session file `main`, the subagent files in its side folder, and the files `more`, sorted by path. Skips
/// missing files.
pub(crate) fn find_session_files<'p>(
    main: &'p Path,
    more: impl IntoIterator<Item = &'p Path>,
) -> Vec<SessionFile> {
    let subagents = main.with_extension("").join("subagents");
    let mut paths: Vec<_> = [main].into_iter().chain(more).filter(|path| path.is_file()).collect();
    paths.extend(subagents.is_dir().then_some(subagents.as_path()));
    find_sessions(&Roots::new(paths.into_iter().map(Path::to_owned).collect())).0
}

/// Returns the names of the subagent files in the same folder as a session file. Older clients stored the subagents of all
/// sessions there. The order is unspecified. Returns an empty list if the folder cannot be read.
pub(crate) fn list_sibling_agents(main: &Path) -> Vec<OsString> {
    let folder = main.parent().filter(|folder| !folder.as_os_str().is_empty());
    let is_agent = |name: &OsStr| {
        let name = name.as_encoded_bytes();
        name.starts_with(b"agent-") && name.ends_with(b".jsonl")
    };
    let mut names = list_names(folder.unwrap_or(Path::new(".")));
    names.retain(|name| is_agent(name));
    names
}
