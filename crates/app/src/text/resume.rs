//! Texts about the entries that a client loads on resume.

use rethread_engine::core::resume::{ApiRejection, LeafRule, LoadFailure, SkipReason};
use rethread_engine::ops::Session;
use rethread_engine::ops::explain::{ClientVerdict, EntryFate};

use super::clean;
use super::figures::{count_noun, format_percent, group_digits};
use super::layout::truncate_to_width;

/// The maximum display width of a client version.
const MAX_CLIENT_WIDTH: usize = 24;

/// Returns the name and version of the client as the subject of a sentence.
fn client_name(verdict: &ClientVerdict) -> String {
    match &verdict.client {
        Some(client) => {
            format!("Claude Code {}", truncate_to_width(&clean::line(&client.text), MAX_CLIENT_WIDTH))
        }
        None => "A reader that follows summaries".to_owned(),
    }
}

/// Summarizes in one sentence how many entries and turns the client loads, or why it loads none.
pub(crate) fn load_summary(session: &Session, verdict: &ClientVerdict) -> String {
    let client = client_name(verdict);
    let (entries, turns) = (verdict.resume.entries as u64, session.tree.turn_starts().count() as u64);
    if let Some(failure) = verdict.resume.failure {
        return format!("{client} {}", failure_text(failure, session, verdict));
    }
    let loaded = verdict.count(EntryFate::Loaded) as u64;
    let lost = verdict.count(EntryFate::Lost) as u64;
    if loaded == entries {
        return format!(
            "{client} loads everything: {}, {}",
            count_noun(entries, "entry"),
            count_noun(turns, "turn")
        );
    }
    let share = |part: u64, whole: u64, noun: &str| match whole {
        1 => format!("{part} of 1 {noun}"),
        _ => {
            format!(
                "{} of {} ({})",
                group_digits(part),
                count_noun(whole, noun),
                format_percent(part as f64, whole as f64)
            )
        }
    };
    let loaded = share(loaded, entries, "entry");
    let loaded = match turns {
        0 => loaded,
        _ => format!("{loaded} and {}", share(verdict.turns as u64, turns, "turn")),
    };
    let rest = [
        (verdict.count(EntryFate::Compacted) as u64, "is compacted", "are compacted"),
        (verdict.count(EntryFate::Omitted) as u64, "is omitted", "are omitted"),
        (lost, "is unreachable", "are unreachable"),
    ];
    let rest = rest.iter().filter(|(count, ..)| *count > 0);
    let rest = rest.map(|(count, singular, plural)| match *count {
        1 => format!("1 {singular}"),
        _ => format!("{} {plural}", group_digits(*count)),
    });
    format!("{client} loads {loaded}; {}", rest.collect::<Vec<_>>().join(", "))
}

/// Describes why the client loads nothing, as the predicate of a sentence about the client.
fn failure_text(failure: LoadFailure, session: &Session, verdict: &ClientVerdict) -> &'static str {
    match failure {
        LoadFailure::Hangs => "freezes while loading this session: its parents form a cycle",
        _ if verdict.resume.entries > 0 && session.tree.is_sidechain_file() => {
            "does not resume this file: all its lines belong to a subagent"
        }
        LoadFailure::GivesUp => "finds no conversation in this session: every entry has a child",
        LoadFailure::Nothing if verdict.client.is_none() => {
            "finds nothing to load: no summary names an entry of this session"
        }
        LoadFailure::Nothing => "finds nothing to load in this session",
    }
}

/// Describes the rule by which the client selected the leaf.
pub(crate) fn leaf_rule_text(rule: LeafRule) -> String {
    match rule {
        LeafRule::Newest => "the newest timestamp".to_owned(),
        LeafRule::OnlyLeaf => "the only entry without a child".to_owned(),
        LeafRule::LastLine => "the last line of the conversation".to_owned(),
        LeafRule::NewestBelowLastLine => "the newest descendant of the last line".to_owned(),
        LeafRule::Pinned(line) => format!("pinned by the last-prompt on L{line}"),
        LeafRule::Summary(line) => format!("named by the summary on L{line}"),
        LeafRule::Requested => "requested".to_owned(),
    }
}

