//! A session, mended.

use std::collections::BTreeMap;

use maud::{Markup, html};
use rethread_engine::core::check::{Diagnostic, SuggestedFix};
use rethread_engine::ops::{Repair, Repaired, Written};

use super::fork::fork_summary;
use super::summary::ActionSummary;
use crate::context::AppContext;
use crate::text::clean;
use crate::text::figures::{count, things};
use crate::text::operation;

/// Mends that are listed.
const LISTED: usize = 20;

/// Tells a repair.
pub(crate) fn mended(repair: &Repair, place: &AppContext) -> ActionSummary {
    let mut sheet = match &repair.written {
        None => ActionSummary {
            title: "Nothing that repair mends".to_owned(),
            idle: true,
            ..ActionSummary::default()
        },
        Some(Written::New(made)) => {
            let title =
                if made.op.is_none() { "Mend it in a new session" } else { "Mended in a new session" };
            ActionSummary { title: title.to_owned(), ..fork_summary(made, place) }
        }
        Some(Written::InPlace { promises, op }) => {
            let title = if op.is_none() { "Mend it" } else { "Mended" };
            let mut sheet = ActionSummary { title: title.to_owned(), op: *op, ..ActionSummary::default() };
            sheet.promises(promises, op.is_none());
            sheet
        }
    };
    let now = if sheet.op.is_none() { "now" } else { "before" };
    sheet.fact(now, state(repair.before.within_reach(), &repair.before.findings));
    if repair.written.is_some() {
        let name = if sheet.op.is_none() { "would be" } else { "after" };
        sheet.fact(name, state(repair.after.reach, &repair.after.findings));
    }
    for finding in repair.after.findings.iter().filter(|finding| finding.mend == SuggestedFix::Repair) {
        let line = finding.spots.first().map_or(0, |spot| spot.line);
        sheet
            .warnings
            .push(format!("{} at L{line} is not mended: nothing in the file says how", finding.code.name()));
    }
    if let Some(path) = &repair.damaged {
        sheet.fact("damaged bytes", html! { code { (place.tilde(&path.display().to_string())) } });
    }
    if !repair.mends.is_empty() {
        sheet.more.push(mends(&repair.mends));
    }
    sheet
}

/// Says how much is within reach, and what is wrong.
fn state(reach: (usize, usize), findings: &[Diagnostic]) -> String {
    let mut codes: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in findings {
        *codes.entry(finding.code.name()).or_default() += finding.spots.len();
    }
    let named: Vec<String> =
        codes.iter().map(|(code, number)| format!("{code}\u{a0}{}", count(*number as u64))).collect();
    let named = if named.is_empty() { "nothing is wrong".to_owned() } else { named.join(", ") };
    format!("{} of {} within reach; {named}", count(reach.0 as u64), things(reach.1 as u64, "entry"))
}

/// Lists what is mended, the first of it.
fn mends(mends: &[Repaired]) -> Markup {
    html! {
        div class="act-scroll" { table class="act-table act-mends" {
            thead { tr { th scope="col" { "line" } th scope="col" { "what was wrong" } th scope="col" { "what mends it" } } }
            tbody {
                @for repaired in mends.iter().take(LISTED) {
                    tr {
                        th scope="row" { @match repaired.line { Some(line) => { "L" (line) } None => "new" } }
                        td { (repaired.mended.code.name()) }
                        td { (clean::line(&operation::act(&repaired.mended.act, repaired.to_line))) }
                    }
                }
            }
        } }
        @if mends.len() > LISTED { p class="quiet" { "and " (count((mends.len() - LISTED) as u64)) " more" } }
    }
}
