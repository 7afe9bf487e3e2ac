//! Groups projects that are worktrees of one repository.

use std::collections::HashMap;

use rethread_core::entry::Timestamp;

use super::list::ProjectSummary;

/// The path components between a repository and the name of a worktree, by common conventions of users and clients.
const WORKTREE_MARKERS: &[&str] = &["/.claude/worktrees/", "/.worktrees/", "-worktrees/"];

/// The projects of one repository: its folder and its worktrees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// The folder of the repository.
    pub path: String,
    /// The number of worktrees that have sessions.
    pub worktrees: usize,
    /// The number of sessions.
    pub sessions: usize,
    /// The size of the sessions in bytes.
    pub bytes: u64,
    /// The time of the newest entry of its sessions.
    pub last: Option<Timestamp>,
}

/// Derives the folder of the repository from the path of a worktree, by naming conventions only. Returns any other
/// folder unchanged.
pub fn repository_folder(folder: &str) -> &str {
    let slashed = folder.replace('\\', "/");
    let find_marker = |marker: &&str| {
        let start = slashed.find(marker)?;
        let (before, after) = (&slashed[..start], &slashed[start + marker.len()..]);
        let is_named = !after.trim_matches('/').is_empty() && !before.is_empty() && !before.ends_with('/');
        is_named.then_some(start)
    };
    WORKTREE_MARKERS
        .iter()
        .filter_map(find_marker)
        .min()
        .and_then(|start| folder.get(..start))
        .unwrap_or(folder)
}

/// Merges the projects of each repository, in the order of their first project.
pub fn group_by_repository(projects: &[ProjectSummary]) -> Vec<Repository> {
    let mut idx_by_path: HashMap<&str, usize> = HashMap::new();
    let mut repositories: Vec<Repository> = Vec::new();
    for project in projects {
        let path = repository_folder(&project.path);
        let idx = *idx_by_path.entry(path).or_insert(repositories.len());
        if idx == repositories.len() {
            repositories.push(Repository {
                path: path.to_owned(),
                worktrees: 0,
                sessions: 0,
                bytes: 0,
                last: None,
            });
        }
        let repository = &mut repositories[idx];
        repository.worktrees += usize::from(path != project.path);
        repository.sessions += project.sessions;
        repository.bytes += project.bytes;
        repository.last = repository.last.max(project.last);
    }
    repositories
}

#[cfg(test)]
mod tests {
    use super::{ProjectSummary, group_by_repository, repository_folder};

    #[test]
    fn worktree_folder_maps_to_its_repository() {
        for (folder, expected) in [
            ("/a/shop", "/a/shop"),
            ("/a/shop/.claude/worktrees/fix", "/a/shop"),
            ("/a/shop/.claude/worktrees/fix/src", "/a/shop"),
            ("/a/shop/.worktrees/fix", "/a/shop"),
            ("/a/shop-worktrees/fix", "/a/shop"),
            ("C:\\a\\shop\\.worktrees\\fix", "C:\\a\\shop"),
            ("/a/ü/.worktrees/ü", "/a/ü"),
            // Not a worktree: the repository or the name is missing.
            ("/a/shop/.worktrees/", "/a/shop/.worktrees/"),
            ("/.worktrees/fix", "/.worktrees/fix"),
            ("/a/-worktrees/fix", "/a/-worktrees/fix"),
            ("", ""),
        ] {
            assert_eq!(repository_folder(folder), expected, "{folder}");
        }
    }

    #[test]
    fn worktrees_are_merged_with_their_repository() {
        let project = |path: &str, sessions| ProjectSummary {
            path: path.to_owned(),
            sessions,
            bytes: sessions as u64 * 10,
            last: None,
        };
        let all = group_by_repository(&[project("/b-worktrees/x", 2), project("/c", 1), project("/b", 3)]);
        let summary: Vec<_> =
            all.iter().map(|repo| (&repo.path[..], repo.worktrees, repo.sessions, repo.bytes)).collect();
        assert_eq!(summary, [("/b", 1, 5, 50), ("/c", 0, 1, 10)]);
    }
}
