//! The summary of a repair.

use std::collections::BTreeMap;

use maud::{Markup, html};
use rethread_engine::core::check::{Diagnostic, SuggestedFix};
use rethread_engine::ops::doctor::ReachableEntries;
use rethread_engine::ops::repair::{RepairReport, RepairTarget, RepairedLine};

use super::fork::summarize_fork;
use super::summary::ActionSummary;
use crate::context::AppContext;
use crate::text::clean;
use crate::text::figures::{count_noun, group_digits};
use crate::text::operation;

/// Maximum number of fixes listed.
const MAX_LISTED: usize = 20;

/// Summarizes a repair, planned or done: the problems before and after it, and the fixes.
pub(crate) fn summarize_repair(repair: &RepairReport, context: &AppContext) -> ActionSummary {
    let mut summary = match &repair.target {
        None => ActionSummary {
            title: "Nothing that repair can fix".to_owned(),
            disabled: true,
            ..ActionSummary::default()
        },
        Some(RepairTarget::New(session)) => {
            let title =
                if session.op.is_none() { "Repair in a new session" } else { "Repaired in a new session" };
            ActionSummary { title: title.to_owned(), ..summarize_fork(session, context) }
        }
        Some(RepairTarget::InPlace { expected_loads, op }) => {
            let title = if op.is_none() { "Repair" } else { "Repaired" };
            let mut summary = ActionSummary { title: title.to_owned(), op: *op, ..ActionSummary::default() };
            summary.add_loads(expected_loads, op.is_none());
            summary
        }
    };
    let now = if summary.op.is_none() { "now" } else { "before" };
    summary.add_fact(now, describe_state(repair.before.reachable_entries(), &repair.before.findings));
    if repair.target.is_some() {
        let name = if summary.op.is_none() { "after repair" } else { "after" };
        summary.add_fact(name, describe_state(repair.after.reachable, &repair.after.findings));
    }
    for finding in repair.after.findings.iter().filter(|finding| finding.fix == SuggestedFix::Repair) {
        let line = finding.locations.first().map_or(0, |location| location.line);
        summary.warnings.push(format!(
            "{} at L{line} is not repaired: the file contains too little information",
            finding.code.name()
        ));
    }
    if let Some(path) = &repair.damaged {
        summary
            .add_fact("damaged bytes", html! { code { (context.format_path(&path.display().to_string())) } });
    }
    if !repair.fixes.is_empty() {
        summary.details.push(render_fixes(&repair.fixes));
    }
    summary
}

/// Describes the number of reachable entries, and the problems as codes with their number of locations.
fn describe_state(entries: ReachableEntries, findings: &[Diagnostic]) -> String {
    let mut codes: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in findings {
        *codes.entry(finding.code.name()).or_default() += finding.locations.len();
    }
    let counts: Vec<String> =
        codes.iter().map(|(code, count)| format!("{code}\u{a0}{}", group_digits(*count as u64))).collect();
    let problems = if counts.is_empty() { "no problems".to_owned() } else { counts.join(", ") };
    format!(
        "{} of {} reachable; {problems}",
        group_digits(entries.reachable as u64),
        count_noun(entries.total as u64, "entry")
    )
}

/// Renders the first [`MAX_LISTED`] fixes as a table.
fn render_fixes(fixes: &[RepairedLine]) -> Markup {
    html! {
        div class="action-scroll" { table class="action-table action-repairs" {
            thead { tr { th scope="col" { "line" } th scope="col" { "problem" } th scope="col" { "repair" } } }
            tbody {
                @for repaired in fixes.iter().take(MAX_LISTED) {
                    tr {
                        th scope="row" { @match repaired.line { Some(line) => { "L" (line) } None => "new" } }
                        td { (repaired.fix.code.name()) }
                        td { (clean::line(&operation::fix_text(&repaired.fix.action, repaired.to_line))) }
                    }
                }
            }
        } }
        @if fixes.len() > MAX_LISTED { p class="muted" { "and " (group_digits((fixes.len() - MAX_LISTED) as u64)) " more" } }
    }
}
