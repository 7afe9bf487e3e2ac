//! The resume banner: states above a conversation what a resume would lose, and offers fixes.

use maud::{Markup, html};
use rethread_engine::core::resume::{KNOWN_CLIENTS, LossCause, SkippedEntry};
use rethread_engine::core::tree::NodeId;
use rethread_engine::core::version::Version;
use rethread_engine::ops::Session;
use rethread_engine::ops::explain::{ClientVerdict, LostGroup, UnreachableBranch};

use super::action::{render_action_button, render_command};
use crate::text::command::build_command;
use crate::text::figures::{count_noun, group_digits};
use crate::text::resume;

/// Maximum number of branches listed per reason.
const MAX_BRANCHES: usize = 3;
/// Maximum number of API rejections listed.
const MAX_REJECTIONS: usize = 5;

/// An action that fixes a problem.
enum Fix {
    /// Repair the session into a new one.
    Repair,
    /// Resume from this entry.
    Goto(NodeId),
    /// Show the other branches.
    Branches,
}

/// A problem that a resume of the session has.
struct ResumeProblem {
    /// The problem in one line.
    headline: String,
    /// The offered actions, the best one first.
    fixes: Vec<Fix>,
    /// The entries that a resume would not load.
    groups: Vec<LostGroup>,
    /// Whether the banner only reports branches that the user left.
    is_note: bool,
}

impl ResumeProblem {
    /// Finds the problem of resuming a session. Returns `None` if nothing would be lost or rejected, or if the
    /// session is empty.
    fn find(verdict: &ClientVerdict, session: &Session) -> Option<ResumeProblem> {
        let groups = verdict.lost_groups(session);
        let is_fine = !verdict.is_loss() && verdict.rejections.is_empty() && groups.is_empty();
        // An empty session and the file of a subagent have nothing to lose.
        if is_fine || verdict.resume.entries == 0 || session.is_agent_file() {
            return None;
        }
        let (headline, fixes) = describe_problem(verdict, session, &groups);
        let is_note = !verdict.is_loss() && verdict.rejections.is_empty();
        Some(ResumeProblem { headline, fixes, groups, is_note })
    }

    /// Renders the problem as a collapsed banner. It is a warning unless it only reports other branches.
    fn render(&self, base: &str, verdict: &ClientVerdict, session: &Session) -> Markup {
        let class = if self.is_note { "resume-banner" } else { "resume-banner resume-banner-warn" };
        html! {
            details class=(class) {
                summary {
                    @if !self.is_note { span class="resume-banner-icon" aria-hidden="true" { "!" } " " }
                    span class="resume-banner-headline" { (self.headline) }
                }
                div class="resume-banner-body" {
                    p { (resume::load_summary(session, verdict)) "." }
                    @if let Some(stop) = verdict.resume.early_end.filter(|stop| stop.reason.is_loss()) {
                        p { "It stops at " code { (session.entry_handle(stop.node)) } ": " (resume::stop_reason_text(stop.reason)) "." }
                    }
                    (render_lost(base, session, &self.groups))
                    (render_rejections(verdict, session))
                    @for fix in &self.fixes { (render_fix(base, session, fix)) }
                }
            }
        }
    }
}

/// Renders the banner of a session: the entries that a resume would not load, the messages that the API would reject,
/// and fixes. Returns `None` if there is no such problem. `key` identifies the session in addresses.
pub(crate) fn render_banner(base: &str, verdict: &ClientVerdict, session: &Session) -> Option<Markup> {
    with_worse_client(verdict, session, |verdict| {
        Some(ResumeProblem::find(verdict, session)?.render(base, verdict, session))
    })
}

/// Calls `render` with the verdict of the session's client, or with that of the newest one if only the latter loses
/// entries, as `doctor` reports it.
fn with_worse_client(
    verdict: &ClientVerdict,
    session: &Session,
    render: impl Fn(&ClientVerdict) -> Option<Markup>,
) -> Option<Markup> {
    let newest = KNOWN_CLIENTS.last().map(|client| Version::parse_lenient(client));
    let newest = newest.filter(|_| !verdict.is_loss()).map(|client| session.verdict(Some(client)));
    render(newest.as_ref().filter(|newest| newest.is_loss()).unwrap_or(verdict))
}

/// Renders the banner for the branches page. Returns `None` if there is no problem, or only a note about other branches.
pub(crate) fn render_warning(base: &str, verdict: &ClientVerdict, session: &Session) -> Option<Markup> {
    with_worse_client(verdict, session, |verdict| {
        let problem = ResumeProblem::find(verdict, session).filter(|problem| !problem.is_note)?;
        Some(problem.render(base, verdict, session))
    })
}

