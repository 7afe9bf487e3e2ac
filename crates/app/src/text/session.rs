//! Labels of sessions and search hits: titles, folders, status, hidden rows.

use rethread_engine::core::query::TextSource;
use rethread_engine::core::resume::ContextStatus;
use rethread_engine::ops::list::HiddenCounts;
use rethread_engine::ops::read::BranchSelector;
use rethread_engine::ops::search::SearchHit;
use rethread_engine::ops::show::TurnScope;

use super::clean;
use super::command::build_command;
use super::figures::{count_noun, group_digits};
use super::layout::truncate_to_width;

/// The maximum display width of a title.
const MAX_TITLE_WIDTH: usize = 300;

/// The prefix of the prompt with which clients start to implement a plan.
const PLAN_PREFIX: &str = "Implement the following plan:";

/// Cleans a session title and truncates it to 300 columns.
///
/// For the implementation of a plan, returns the first heading of the plan instead.
pub(crate) fn display_title(title: &str) -> String {
    let title = truncate_to_width(&clean::line(title), MAX_TITLE_WIDTH);
    let Some(plan) =
        title.strip_prefix(PLAN_PREFIX).map(str::trim_start).filter(|plan| plan.starts_with('#'))
    else {
        return title;
    };
    let heading = plan.trim_start_matches(['#', ' ']);
    let end = heading.find(" #").unwrap_or(heading.len());
    let heading = heading[..end].trim();
    if heading.is_empty() { title } else { heading.to_owned() }
}

/// Returns the last component of a folder path, or the last two if the last has fewer than 4 characters.
pub(crate) fn folder_name(path: &str) -> String {
    let trimmed = path.trim_end_matches(['/', '\\']);
    let mut parts = trimmed.rsplit(['/', '\\']);
    let last = parts.next().unwrap_or(trimmed);
    let parent = parts.next().filter(|parent| last.chars().count() < 4 && !parent.is_empty());
    clean::line(&parent.map_or_else(|| last.to_owned(), |parent| format!("{parent}/{last}")))
}

/// Returns the recorded git branch. Returns `None` if it is empty (no repository) or `HEAD` (detached).
pub(crate) fn git_branch_label(recorded: Option<&str>) -> Option<String> {
    recorded.filter(|branch| !branch.is_empty() && *branch != "HEAD").map(clean::line)
}

/// Returns a note with the number of hidden sessions by kind: `hidden: 3 headless, 1 empty`.
///
/// Returns `None` if none is hidden.
pub(crate) fn hidden_note(hidden: &HiddenCounts) -> Option<String> {
    let counts = [
        (hidden.headless, "headless"),
        (hidden.empty, "empty"),
        (hidden.warmups, "warm-ups"),
        (hidden.orphans, "subagents without a session"),
    ];
    let parts: Vec<String> = counts
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, kind)| format!("{} {kind}", group_digits(*n as u64)))
        .collect();
    (!parts.is_empty()).then(|| format!("hidden: {}", parts.join(", ")))
}

/// Returns `true` if `--all` would show some of the hidden sessions: headless or empty ones. Subagents stay hidden.
pub(crate) fn can_show_hidden(hidden: &HiddenCounts) -> bool {
    hidden.headless + hidden.empty > 0
}

/// Returns the command that brings back a session that only the archive has.
pub(crate) fn restore_command(id: &str) -> String {
    build_command(&["restore", id])
}

/// Returns the command that restores an archived state of a session.
pub(crate) fn state_command(id: &str, number: u32) -> String {
    build_command(&["restore", id, "--generation", &number.to_string()])
}

/// Returns a label that states whether a hit is in context when its session is resumed, and if not, the reason.
pub(crate) fn context_status_label(hit: &SearchHit) -> &'static str {
    match hit.context_status {
        _ if hit.agent.is_some() => "subagent",
        ContextStatus::Active if hit.is_copy => "in context, as a copy",
        ContextStatus::Active => "in context",
        ContextStatus::Compacted => "not in context: compacted",
        ContextStatus::OtherBranch => "not in context: abandoned branch",
        ContextStatus::Orphaned => "not in context: orphaned",
        ContextStatus::Subagent => "subagent",
        ContextStatus::Unlinked if hit.excerpt.source == TextSource::Summary => "title or link",
        ContextStatus::Unlinked => "not part of the conversation",
    }
}

/// States which of the turns of a session are shown: `5 of 8 turns: the conversation that a resume continues`.
///
/// The turns before a compaction are counted separately. Returns an empty string if the session has no turns, and for a subagent inside the file.
pub(crate) fn scope_label(scope: &TurnScope, selector: &BranchSelector) -> String {
    if scope.total == 0 {
        return String::new();
    }
    let total = count_noun(scope.total as u64, "turn");
    let selected = group_digits(scope.selected as u64);
    let mut label = match selector {
        BranchSelector::AllTurns => format!("all {total}, on every branch"),
        _ if scope.omitted() == 0 => format!("all {total}"),
        BranchSelector::Active => format!("{selected} of {total}: the conversation that a resume continues"),
        BranchSelector::Through(_) => format!("{selected} of {total}: one branch"),
        BranchSelector::Sidechain(_) => return String::new(),
    };
    if scope.compacted > 0 {
        label.push_str(&format!(", {} before a compaction", group_digits(scope.compacted as u64)));
    }
    label
}

#[cfg(test)]
mod tests {
    use super::{display_title, folder_name};

    #[test]
    fn plan_session_is_titled_by_the_heading_of_the_plan() {
        assert_eq!(
            display_title("Implement the following plan: # Measure marks ## Context Why"),
            "Measure marks"
        );
        assert_eq!(
            display_title("Implement the following plan:  ## Measure marks 1. Measure"),
            "Measure marks 1. Measure"
        );
        for other in [
            "Implement the following plan: measure marks",
            "Implement the following plan: #",
            "# Measure",
            "",
        ] {
            assert_eq!(display_title(other), other);
        }
    }

    #[test]
    fn folder_name_is_the_last_path_component() {
        for (folder, name) in
            [("~/code/shop", "shop"), ("/a/b/", "a/b"), ("/", ""), ("C:\\code\\tide-tables", "tide-tables")]
        {
            assert_eq!(folder_name(folder), name, "{folder}");
        }
    }
}
