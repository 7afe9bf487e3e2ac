//! What a list leaves out, in words.

use rethread_engine::ops::HiddenCounts;

use super::figures::count;

/// Says how many are left out of each kind; nothing where none is.
pub(crate) fn hidden(hidden: &HiddenCounts) -> Option<String> {
    let counts = [
        (hidden.headless, "headless"),
        (hidden.empty, "empty"),
        (hidden.warmups, "warm-ups"),
        (hidden.orphans, "subagents without a session"),
    ];
    let said: Vec<String> = counts
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| format!("{} {what}", count(*n as u64)))
        .collect();
    (!said.is_empty()).then(|| format!("hidden: {}", said.join(", ")))
}

/// Whether asking for all would show any of them.
pub(crate) fn can_be_shown(hidden: &HiddenCounts) -> bool {
    hidden.headless + hidden.empty > 0
}
