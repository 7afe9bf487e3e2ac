//! Prints the usage table and its notes.

use rethread_engine::core::resume::ContextStatus;
use rethread_engine::core::usage::{BurnRate, CostTotals, Money, PriceTable, SessionTotals};
use rethread_engine::ops::usage::{GroupBy, GroupRow, UsageReport};

use super::label::Labels;
use crate::cli::clean;
use crate::cli::error::CliError;
use crate::cli::figures::{
    count_noun, draw_bar, format_duration, format_percent, format_tokens, group_digits,
};
use crate::cli::out::Out;
use crate::cli::style::{MARK, PLAIN, QUIET, STRONG, TOOL, paint};
use crate::cli::table::{Align, Cell, DECORATION, Table, truncate_to_width};
use crate::text::money::{format_cost, format_dollars};

/// The width of a bar.
const BAR_WIDTH: usize = 12;
/// The maximum number of listed models without a price.
const MAX_LISTED: usize = 5;

/// Prints the table and its notes. Rows beyond `limit` are removed from the report and shown as one row.
pub(super) fn print(
    report: &mut UsageReport,
    limit: Option<usize>,
    labels: &Labels<'_>,
    prices: &PriceTable,
    out: &mut Out,
) -> Result<(), CliError> {
    let (excess_count, excess_totals) =
        limit.map(|limit| take_excess_rows(&mut report.rows, limit, labels.by)).unwrap_or_default();
    let has_cost = report.total.total().cost > Money::default();
    let bar_value = |totals: &CostTotals| {
        let microdollars = (totals.cost.dollars() * 1e6) as u64;
        if has_cost { microdollars } else { totals.counts.usage.total() }
    };
    let max = report.rows.iter().map(|row| bar_value(&row.totals.total())).max().unwrap_or(0);
    let mut table = Table::new(0)
        .column(group_heading(labels.by), Align::Left, 70)
        .shrinking()
        .column("responses", Align::Right, 10)
        .omitted_at(3)
        .column("input", Align::Right, 8)
        .omitted_at(2)
        .column("output", Align::Right, 8)
        .omitted_at(1)
        .column("written", Align::Right, 8)
        .omitted_at(5)
        .column("read", Align::Right, 8)
        .omitted_at(4)
        .column("cost", Align::Right, 14)
        .column("subagents", Align::Right, 14)
        .omitted_at(6)
        .column("", Align::Left, BAR_WIDTH)
        .omitted_at(DECORATION);
    let draw = |row: &GroupRow| draw_bar(bar_value(&row.totals.total()), max, BAR_WIDTH);
    let part_labels = labels.of_parts();
    for row in &mut report.rows {
        table.row(build_cells(build_label(row, labels, ""), &row.totals, draw(row)));
        let Some(part_labels) = &part_labels else { continue };
        let (excess_count, excess_totals) =
            limit.map(|limit| take_excess_rows(&mut row.parts, limit, part_labels.by)).unwrap_or_default();
        for part in &row.parts {
            table.row(build_cells(build_label(part, part_labels, "  "), &part.totals, draw(part)));
        }
        add_excess_row(&mut table, excess_count, &excess_totals, "  ");
    }
    add_excess_row(&mut table, excess_count, &excess_totals, "");
    if report.rows.len() + excess_count > 1 {
        table.row(build_cells(Cell::new(STRONG, "total"), &report.total, String::new()));
    }
    table.print(out)?;
    print_notes(report, labels, prices, out)
}

/// Builds the label of a row. Groups within a group are indented.
fn build_label(row: &GroupRow, labels: &Labels<'_>, indent: &str) -> Cell {
    let running = if labels.is_running(row) { " ◂" } else { "" };
    let style = if indent.is_empty() { PLAIN } else { QUIET };
    let label = Cell::new(style, format!("{indent}{}", labels.label(row))).and(MARK, running);
    if labels.by == GroupBy::Project { label.keeping_end() } else { label }
}

/// Adds the row of the groups beyond the limit, if there are any.
fn add_excess_row(table: &mut Table, count: usize, totals: &SessionTotals, indent: &str) {
    if count > 0 {
        let label = Cell::new(QUIET, format!("{indent}… {} more", group_digits(count as u64)));
        table.row(build_cells(label, totals, String::new()));
    }
}

fn group_heading(by: GroupBy) -> &'static str {
    match by {
        GroupBy::Day => "day",
        GroupBy::Week => "week of",
        GroupBy::Month => "month",
        GroupBy::Project => "project",
        GroupBy::Session => "session",
        GroupBy::Model => "model",
        GroupBy::Tool => "tool",
        GroupBy::Agent => "agent",
        GroupBy::Branch => "git branch",
        GroupBy::Block => "block",
        GroupBy::ContextStatus => "status",
    }
}