/// Explains why the client stops following parents before a root, as a clause about the entry at which it stops. For
/// other reasons than an unread parent or a cycle, the parent is missing.
pub(crate) fn stop_reason_text(reason: SkipReason) -> &'static str {
    match reason {
        SkipReason::UnreadParent => "its parent is on a line that this client does not read",
        SkipReason::Cycle => "its parents form a cycle",
        _ => "its parent is not in the file",
    }
}

/// Describes why entries are unreachable, as the end of a phrase: "3 turns on other branches".
pub(crate) fn unreachable_reason_text(reason: SkipReason) -> &'static str {
    match reason {
        SkipReason::OtherBranch => "on other branches",
        SkipReason::OtherRoot => "below other roots",
        SkipReason::MissingParent => "below a parent that is not in the file",
        SkipReason::UnreadParent => "below a line that this client does not read",
        SkipReason::Cycle => "in a cycle of parents",
        SkipReason::Damaged => "on damaged lines, which clients skip",
        SkipReason::LoadFailed => "not loaded because the client fails",
        SkipReason::NotPreserved => {
            "kept by a compaction, but dropped with another kept entry that is missing"
        }
        SkipReason::MissingUuid => "without a uuid, so that no entry can refer to them",
        _ => "omitted",
    }
}

/// Formats the number of entries or blocks that the client omits for one reason, with a noun for that reason.
pub(crate) fn omitted_count_text(reason: SkipReason, count: u64) -> String {
    let (singular, plural) = match reason {
        SkipReason::Local => ("line of a local command", "lines of local commands"),
        SkipReason::ApiError => ("API error", "API errors"),
        SkipReason::Unanswered => ("call without a result", "calls without a result"),
        SkipReason::Orphan => ("result without a call", "results without a call"),
        SkipReason::LoneThinking => ("thinking block without an answer", "thinking blocks without an answer"),
        SkipReason::Blank => ("answer without text", "answers without text"),
        SkipReason::Empty => ("prompt without content", "prompts without content"),
        SkipReason::Repeated => ("line with the uuid of a later line", "lines with the uuid of a later line"),
        _ => ("entry", "entries"),
    };
    format!("{} {}", group_digits(count), if count == 1 { singular } else { plural })
}

/// Describes the block or message that the API rejects.
pub(crate) fn rejection_text(rejection: ApiRejection) -> &'static str {
    match rejection {
        ApiRejection::UnpairedCall(..) => "a tool call without its result in the next message",
        ApiRejection::UnpairedResult(..) => "a tool result without its call in the previous message",
        ApiRejection::LargeImage(..) => "an image over 5 MB",
        ApiRejection::ThinkingLast(..) => "an answer that ends with a thinking block",
        ApiRejection::BlankText(..) => "an empty text",
    }
}

/// Lists the first 8 line numbers: `L3 L5 … 2 more`.
pub(crate) fn line_list(lines: &[u32]) -> String {
    const MAX_LISTED: usize = 8;
    let mut listed: Vec<String> = lines.iter().take(MAX_LISTED).map(|line| format!("L{line}")).collect();
    if lines.len() > MAX_LISTED {
        listed.push(format!("… {} more", group_digits((lines.len() - MAX_LISTED) as u64)));
    }
    listed.join(" ")
}

#[cfg(test)]
mod tests {
    use super::line_list;

    #[test]
    fn only_the_first_lines_are_listed() {
        assert_eq!(line_list(&[3]), "L3");
        assert_eq!(line_list(&(1..=10).collect::<Vec<_>>()), "L1 L2 L3 L4 L5 L6 L7 L8 … 2 more");
    }
}
