//! Leaves the sessions of projects out of the archive.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::source::SourceFiles;
use crate::archive_reader::tombstones::find_session_names;
use crate::disk::ProjectScope;
use crate::plain_file::open_file;

/// The projects that are not archived.
#[derive(Debug, Default)]
pub(crate) struct ExclusionSet {
    scopes: Vec<ProjectScope>,
}

impl ExclusionSet {
    pub(crate) fn new(dirs: &[PathBuf]) -> ExclusionSet {
        ExclusionSet { scopes: dirs.iter().map(|dir| ProjectScope::new(dir)).collect() }
    }

    /// Removes the files of excluded sessions and returns their number. Opens only session files in project folders whose
    /// names may be those of an excluded project.
    pub(super) fn remove_excluded(&self, source: &mut SourceFiles) -> u64 {
        if self.scopes.is_empty() {
            return 0;
        }
        let (mut excluded, mut excluded_ids) = (HashSet::new(), HashSet::new());
        let (mut excluded_projects, mut kept_projects) = (HashSet::new(), HashSet::new());
        for file in source.files.iter().filter(|file| is_transcript(&file.relative)) {
            if self.excludes_session(&source.root.join(&file.relative), &file.relative) {
                let name = file.relative.file_name().unwrap_or_default();
                excluded_ids.extend(find_session_names(&name.to_string_lossy()));
                excluded.insert(file.relative.clone());
                excluded_projects.extend(file.relative.parent().map(Path::to_owned));
            } else {
                kept_projects.extend(file.relative.parent().map(Path::to_owned));
            }
        }
        let is_named = |project: &Path| {
            let name = project.file_name().unwrap_or_default().to_string_lossy();
            self.scopes.iter().any(|scope| scope.is_named(&name))
        };
        // Other files of a project, such as its memory, unless a session of it is archived.
        let is_in_excluded_project = |relative: &Path| {
            let project = find_project_dir(relative);
            project.is_some_and(|project| {
                !kept_projects.contains(&project)
                    && (excluded_projects.contains(&project) || is_named(&project))
            })
        };
        let is_excluded = |relative: &Path| {
            let names = find_session_names(&relative.to_string_lossy());
            excluded.contains(relative)
                || names.iter().any(|name| excluded_ids.contains(name))
                || is_in_excluded_project(relative)
        };
        let before = source.files.len();
        source.files.retain(|file| !is_excluded(&file.relative));
        (before - source.files.len()) as u64
    }

    /// Returns `true` if the session in a file belongs to an excluded project. `relative` is the path below the root.
    pub(crate) fn excludes_session(&self, path: &Path, relative: &Path) -> bool {
        let project = relative.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        let is_in_client_dir = relative.starts_with("projects");
        self.scopes.iter().any(|scope| {
            (!is_in_client_dir || scope.may_contain_folder(&project))
                && match open_file(path) {
                    Ok(file) => scope.contains_session(&project, file),
                    Err(_) => scope.is_named(&project),
                }
        })
    }
}

/// Returns the project folder that contains a file, below the root. Returns `None` for a file elsewhere.
fn find_project_dir(relative: &Path) -> Option<PathBuf> {
    let mut names = relative.components();
    let projects = names.next().filter(|name| name.as_os_str() == "projects")?;
    let project = names.next()?;
    Some(Path::new(&projects).join(project))
}

/// Returns `true` for transcripts of sessions, and for those of subagents of older clients, which are next to them.
fn is_transcript(relative: &Path) -> bool {
    let is_lines = relative.extension().is_some_and(|extension| extension == "jsonl");
    is_lines && (!relative.starts_with("projects") || relative.components().count() == 3)
}