/// Removes the rows beyond the limit: the oldest of time groups, otherwise the cheapest. Returns their number and
/// their total.
fn take_excess_rows(rows: &mut Vec<GroupRow>, limit: usize, by: GroupBy) -> (usize, SessionTotals) {
    let excess_count = rows.len().saturating_sub(limit);
    let is_by_time = matches!(by, GroupBy::Day | GroupBy::Week | GroupBy::Month | GroupBy::Block);
    let excess =
        if is_by_time { rows.drain(..excess_count) } else { rows.drain(rows.len() - excess_count..) };
    let mut totals = SessionTotals::default();
    let mut count = 0;
    for row in excess {
        totals.add(&row.totals);
        count += 1;
    }
    (count, totals)
}

/// Builds the row of a group, or of a total.
fn build_cells(label: Cell, totals: &SessionTotals, bar: String) -> Vec<Cell> {
    let total = totals.total();
    let usage = total.counts.usage;
    vec![
        label,
        group_digits(total.counts.responses as u64).into(),
        format_tokens(usage.input).into(),
        format_tokens(usage.output).into(),
        format_tokens(usage.cache_write).into(),
        format_tokens(usage.cache_read).into(),
        Cell::new(STRONG, format_cost(&total)),
        Cell::new(QUIET, format_cost(&totals.agents)),
        Cell::new(TOOL, bar),
    ]
}

/// Prints notes below the table: subagents, branches, copies, lower bounds, models without a price, prices.
fn print_notes(
    report: &UsageReport,
    labels: &Labels<'_>,
    prices: &PriceTable,
    out: &mut Out,
) -> Result<(), CliError> {
    let total = report.total.total();
    let mut lines: Vec<String> = Vec::new();
    let describe = |totals: &CostTotals| {
        format!(
            "{}, {} tokens, {}",
            count_noun(totals.counts.responses as u64, "response"),
            format_tokens(totals.counts.usage.total()),
            format_cost(totals)
        )
    };
    if report.total.agents.counts.responses > 0 {
        let SessionTotals { own, agents } = &report.total;
        lines.push(format!("sessions themselves: {}; subagents: {}", describe(own), describe(agents)));
    }
    if labels.by != GroupBy::ContextStatus {
        let share = |status: ContextStatus| {
            let totals = report
                .by_context_status
                .iter()
                .find(|(other, _)| *other == status)
                .map(|(_, totals)| totals)?;
            Some((totals, format_percent(totals.cost.dollars(), total.cost.dollars())))
        };
        if let Some((totals, share)) = share(ContextStatus::OtherBranch) {
            lines.push(format!("abandoned branches: {} ({share})", describe(totals)));
        }
        if let Some((totals, share)) = share(ContextStatus::Compacted) {
            lines.push(format!("before a compaction: {} ({share})", describe(totals)));
        }
    }
    if report.copied.counts.responses > 0 {
        lines.push(format!("copied from other sessions, counted there: {}", describe(&report.copied)));
    }
    if let Some(rate) = &report.burn_rate {
        lines.push(format_burn_rate(rate));
    }
    if total.lower_bounds > 0 {
        lines.push(format!(
            "≥: the end of {} is not recorded, so the output may be higher",
            count_noun(total.lower_bounds as u64, "response")
        ));
    }
    if !report.unpriced.is_empty() {
        let listed = report.unpriced.iter().take(MAX_LISTED).map(|(model, totals)| {
            let model = if model.is_empty() {
                "no name".to_owned()
            } else {
                truncate_to_width(&clean::line(model), 40)
            };
            format!(
                "{model} ({}, {} tokens)",
                count_noun(totals.responses as u64, "response"),
                format_tokens(totals.usage.total())
            )
        });
        let mut listed: Vec<String> = listed.collect();
        let more = report.unpriced.len().saturating_sub(MAX_LISTED);
        listed.extend((more > 0).then(|| format!("{more} more")));
        lines.push(format!("unpriced: {}", listed.join(", ")));
    }
    lines.push(format!("prices: {}, {}", clean::line(prices.source()), clean::line(prices.date())));
    out.line("")?;
    for line in lines {
        for line in textwrap::wrap(&line, out.width()) {
            out.line(&paint(QUIET, &line))?;
        }
    }
    Ok(())
}

/// Describes the running block: its remaining time, its rates, and the projected totals at its end.
fn format_burn_rate(rate: &BurnRate) -> String {
    format!(
        "◂ running: {} left; {} tokens a minute, {} an hour; at this rate, ~{} tokens and ~{} at its end",
        format_duration(rate.remaining.unsigned_abs()),
        format_tokens(rate.tokens_per_minute as u64),
        format_dollars(rate.dollars_per_hour),
        format_tokens(rate.projected_tokens as u64),
        format_dollars(rate.projected_dollars)
    )
}
