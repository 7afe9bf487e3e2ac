//! Summaries of actions that create a session from another one: fork, clone, rescue.

use maud::{Markup, html};
use rethread_engine::core::trim::EscalationStep;
use rethread_engine::ops::rescue::RescueOutcome;
use rethread_engine::ops::{NewSession, SessionSize, TrimmedCopy};

use super::summary::ActionSummary;
use crate::context::AppContext;
use crate::text::clean;
use crate::text::figures::{count_noun, format_size, format_tokens, group_digits};
use crate::text::operation;

/// Summarizes a fork, planned or done.
pub(crate) fn summarize_fork(session: &NewSession, context: &AppContext) -> ActionSummary {
    let title = if session.op.is_none() { "Fork" } else { "Forked" };
    summarize_new_session(session, title, context)
}

/// Summarizes a trimmed copy, planned or done, with the savings by cause.
pub(crate) fn summarize_clone(copy: &TrimmedCopy, context: &AppContext) -> ActionSummary {
    let title =
        if copy.session.op.is_none() { "Clone with less context" } else { "Cloned with less context" };
    let mut summary = summarize_new_session(&copy.session, title, context);
    summary.details.push(render_savings(copy));
    summary
}

/// Summarizes a rescue: a trimmed copy that fits into `max_tokens` tokens. A session that already fits is not copied.
pub(crate) fn summarize_rescue(
    rescue: &RescueOutcome,
    max_tokens: u64,
    context: &AppContext,
) -> ActionSummary {
    let Some(copy) = &rescue.copy else {
        let mut summary = ActionSummary {
            title: "The session already fits".to_owned(),
            disabled: true,
            ..ActionSummary::default()
        };
        summary.add_fact("contains", format!("about {} tokens", format_tokens(rescue.tokens_before)));
        summary.add_fact("limit", format!("{} tokens", format_tokens(max_tokens)));
        return summary;
    };
    let mut summary = summarize_clone(copy, context);
    summary.details.insert(0, render_steps(rescue, max_tokens));
    summary
}

/// Summarizes a new session: its title, size, location, and what clients load.
fn summarize_new_session(session: &NewSession, title: &str, context: &AppContext) -> ActionSummary {
    let is_dry_run = session.op.is_none();
    let resume = Some(context.resume_command(&session.id, &session.folder));
    let mut summary =
        ActionSummary { title: title.to_owned(), resume, op: session.op, ..ActionSummary::default() };
    summary.add_fact(if is_dry_run { "would have the title" } else { "title" }, clean::line(&session.title));
    let side_files = match session.side_files {
        0 => String::new(),
        files => format!(" and {}", count_noun(files as u64, "side file")),
    };
    summary.add_fact(
        if is_dry_run { "would contain" } else { "contains" },
        format!("{}{side_files}; the original is not changed", count_noun(session.lines as u64, "line")),
    );
    summary.add_loads(&session.expected_loads, is_dry_run);
    let folder = session.path.parent().unwrap_or(&session.path);
    let shown = if is_dry_run { folder } else { &session.path };
    let name = if is_dry_run { "a new file in" } else { "file" };
    summary.add_fact(name, html! { code { (context.format_path(&shown.display().to_string())) } });
    summary
}

/// Renders the size of the original, the savings by cause, and the size of the copy.
fn render_savings(copy: &TrimmedCopy) -> Markup {
    let remaining = copy.before.bytes.saturating_sub(copy.savings.total().bytes);
    let added = copy.after.bytes.saturating_sub(remaining);
    let size_row = |name: &str, size: SessionSize| {
        html! { tr class="action-total" { th scope="row" { (name) } td {} td { (format_size(size.bytes)) } td { (format_tokens(size.tokens)) } } }
    };
    html! {
        div class="action-scroll" { table class="action-table" {
            thead { tr { th scope="col" { "removed" } th scope="col" { "count" } th scope="col" { "bytes" } th scope="col" { "tokens" } } }
            tbody {
                (size_row("before", copy.before))
                @for (cause, row) in copy.savings.iter() {
                    tr {
                        th scope="row" { (operation::removal_text(cause)) }
                        td { (group_digits(row.count)) }
                        td { "−" (format_size(row.bytes)) }
                        td { @if row.tokens() > 0 { "−" (format_tokens(row.tokens())) } }
                    }
                }
                @if added > 0 { tr { th scope="row" { "origin, title, state" } td {} td { "+" (format_size(added)) } td {} } }
                (size_row("after", copy.after))
            }
        } }
    }
}

/// Renders the removals step by step, with the tokens after each. Those within the limit are checked.
fn render_steps(rescue: &RescueOutcome, max_tokens: u64) -> Markup {
    html! {
        div class="action-scroll" { table class="action-table" {
            thead { tr { th scope="col" { "step" } th scope="col" { "count" } th scope="col" { "tokens after" } } }
            tbody {
                tr { th scope="row" { "original" } td {} td { (format_tokens(rescue.tokens_before)) } }
                @for EscalationStep { stage, count, after, .. } in &rescue.steps {
                    tr { th scope="row" { (operation::stage_text(*stage)) } td { (group_digits(*count)) } td { (format_tokens(*after)) @if *after <= max_tokens { " ✓" } } }
                }
            }
        } }
    }
}
