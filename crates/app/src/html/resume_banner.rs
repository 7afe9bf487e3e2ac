//! What a resume would lose, as one quiet line above a conversation, and what mends it.

use maud::{Markup, html};
use rethread_engine::core::resume::SkipReason;
use rethread_engine::core::tree::NodeId;
use rethread_engine::ops::{LostGroup, Session, UnreachableBranch, Verdict};

use super::action::{act, command};
use crate::text::figures::{count, things};
use crate::text::resume;
use crate::text::shell::typed;

/// Ways that are told of each reason, and refusals.
const WAYS: usize = 3;
const REFUSALS: usize = 5;

/// What helps.
enum Help {
    /// A new session in which the links hold again and nothing is refused.
    Repair,
    /// Going on from another entry.
    Goto(NodeId),
    /// Reading what is on the other branches.
    Branches,
}

/// What is the matter with a session.
struct Matter {
    /// It in one line.
    line: String,
    /// What helps.
    helps: Vec<Help>,
    /// What is out of reach.
    groups: Vec<LostGroup>,
}

impl Matter {
    /// Looks what is the matter, if anything is.
    fn of(verdict: &Verdict, session: &Session) -> Option<Matter> {
        // Of a session in which nothing was said, nothing can be lost.
        let is_whole = !verdict.is_loss() && verdict.refusals.is_empty();
        if is_whole || verdict.resume.entries == 0 {
            return None;
        }
        let groups = verdict.lost(session);
        let (line, helps) = told(verdict, session, &groups);
        Some(Matter { line, helps, groups })
    }

    /// Whether nothing is wrong: branches that were left on the way are no news to whoever left them.
    fn is_note(&self) -> bool {
        matches!(self.helps[..], [Help::Branches])
    }

    fn draw(&self, key: &str, verdict: &Verdict, session: &Session) -> Markup {
        let class = if self.is_note() { "verdict" } else { "verdict verdict-warn" };
        html! {
            details class=(class) {
                summary {
                    @if !self.is_note() { span class="verdict-mark" aria-hidden="true" { "!" } " " }
                    span class="verdict-line" { (self.line) }
                }
                div class="verdict-body" {
                    p { (resume::verdict(session, verdict)) "." }
                    @if let Some(stop) = verdict.resume.stop.filter(|stop| stop.why.is_loss()) {
                        p { "It stops at " code { (session.handle(stop.node)) } ": " (resume::stopped(stop.why)) "." }
                    }
                    (lost(key, session, &self.groups))
                    (refused(verdict, session))
                    @for help in &self.helps { (offer(key, session, help)) }
                }
            }
        }
    }
}

/// Draws what the client that wrote a session would lose of it; `None` where it loses nothing and nothing is refused.
pub(crate) fn banner(key: &str, verdict: &Verdict, session: &Session) -> Option<Markup> {
    Some(Matter::of(verdict, session)?.draw(key, verdict, session))
}

/// Draws the same for a page that lists the branches: only what is wrong.
pub(crate) fn warning(key: &str, verdict: &Verdict, session: &Session) -> Option<Markup> {
    let matter = Matter::of(verdict, session).filter(|matter| !matter.is_note())?;
    Some(matter.draw(key, verdict, session))
}

/// Says in one line what is the matter, and finds what helps.
fn told(verdict: &Verdict, session: &Session, groups: &[LostGroup]) -> (String, Vec<Help>) {
    if verdict.resume.halt.is_some() {
        return (resume::verdict(session, verdict), vec![Help::Repair]);
    }
    let newest = session.tree.newest_tip().filter(|&newest| is_lost(verdict, newest));
    let others = || groups.iter().filter(|group| group.why != SkipReason::OtherBranch);
    if verdict.is_broken() && others().next().is_some() {
        return (format!("A resume would lose {}", lost_words(others())), vec![Help::Repair]);
    }
    if let Some(newest) = newest {
        let line = format!(
            "Resume goes on from an older branch: the newest entry, {}, is not on it",
            session.handle(newest)
        );
        return (line, vec![Help::Goto(newest), Help::Branches]);
    }
    if let Some(refusal) = verdict.refusals.first() {
        let line = format!(
            "The API would refuse the next prompt: {} at {}",
            resume::refusal(*refusal),
            session.handle(refusal.node())
        );
        return (line, vec![Help::Repair]);
    }
    match others().max_by_key(|group| group.entries) {
        Some(group) => {
            let tip = group.ways.first().map(|way| Help::Goto(way.tip));
            let helps = match group.why {
                SkipReason::OtherRoot => tip.into_iter().chain([Help::Branches]).collect(),
                _ => vec![Help::Repair],
            };
            (format!("A resume would leave out {}", lost_words(others())), helps)
        }
        None => {
            let line = format!("A resume leaves out {}", lost_words(groups.iter()));
            (line, vec![Help::Branches])
        }
    }
}

