//! A new session made of another: a fork, a lighter copy, a rescue.

use maud::{Markup, html};
use rethread_engine::core::trim::EscalationStep;
use rethread_engine::ops::{NewSession, Rescue, SessionSize, TrimmedCopy};

use super::summary::ActionSummary;
use crate::context::AppContext;
use crate::text::clean;
use crate::text::figures::{count, size, things, tokens};
use crate::text::operation;

/// Tells a fork.
pub(crate) fn fork_summary(born: &NewSession, place: &AppContext) -> ActionSummary {
    let title = if born.op.is_none() { "Make a fork" } else { "A fork was made" };
    told(born, title, place)
}

/// Tells a lighter copy.
pub(crate) fn lighter(copy: &TrimmedCopy, place: &AppContext) -> ActionSummary {
    let title = if copy.born.op.is_none() { "Make a lighter copy" } else { "A lighter copy was made" };
    let mut sheet = told(&copy.born, title, place);
    sheet.more.push(ledger(copy));
    sheet
}

/// Tells a copy that fits again; one that fits already is not made.
pub(crate) fn rescued(rescue: &Rescue, fit: u64, place: &AppContext) -> ActionSummary {
    let Some(copy) = &rescue.copy else {
        let mut sheet =
            ActionSummary { title: "It fits already".to_owned(), idle: true, ..ActionSummary::default() };
        sheet.fact("holds", format!("about {} tokens", tokens(rescue.before)));
        sheet.fact("room for", format!("{} tokens", tokens(fit)));
        return sheet;
    };
    let mut sheet = lighter(copy, place);
    sheet.more.insert(0, steps(rescue, fit));
    sheet
}

fn told(born: &NewSession, title: &str, place: &AppContext) -> ActionSummary {
    let dry = born.op.is_none();
    let resume = Some(place.resume_command(&born.id, &born.folder));
    let mut sheet =
        ActionSummary { title: title.to_owned(), resume, op: born.op, ..ActionSummary::default() };
    sheet.fact(if dry { "would be called" } else { "called" }, clean::line(&born.title));
    let side = match born.side {
        0 => String::new(),
        files => format!(" and {} beside it", things(files as u64, "file")),
    };
    sheet.fact(
        if dry { "would hold" } else { "holds" },
        format!("{}{side}; its origin is not changed", things(born.lines as u64, "line")),
    );
    sheet.promises(&born.promises, dry);
    let folder = born.path.parent().unwrap_or(&born.path);
    let shown = if dry { folder } else { &born.path };
    let name = if dry { "a new file in" } else { "file" };
    sheet.fact(name, html! { code { (place.tilde(&shown.display().to_string())) } });
    sheet
}

/// Draws what the original weighs, what each cause took, and what is left.
fn ledger(copy: &TrimmedCopy) -> Markup {
    let left = copy.before.bytes.saturating_sub(copy.ledger.total().bytes);
    let added = copy.after.bytes.saturating_sub(left);
    let weight = |name: &str, weight: SessionSize| {
        html! { tr class="act-sum" { th scope="row" { (name) } td {} td { (size(weight.bytes)) } td { (tokens(weight.tokens)) } } }
    };
    html! {
        div class="act-scroll" { table class="act-table" {
            thead { tr { th scope="col" { "what leaves" } th scope="col" { "how many" } th scope="col" { "bytes" } th scope="col" { "tokens" } } }
            tbody {
                (weight("before", copy.before))
                @for (cause, row) in copy.ledger.rows() {
                    tr {
                        th scope="row" { (operation::cause(cause)) }
                        td { (count(row.count)) }
                        td { "−" (size(row.bytes)) }
                        td { @if row.tokens() > 0 { "−" (tokens(row.tokens())) } }
                    }
                }
                @if added > 0 { tr { th scope="row" { "where it comes from, title, state" } td {} td { "+" (size(added)) } td {} } }
                (weight("after", copy.after))
            }
        } }
    }
}

/// Draws what was taken, step by step, until it fitted.
fn steps(rescue: &Rescue, fit: u64) -> Markup {
    html! {
        div class="act-scroll" { table class="act-table" {
            thead { tr { th scope="col" { "step" } th scope="col" { "how many" } th scope="col" { "tokens then" } } }
            tbody {
                tr { th scope="row" { "as it is" } td {} td { (tokens(rescue.before)) } }
                @for EscalationStep { stage, count: taken, after, .. } in &rescue.taken {
                    tr { th scope="row" { (operation::stage(*stage)) } td { (count(*taken)) } td { (tokens(*after)) @if *after <= fit { " ✓" } } }
                }
            }
        } }
    }
}
