//! Renders the diagnostics of a session, with the fixes that are offered.

use maud::{Markup, html};
use rethread_engine::core::check::{Diagnostic, Severity, SuggestedFix};
use rethread_engine::core::fix::needs_repair;
use rethread_engine::ops::doctor::SessionReport;

use super::action::render_action_button;
use crate::text::clean;
use crate::text::diagnostic::{code_name, describe_finding, fix_hint, summarize_findings};
use crate::text::figures::group_digits;

/// The maximum number of lines that a finding links to.
const MAX_LINES: usize = 12;

/// Renders the findings of the session at the address `base`, worst first, with a button to repair those that can be.
pub(crate) fn render_diagnostics(base: &str, report: &SessionReport) -> Markup {
    html! {
        p class="muted" { (summarize_findings(report)) }
        @if needs_repair(&report.findings) {
            p {
                (render_action_button(base, "repair", None, "Repair…"))
                span class="muted" { " makes a repaired copy; this session stays as it is" }
            }
        }
        ol class="findings" {
            @for finding in &report.findings { (render_finding(base, finding, report)) }
        }
    }
}

/// Renders a finding: its severity, its lines, its consequence and its fix.
fn render_finding(base: &str, finding: &Diagnostic, report: &SessionReport) -> Markup {
    let class = match finding.severity {
        Severity::Error => "badge badge-bad",
        Severity::Warning => "badge badge-warn",
        Severity::Info => "badge",
    };
    let mut lines: Vec<u32> = finding.locations.iter().map(|location| location.line).collect();
    lines.dedup();
    html! {
        li class="finding" {
            h2 class="finding-head" {
                span class=(class) { (finding.severity.name()) } " " (code_name(finding.code)) " "
                code class="muted" { (finding.code.name()) }
            }
            p { (describe_finding(finding, report)) }
            p class="finding-lines num" {
                @for line in lines.iter().take(MAX_LINES) { a href={ (base) "#L" (line) } { "L" (line) } " " }
                @if lines.len() > MAX_LINES { span class="muted" { "and " (group_digits((lines.len() - MAX_LINES) as u64)) " more" } }
            }
            (render_fix(base, finding))
        }
    }
}

/// Renders the fix of a finding. Returns empty markup if there is none, or if it is the repair of the whole session.
fn render_fix(base: &str, finding: &Diagnostic) -> Markup {
    match finding.fix {
        SuggestedFix::Nothing | SuggestedFix::Repair => Markup::default(),
        SuggestedFix::Branches => {
            html! { p { a class="button" href={ (base) "/branches" } { "See the branches" } } }
        }
        SuggestedFix::Rescue => {
            html! { p { (render_action_button(base, "clone", None, "Clone with less context…")) } }
        }
        SuggestedFix::Goto(node) => {
            let location = finding.locations.iter().find(|location| location.node == Some(node));
            html! {
                @if let Some(location) = location {
                    @let handle = format!("L{}", location.line);
                    p { (render_action_button(base, "goto", Some(&handle), &format!("Resume from {handle}…"))) }
                }
            }
        }
        SuggestedFix::Wait => {
            html! { @if let Some(hint) = fix_hint(finding, "") { p class="muted" { (clean::line(&hint.text)) } } }
        }
    }
}
