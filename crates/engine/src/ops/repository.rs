//! Which folders are worktrees of one repository.

use std::collections::HashMap;

use rethread_core::entry::Timestamp;

use super::list::Project;

/// What stands between a repository and the name of its worktree, as people and clients lay them out.
const MARKS: &[&str] = &["/.claude/worktrees/", "/.worktrees/", "-worktrees/"];

/// Projects that are one repository: its folder and its worktrees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// The folder.
    pub path: String,
    /// How many of its worktrees have sessions.
    pub worktrees: usize,
    /// How many sessions.
    pub sessions: usize,
    /// Their size.
    pub bytes: u64,
    /// The last activity.
    pub last: Option<Timestamp>,
}

/// Returns the folder of the repository that a worktree belongs to; any other folder is its own.
pub fn repository(folder: &str) -> &str {
    let slashed = folder.replace('\\', "/");
    let cut = |mark: &&str| {
        let at = slashed.find(mark)?;
        let (before, behind) = (&slashed[..at], &slashed[at + mark.len()..]);
        let is_named = !behind.trim_matches('/').is_empty() && !before.is_empty() && !before.ends_with('/');
        is_named.then_some(at)
    };
    MARKS.iter().filter_map(cut).min().and_then(|at| folder.get(..at)).unwrap_or(folder)
}

/// Puts the worktrees of a repository together, in the order of the first of each.
pub fn repositories(projects: &[Project]) -> Vec<Repository> {
    let mut known: HashMap<&str, usize> = HashMap::new();
    let mut all: Vec<Repository> = Vec::new();
    for project in projects {
        let path = repository(&project.path);
        let no = *known.entry(path).or_insert(all.len());
        if no == all.len() {
            all.push(Repository { path: path.to_owned(), worktrees: 0, sessions: 0, bytes: 0, last: None });
        }
        let one = &mut all[no];
        one.worktrees += usize::from(path != project.path);
        one.sessions += project.sessions;
        one.bytes += project.bytes;
        one.last = one.last.max(project.last);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::{Project, repositories, repository};

    #[test]
    fn a_worktree_belongs_to_its_repository() {
        for (folder, of) in [
            ("/a/shop", "/a/shop"),
            ("/a/shop/.claude/worktrees/fix", "/a/shop"),
            ("/a/shop/.claude/worktrees/fix/src", "/a/shop"),
            ("/a/shop/.worktrees/fix", "/a/shop"),
            ("/a/shop-worktrees/fix", "/a/shop"),
            ("C:\\a\\shop\\.worktrees\\fix", "C:\\a\\shop"),
            ("/a/ü/.worktrees/ü", "/a/ü"),
            // Nobody's worktree: there is no repository, or no name.
            ("/a/shop/.worktrees/", "/a/shop/.worktrees/"),
            ("/.worktrees/fix", "/.worktrees/fix"),
            ("/a/-worktrees/fix", "/a/-worktrees/fix"),
            ("", ""),
        ] {
            assert_eq!(repository(folder), of, "{folder}");
        }
    }

    #[test]
    fn worktrees_are_summed_up_with_their_repository() {
        let project = |path: &str, sessions| Project {
            path: path.to_owned(),
            sessions,
            bytes: sessions as u64 * 10,
            last: None,
        };
        let all = repositories(&[project("/b-worktrees/x", 2), project("/c", 1), project("/b", 3)]);
        let told: Vec<_> =
            all.iter().map(|one| (&one.path[..], one.worktrees, one.sessions, one.bytes)).collect();
        assert_eq!(told, [("/b", 1, 5, 50), ("/c", 0, 1, 10)]);
    }
}
