//! Lists the files that the content of a session comes from.

use std::path::{Path, PathBuf};

use crate::disk::list_files;
use crate::ops::agents::find_agent_paths;

/// Returns the session file, its subagent files and all files in its side folder, sorted and without duplicates.
pub fn find_source_files(path: &Path) -> Vec<PathBuf> {
    let mut files = vec![path.to_owned()];
    files.extend(find_agent_paths(path));
    files.extend(list_files(&path.with_extension("")));
    files.sort();
    files.dedup();
    files
}
