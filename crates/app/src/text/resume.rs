//! What a client makes of a session, in words.

use rethread_engine::core::resume::{LeafRule, LoadFailure, Refusal, SkipReason};
use rethread_engine::ops::{Fate, Session, Verdict};

use super::clean;
use super::figures::{count, things};
use super::fit::truncate_to_width;

/// Longest name of a client.
const CLIENT: usize = 24;

/// Names the client as the subject of a sentence.
fn client(verdict: &Verdict) -> String {
    match &verdict.client {
        Some(client) => format!("Claude Code {}", truncate_to_width(&clean::line(&client.text), CLIENT)),
        None => "A reader that goes by summaries".to_owned(),
    }
}

/// Says in one sentence what is loaded.
pub(crate) fn verdict(session: &Session, verdict: &Verdict) -> String {
    let who = client(verdict);
    let (entries, turns) = (verdict.resume.entries as u64, session.tree.turns().count() as u64);
    if let Some(halt) = verdict.resume.halt {
        return format!("{who} {}", self::halt(halt, session, verdict));
    }
    let loaded = verdict.count(Fate::Loaded) as u64;
    let lost = verdict.count(Fate::Lost) as u64;
    if loaded == entries {
        return format!("{who} loads everything: {}, {}", things(entries, "entry"), things(turns, "turn"));
    }
    let part = |part: u64, whole: u64, one: &str| match whole {
        1 => format!("{part} of 1 {one}"),
        _ => format!("{} of {} ({})", count(part), things(whole, one), share(part, whole)),
    };
    let said = part(loaded, entries, "entry");
    let said = match turns {
        0 => said,
        _ => format!("{said} and {}", part(verdict.turns as u64, turns, "turn")),
    };
    let rest = [
        (verdict.count(Fate::Compacted) as u64, "is summed up", "are summed up"),
        (verdict.count(Fate::LeftOut) as u64, "is left out", "are left out"),
        (lost, "is out of reach", "are out of reach"),
    ];
    let rest = rest.iter().filter(|(number, ..)| *number > 0);
    let rest = rest.map(|(number, one, several)| match *number {
        1 => format!("1 {one}"),
        _ => format!("{} {several}", count(*number)),
    });
    format!("{who} loads {said}; {}", rest.collect::<Vec<_>>().join(", "))
}

/// Says a part in whole percents; only the whole is 100%.
pub(crate) fn share(part: u64, whole: u64) -> String {
    match (part * 100).checked_div(whole) {
        Some(0) if part > 0 => "<1%".to_owned(),
        percent => format!("{}%", percent.unwrap_or(0)),
    }
}

fn halt(halt: LoadFailure, session: &Session, verdict: &Verdict) -> &'static str {
    match halt {
        LoadFailure::Hangs => "hangs on this session and has to be stopped: entries are each other's parents",
        _ if verdict.resume.entries > 0 && session.tree.is_sidechain_file() => {
            "does not resume this file: all its lines are a subagent's"
        }
        LoadFailure::GivesUp => "finds no conversation in this session: every entry has another below it",
        LoadFailure::Nothing if verdict.client.is_none() => {
            "finds nothing to load: no summary names an entry of this session"
        }
        LoadFailure::Nothing => "finds nothing to load in this session",
    }
}

/// Says by which rule an entry is the leaf.
pub(crate) fn rule(rule: LeafRule) -> String {
    match rule {
        LeafRule::Newest => "the newest timestamp".to_owned(),
        LeafRule::OnlyLeaf => "the only entry with nothing below it".to_owned(),
        LeafRule::LastLine => "the last line of the conversation".to_owned(),
        LeafRule::NewestBelowLastLine => "the newest below the last line".to_owned(),
        LeafRule::Pinned(line) => format!("pinned by the last-prompt on L{line}"),
        LeafRule::Summary(line) => format!("named by the summary on L{line}"),
        LeafRule::Requested => "asked for".to_owned(),
    }
}

/// Says why a walk ended too early.
pub(crate) fn stopped(why: SkipReason) -> &'static str {
    match why {
        SkipReason::UnreadParent => "it hangs on a line that this client does not read",
        SkipReason::Cycle => "from here the parents go round in a circle",
        _ => "its parent is in no line",
    }
}

/// Says what entries out of reach have in common.
pub(crate) fn group(why: SkipReason) -> &'static str {
    match why {
        SkipReason::OtherBranch => "on other branches",
        SkipReason::OtherRoot => "under other beginnings",
        SkipReason::MissingParent => "below a parent that is in no line",
        SkipReason::UnreadParent => "below a line that this client does not read",
        SkipReason::Cycle => "in a circle of parents",
        SkipReason::Damaged => "on damaged lines, of which clients read nothing",
        SkipReason::Halted => "behind what stops the client",
        SkipReason::Nameless => "without a uuid, so that nothing can lead to them",
        _ => "left out",
    }
}

/// Names what is left out, as one of them.
pub(crate) fn left_out(why: SkipReason, number: u64) -> String {
    let (one, several) = match why {
        SkipReason::Local => ("line of a local command", "lines of local commands"),
        SkipReason::ApiError => ("API error", "API errors"),
        SkipReason::Unanswered => ("call that was never answered", "calls that were never answered"),
        SkipReason::Orphan => ("result without its call", "results without their calls"),
        SkipReason::LoneThinking => ("thought without an answer", "thoughts without an answer"),
        SkipReason::Blank => ("answer without words", "answers without words"),
        SkipReason::Empty => ("prompt without content", "prompts without content"),
        SkipReason::Repeated => ("line whose uuid a later line has", "lines whose uuid a later line has"),
        _ => ("entry", "entries"),
    };
    format!("{} {}", count(number), if number == 1 { one } else { several })
}

/// Says what the API will refuse.
pub(crate) fn refusal(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::UnpairedCall(..) => "a tool call without its result in the next message",
        Refusal::UnpairedResult(..) => "a tool result without its call in the message before",
        Refusal::LargePicture(..) => "a picture of more than 5 MB",
        Refusal::ThinkingLast(..) => "an answer that ends in a thought",
        Refusal::BlankText(..) => "a text without words",
    }
}

/// Names lines, the first few of them.
pub(crate) fn lines(lines: &[u32]) -> String {
    const MOST: usize = 8;
    let mut named: Vec<String> = lines.iter().take(MOST).map(|line| format!("L{line}")).collect();
    if lines.len() > MOST {
        named.push(format!("… {} more", count((lines.len() - MOST) as u64)));
    }
    named.join(" ")
}

#[cfg(test)]
mod tests {
    use super::{lines, share};

    #[test]
    fn only_the_whole_is_a_hundred_percent() {
        let said =
            [share(0, 9), share(1, 5783), share(301, 5783), share(999, 1000), share(9, 9), share(0, 0)];
        assert_eq!(said, ["0%", "<1%", "5%", "99%", "100%", "0%"]);
    }

    #[test]
    fn only_the_first_lines_are_named() {
        assert_eq!(lines(&[3]), "L3");
        assert_eq!(lines(&(1..=10).collect::<Vec<_>>()), "L1 L2 L3 L4 L5 L6 L7 L8 … 2 more");
    }
}
