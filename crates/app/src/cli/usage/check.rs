//! `rethread usage --check`: that the sums add up, and what the client says.

use rethread_engine::core::usage::{CostState, TokenTotals};
use rethread_engine::ops::{Check, ClientReportedCost};

use super::super::error::{self, CliError, Exit};
use super::super::figures::{count, things, tokens};
use super::super::out::Out;
use super::super::style::{BAD, GOOD, QUIET, STRONG, paint};
use super::super::table::{Align, Cell, Table};
use super::super::{AppContext, clean};
use crate::json;
use crate::text::money::{cost, dollars};

/// Prints what was checked.
pub(super) fn run(check: &Check, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    if out.is_json() {
        out.json(&json::usage_check(check))?;
    } else if check.files == 0 {
        super::super::say_nothing_found(place, out);
    } else {
        out.may_page();
        counted(check, out)?;
        proofs(check, out)?;
        opinions(&check.opinions, out)?;
    }
    error::warn(&check.failures, out);
    error::notice(check.notice.as_ref(), out);
    Ok(match check.files {
        _ if !check.holds() => Exit::Failed,
        0 if !check.failures.is_empty() => Exit::Failed,
        files => Exit::found(files > 0),
    })
}

/// Says how often responses stand in the files.
fn counted(check: &Check, out: &mut Out) -> Result<(), CliError> {
    let copies = &check.copies;
    let mut table = Table::new(0)
        .column("how it is counted", Align::Left, 60)
        .column("responses", Align::Right, 12)
        .column("tokens", Align::Right, 18)
        .column("", Align::Right, 10);
    let mut row = |name: &str, spent: &TokenTotals| {
        let all = spent.usage.total();
        table.row(vec![
            name.into(),
            count(spent.responses as u64).into(),
            count(all).into(),
            Cell::new(QUIET, tokens(all)),
        ]);
    };
    row("every line", &copies.lines);
    row("each response once in a file", &copies.files);
    row("each response once", &copies.once);
    let mut usage = copies.files.usage;
    usage.remove(&copies.once.usage);
    let responses = copies.files.responses.saturating_sub(copies.once.responses);
    row("so copied between files", &TokenTotals { responses, usage });
    table.print(out)?;
    out.line("")
}

fn proofs(check: &Check, out: &mut Out) -> Result<(), CliError> {
    let mut table = Table::new(0)
        .column("sum of", Align::Left, 30)
        .column("groups", Align::Right, 10)
        .column("responses", Align::Right, 12)
        .column("tokens", Align::Right, 18)
        .column("cost", Align::Right, 16)
        .column("", Align::Left, 24);
    for proof in &check.proofs {
        let held = if proof.holds { Cell::new(GOOD, "= total") } else { Cell::new(BAD, "is not the total") };
        table.row(vec![
            proof.what.into(),
            count(proof.groups as u64).into(),
            count(proof.sum.spent.responses as u64).into(),
            count(proof.sum.spent.usage.total()).into(),
            cost(&proof.sum).into(),
            held,
        ]);
    }
    table.row(vec![
        Cell::new(STRONG, "total"),
        "".into(),
        count(check.total.spent.responses as u64).into(),
        count(check.total.spent.usage.total()).into(),
        Cell::new(STRONG, cost(&check.total)),
    ]);
    table.print(out)
}

/// Says what clients think that sessions cost.
fn opinions(opinions: &[ClientReportedCost], out: &mut Out) -> Result<(), CliError> {
    out.line("")?;
    if opinions.is_empty() {
        return out
            .line(&paint(QUIET, "no client has written an account of its own (those since 2.1.278 do)"));
    }
    let mut table = Table::new(0)
        .column("session", Align::Left, 8)
        .column("tokens", Align::Right, 14)
        .column("the client's", Align::Right, 14)
        .column("cost", Align::Right, 14)
        .column("the client's", Align::Right, 14)
        .column("", Align::Left, 20);
    let mut same = 0;
    for opinion in opinions {
        let theirs = all_tokens(&opinion.theirs);
        let ours = opinion.ours.spent.usage.total();
        same += usize::from(theirs == ours);
        let word = match ours.cmp(&theirs) {
            std::cmp::Ordering::Equal => Cell::new(GOOD, "="),
            std::cmp::Ordering::Less => {
                Cell::new(QUIET, format!("{} not in the file", tokens(theirs - ours)))
            }
            std::cmp::Ordering::Greater => {
                Cell::new(BAD, format!("{} more in the file", tokens(ours - theirs)))
            }
        };
        let id: String = opinion.session.chars().take(8).collect();
        table.row(vec![
            clean::line(&id).into(),
            count(ours).into(),
            count(theirs).into(),
            cost(&opinion.ours).into(),
            opinion.theirs.total.map(dollars).unwrap_or_default().into(),
            word,
        ]);
    }
    table.print(out)?;
    let said = format!(
        "{} with an account by the client, {} equal to the lines; requests for titles and compactions leave no line, and a \
         fork copies the account of its origin",
        things(opinions.len() as u64, "session"),
        count(same as u64)
    );
    for line in textwrap::wrap(&said, out.width()) {
        out.line(&paint(QUIET, &line))?;
    }
    Ok(())
}

fn all_tokens(state: &CostState) -> u64 {
    state.models.iter().map(|model| model.usage.total()).fold(0, u64::saturating_add)
}