/// Whether an entry is out of reach.
fn is_lost(verdict: &Verdict, no: NodeId) -> bool {
    verdict.resume.unreachable.iter().any(|lost| lost.node == Some(no) && lost.why.is_loss())
}

/// Says how much is lost, and why.
fn lost_words<'a>(groups: impl Iterator<Item = &'a LostGroup>) -> String {
    let said =
        groups.map(|group| format!("{} {}", number(group.turns, group.entries), resume::group(group.why)));
    said.collect::<Vec<_>>().join(", ")
}

/// Says turns where there are any, else entries.
fn number(turns: usize, entries: usize) -> String {
    match turns {
        0 => things(entries as u64, "entry"),
        turns => things(turns as u64, "turn"),
    }
}

/// Lists what is out of reach, by reason.
fn lost(key: &str, session: &Session, groups: &[LostGroup]) -> Markup {
    html! {
        @if !groups.is_empty() {
            ul class="verdict-lost" {
                @for group in groups {
                    li {
                        (things(group.entries as u64, "entry"))
                        @if group.turns > 0 { ", " (things(group.turns as u64, "turn")) }
                        " " (resume::group(group.why))
                        @if !group.nameless.is_empty() { ": " code { (resume::lines(&group.nameless)) } }
                        @if !group.ways.is_empty() { ": " (ways(key, session, &group.ways)) }
                    }
                }
            }
        }
    }
}

fn ways(key: &str, session: &Session, ways: &[UnreachableBranch]) -> Markup {
    html! {
        @for (k, way) in ways.iter().take(WAYS).enumerate() {
            @if k > 0 { ", " }
            @let (top, tip) = (session.handle(way.top), session.handle(way.tip));
            a href={ "/s/" (key) "?tip=" (tip) "#" (top) } { (top) @if top != tip { "–" (tip) } }
        }
        @if ways.len() > WAYS { " and " (count((ways.len() - WAYS) as u64)) " more" }
    }
}

fn refused(verdict: &Verdict, session: &Session) -> Markup {
    let refusals = &verdict.refusals;
    html! {
        @if !refusals.is_empty() {
            p { "The API refuses what would be sent:" }
            ul class="verdict-lost" {
                @for refusal in refusals.iter().take(REFUSALS) {
                    li { code { (session.handle(refusal.node())) } ", " (resume::refusal(*refusal)) }
                }
                @if refusals.len() > REFUSALS { li { (count((refusals.len() - REFUSALS) as u64)) " more" } }
            }
        }
    }
}

/// Draws something that helps, as a button and as a command.
fn offer(key: &str, session: &Session, help: &Help) -> Markup {
    let id = typed(&session.id);
    html! {
        div class="verdict-help" {
            @match help {
                Help::Repair => {
                    (act(key, "repair", None, "Mend it in a new session"))
                    (command(&format!("rethread repair {id}")))
                }
                Help::Goto(no) => {
                    @let handle = session.handle(*no);
                    (act(key, "goto", Some(&handle), &format!("Go on from {handle}")))
                    (command(&format!("rethread goto {id} {handle}")))
                }
                Help::Branches => {
                    a class="button" href={ "/s/" (key) "/branches" } { "See all branches" }
                    (command(&format!("rethread branches {id}")))
                }
            }
        }
    }
}
