//! Folders and their git branches in few letters.

use super::clean;

/// Returns the last part of a path; the last two where that is too short to tell anything.
pub(crate) fn base(path: &str) -> String {
    let trimmed = path.trim_end_matches(['/', '\\']);
    let mut parts = trimmed.rsplit(['/', '\\']);
    let last = parts.next().unwrap_or(trimmed);
    let above = parts.next().filter(|above| last.chars().count() < 4 && !above.is_empty());
    clean::line(&above.map_or_else(|| last.to_owned(), |above| format!("{above}/{last}")))
}

/// Names the git branch that a client noted, where it says something: without one it is empty, on none it is `HEAD`.
pub(crate) fn git_branch(noted: Option<&str>) -> Option<String> {
    noted.filter(|branch| !branch.is_empty() && *branch != "HEAD").map(clean::line)
}

#[cfg(test)]
mod tests {
    use super::base;

    #[test]
    fn a_folder_is_known_by_its_last_part() {
        for (folder, said) in
            [("~/code/shop", "shop"), ("/a/b/", "a/b"), ("/", ""), ("C:\\code\\tide-tables", "tide-tables")]
        {
            assert_eq!(base(folder), said, "{folder}");
        }
    }
}
