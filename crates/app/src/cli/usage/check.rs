//! `rethread usage --check`: verifies the sums, and compares them with the records of the client.

use rethread_engine::core::usage::{CostState, TokenTotals};
use rethread_engine::ops::usage::{ClientReportedCost, UsageCheck};

use crate::cli::error::{self, CliError, Exit};
use crate::cli::figures::{count_noun, format_tokens, group_digits};
use crate::cli::out::Out;
use crate::cli::style::{BAD, GOOD, QUIET, STRONG, paint};
use crate::cli::table::{Align, Cell, Table};
use crate::cli::{AppContext, clean};
use crate::json;
use crate::text::money::{format_cost, format_money};

/// Prints the counts, the check of every grouping, and the costs recorded by clients.
///
/// Returns [`Exit::Failed`] if a sum differs from the total.
pub(super) fn run(check: &UsageCheck, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    if out.is_json() {
        out.json(&json::build_usage_check(check))?;
    } else if check.files == 0 {
        crate::cli::print_no_sessions(app, out);
    } else {
        out.allow_pager();
        print_counts(check, out)?;
        print_sum_checks(check, out)?;
        print_client_costs(&check.client_costs, out)?;
    }
    error::print_warnings(&check.failures, out);
    error::print_cache_warning(check.warning.as_ref(), out);
    Ok(match check.files {
        _ if !check.is_consistent() => Exit::Failed,
        0 if !check.failures.is_empty() => Exit::Failed,
        files => Exit::from_found(files > 0),
    })
}

/// Prints the number of responses by counting method, which shows how many are repeated.
fn print_counts(check: &UsageCheck, out: &mut Out) -> Result<(), CliError> {
    let copies = &check.copies;
    let mut table = Table::new(0)
        .column("counting", Align::Left, 60)
        .column("responses", Align::Right, 12)
        .column("tokens", Align::Right, 18)
        .column("", Align::Right, 10);
    let mut row = |name: &str, totals: &TokenTotals| {
        let tokens = totals.usage.total();
        table.row(vec![
            name.into(),
            group_digits(totals.responses as u64).into(),
            group_digits(tokens).into(),
            Cell::new(QUIET, format_tokens(tokens)),
        ]);
    };
    row("every line", &copies.lines);
    row("each response once in a file", &copies.files);
    row("each response once", &copies.once);
    let mut usage = copies.files.usage;
    usage.subtract(&copies.once.usage);
    let responses = copies.files.responses.saturating_sub(copies.once.responses);
    row("copies between files", &TokenTotals { responses, usage });
    table.print(out)?;
    out.line("")
}

/// Prints a row per grouping: whether its groups add up to the total.
fn print_sum_checks(check: &UsageCheck, out: &mut Out) -> Result<(), CliError> {
    let mut table = Table::new(0)
        .column("sum of", Align::Left, 30)
        .column("groups", Align::Right, 10)
        .column("responses", Align::Right, 12)
        .column("tokens", Align::Right, 18)
        .column("cost", Align::Right, 16)
        .column("", Align::Left, 24);
    for sum_check in &check.totals {
        let result =
            if sum_check.is_equal { Cell::new(GOOD, "= total") } else { Cell::new(BAD, "≠ total") };
        table.row(vec![
            sum_check.group_kind.into(),
            group_digits(sum_check.groups as u64).into(),
            group_digits(sum_check.total.counts.responses as u64).into(),
            group_digits(sum_check.total.counts.usage.total()).into(),
            format_cost(&sum_check.total).into(),
            result,
        ]);
    }
    table.row(vec![
        Cell::new(STRONG, "total"),
        "".into(),
        group_digits(check.total.counts.responses as u64).into(),
        group_digits(check.total.counts.usage.total()).into(),
        Cell::new(STRONG, format_cost(&check.total)),
    ]);
    table.print(out)
}

/// Prints the tokens and costs recorded by clients next to the computed ones.
fn print_client_costs(reported: &[ClientReportedCost], out: &mut Out) -> Result<(), CliError> {
    out.line("")?;
    if reported.is_empty() {
        return out.line(&paint(QUIET, "no client has recorded its own costs (clients since 2.1.278 do)"));
    }
    let mut table = Table::new(0)
        .column("session", Align::Left, 8)
        .column("tokens", Align::Right, 14)
        .column("client", Align::Right, 14)
        .column("cost", Align::Right, 14)
        .column("client", Align::Right, 14)
        .column("", Align::Left, 20);
    let mut equal_count = 0;
    for cost in reported {
        let reported_tokens = sum_tokens(&cost.reported);
        let computed_tokens = cost.computed.counts.usage.total();
        equal_count += usize::from(reported_tokens == computed_tokens);
        let note = match computed_tokens.cmp(&reported_tokens) {
            std::cmp::Ordering::Equal => Cell::new(GOOD, "="),
            std::cmp::Ordering::Less => Cell::new(
                QUIET,
                format!("{} not in the file", format_tokens(reported_tokens - computed_tokens)),
            ),
            std::cmp::Ordering::Greater => Cell::new(
                BAD,
                format!("{} more in the file", format_tokens(computed_tokens - reported_tokens)),
            ),
        };
        let id: String = cost.session.chars().take(8).collect();
        table.row(vec![
            clean::line(&id).into(),
            group_digits(computed_tokens).into(),
            group_digits(reported_tokens).into(),
            format_cost(&cost.computed).into(),
            cost.reported.total.map(format_money).unwrap_or_default().into(),
            note,
        ]);
    }
    table.print(out)?;
    let summary = format!(
        "{} with costs recorded by the client, {} equal to the lines; requests for titles and compactions have no line, and a \
         fork copies the record of its origin",
        count_noun(reported.len() as u64, "session"),
        group_digits(equal_count as u64)
    );
    for line in textwrap::wrap(&summary, out.width()) {
        out.line(&paint(QUIET, &line))?;
    }
    Ok(())
}

/// Returns the tokens of all models in a cost record of the client.
fn sum_tokens(state: &CostState) -> u64 {
    state.models.iter().map(|model| model.usage.total()).fold(0, u64::saturating_add)
}