/// Returns the headline of the most important problem, and its fixes.
fn describe_problem(verdict: &ClientVerdict, session: &Session, groups: &[LostGroup]) -> (String, Vec<Fix>) {
    if verdict.resume.failure.is_some() {
        return (resume::load_summary(session, verdict), vec![Fix::Repair]);
    }
    let lost = || groups.iter().filter(|group| !group.is_left);
    let newest = session.tree.newest_tip().and_then(|newest| find_lost(verdict, newest));
    if let Some(newest) =
        newest.filter(|lost| lost.cause == Some(LossCause::Parallel)).and_then(|lost| lost.node)
    {
        let headline = format!(
            "The client resumes an older branch: the newest entry, {}, is not on it",
            session.entry_handle(newest)
        );
        return (headline, vec![Fix::Goto(newest), Fix::Branches]);
    }
    if let Some(rejection) = verdict.rejections.first() {
        let headline = format!(
            "The API would reject the next prompt: {} at {}",
            resume::rejection_text(*rejection),
            session.entry_handle(rejection.node())
        );
        return (headline, vec![Fix::Repair]);
    }
    match lost().next() {
        Some(_) => {
            let is_damage = |skipped: &SkippedEntry| skipped.cause == Some(LossCause::Damage);
            let has_damage = verdict.resume.skipped.iter().any(is_damage);
            let fix = if has_damage { Fix::Repair } else { Fix::Branches };
            (format!("A resume would lose {}", describe_lost(lost())), vec![fix])
        }
        None => {
            let headline = format!("A resume omits {}", describe_lost(groups.iter()));
            (headline, vec![Fix::Branches])
        }
    }
}

/// Returns the loss of an entry. Returns `None` if a resume loads it, or if the user left it.
fn find_lost(verdict: &ClientVerdict, node_id: NodeId) -> Option<&SkippedEntry> {
    verdict.resume.skipped.iter().find(|skipped| skipped.node == Some(node_id) && skipped.is_unintended())
}

/// Describes how many turns or entries are lost, and why, for each group.
fn describe_lost<'a>(groups: impl Iterator<Item = &'a LostGroup>) -> String {
    let texts = groups.map(|group| {
        format!(
            "{} {}",
            count_turns_or_entries(group.turns, group.entries),
            resume::unreachable_reason_text(group.reason)
        )
    });
    texts.collect::<Vec<_>>().join(", ")
}

/// Formats the number of turns, or of entries if there are no turns.
fn count_turns_or_entries(turns: usize, entries: usize) -> String {
    match turns {
        0 => count_noun(entries as u64, "entry"),
        turns => count_noun(turns as u64, "turn"),
    }
}

/// Renders the entries that are not loaded, as a list by reason.
fn render_lost(base: &str, session: &Session, groups: &[LostGroup]) -> Markup {
    html! {
        @if !groups.is_empty() {
            ul class="resume-banner-list" {
                @for group in groups {
                    li {
                        (count_noun(group.entries as u64, "entry"))
                        @if group.turns > 0 { ", " (count_noun(group.turns as u64, "turn")) }
                        " " (resume::unreachable_reason_text(group.reason))
                        @if !group.unnamed_lines.is_empty() { ": " code { (resume::line_list(&group.unnamed_lines)) } }
                        @if !group.branches.is_empty() { ": " (render_branches(base, session, &group.branches)) }
                    }
                }
            }
        }
    }
}

/// Renders links to the first [`MAX_BRANCHES`] branches, each as its first and last entry.
fn render_branches(base: &str, session: &Session, branches: &[UnreachableBranch]) -> Markup {
    html! {
        @for (idx, branch) in branches.iter().take(MAX_BRANCHES).enumerate() {
            @if idx > 0 { ", " }
            @let (top, tip) = (session.entry_handle(branch.top), session.entry_handle(branch.tip));
            a href={ (base) "?tip=" (tip) "#" (top) } { (top) @if top != tip { "–" (tip) } }
        }
        @if branches.len() > MAX_BRANCHES { " and " (group_digits((branches.len() - MAX_BRANCHES) as u64)) " more" }
    }
}

/// Renders the first [`MAX_REJECTIONS`] messages that the API would reject. Returns empty markup if there are none.
fn render_rejections(verdict: &ClientVerdict, session: &Session) -> Markup {
    let rejections = &verdict.rejections;
    html! {
        @if !rejections.is_empty() {
            p { "The API would reject the messages:" }
            ul class="resume-banner-list" {
                @for rejection in rejections.iter().take(MAX_REJECTIONS) {
                    li { code { (session.entry_handle(rejection.node())) } ", " (resume::rejection_text(*rejection)) }
                }
                @if rejections.len() > MAX_REJECTIONS { li { (group_digits((rejections.len() - MAX_REJECTIONS) as u64)) " more" } }
            }
        }
    }
}

/// Renders a fix as a button and as a command.
fn render_fix(base: &str, session: &Session, fix: &Fix) -> Markup {
    let id = &session.id;
    html! {
        div class="resume-banner-fix" {
            @match fix {
                Fix::Repair => {
                    (render_action_button(base, "repair", None, "Repair in a new session"))
                    (render_command(&build_command(&["repair", id])))
                }
                Fix::Goto(node_id) => {
                    @let handle = session.entry_handle(*node_id);
                    (render_action_button(base, "goto", Some(&handle), &format!("Resume from {handle}")))
                    (render_command(&build_command(&["goto", id, &handle])))
                }
                Fix::Branches => {
                    a class="button" href={ (base) "/branches" } { "Show all branches" }
                    (render_command(&build_command(&["branches", id])))
                }
            }
        }
    }
}
