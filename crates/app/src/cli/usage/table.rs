//! Rows with bars, and what is to be said below them.

use rethread_engine::core::usage::{BurnRate, CostTotals, Money, Prices, SessionTotals};
use rethread_engine::ops::{GroupBy, GroupRow, Reach, UsageReport};

use super::super::clean;
use super::super::error::CliError;
use super::super::figures::{bar, count, duration, things, tokens};
use super::super::out::Out;
use super::super::style::{MARK, PLAIN, QUIET, STRONG, TOOL, paint};
use super::super::table::{Align, Cell, Table, fit_end, truncate_to_width};
use super::label::Labels;
use crate::text::money::{cost, said};

/// Columns that the numbers of a row take, and the gaps between them.
const NUMBERS: usize = 60;
/// Columns of a bar.
const BAR: usize = 12;
/// Models without a price that are named.
const NAMED: usize = 5;

/// Prints the table.
pub(super) fn print(
    spending: &mut UsageReport,
    limit: Option<usize>,
    labels: &Labels<'_>,
    prices: &Prices,
    out: &mut Out,
) -> Result<(), CliError> {
    let others = limit.map(|limit| others(&mut spending.rows, limit, labels.by)).unwrap_or_default();
    let by_cost = spending.total.total().cost > Money::default();
    let weight = |sum: &CostTotals| {
        let cents = (sum.cost.dollars() * 1e6) as u64;
        if by_cost { cents } else { sum.spent.usage.total() }
    };
    let most = spending.rows.iter().map(|row| weight(&row.account.total())).max().unwrap_or(0);
    let shares = out.width() >= 96;
    // Names need more room than dates: on a narrow screen they take that of the bars.
    let named = !matches!(labels.by, GroupBy::Day | GroupBy::Week | GroupBy::Month);
    let bars = if named && !shares { 0 } else { BAR };
    let room = out.width().saturating_sub(NUMBERS + bars + if shares { 14 } else { 0 }).max(12);
    let mut table = Table::new(0)
        .column(head(labels.by), Align::Left, 70)
        .yielding()
        .column("responses", Align::Right, 10)
        .column("input", Align::Right, 8)
        .column("output", Align::Right, 8)
        .column("written", Align::Right, 8)
        .column("read", Align::Right, 8)
        .column("cost", Align::Right, 14)
        .column("subagents", Align::Right, if shares { 14 } else { 0 })
        .column("", Align::Left, bars);
    for row in &spending.rows {
        let label = labels.of(&row.key);
        // The end of a path says more than its beginning.
        let label = if labels.by == GroupBy::Project { fit_end(&label, room) } else { label };
        let running = if labels.is_running(row) { " ◂" } else { "" };
        let drawn = bar(weight(&row.account.total()), most, BAR);
        table.row(cells(Cell::new(PLAIN, label).and(MARK, running), &row.account, drawn, shares));
    }
    if others.0 > 0 {
        let label = Cell::new(QUIET, format!("… {} more", count(others.0 as u64)));
        table.row(cells(label, &others.1, String::new(), shares));
    }
    if spending.rows.len() + others.0 > 1 {
        table.row(cells(Cell::new(STRONG, "total"), &spending.total, String::new(), shares));
    }
    table.print(out)?;
    below(spending, labels, prices, out)
}

fn head(by: GroupBy) -> &'static str {
    match by {
        GroupBy::Day => "day",
        GroupBy::Week => "week from",
        GroupBy::Month => "month",
        GroupBy::Project => "project",
        GroupBy::Session => "session",
        GroupBy::Model => "model",
        GroupBy::Tool => "tool",
        GroupBy::Agent => "agent",
        GroupBy::Branch => "git branch",
        GroupBy::Block => "block",
        GroupBy::Reach => "what became of it",
    }
}

/// Takes away what is too much: the oldest rows of times, the cheapest of all others. Returns how many, and their sum.
fn others(rows: &mut Vec<GroupRow>, limit: usize, by: GroupBy) -> (usize, SessionTotals) {
    let over = rows.len().saturating_sub(limit);
    let timed = matches!(by, GroupBy::Day | GroupBy::Week | GroupBy::Month | GroupBy::Block);
    let taken = if timed { rows.drain(..over) } else { rows.drain(rows.len() - over..) };
    let mut account = SessionTotals::default();
    let mut number = 0;
    for row in taken {
        account.add(&row.account);
        number += 1;
    }
    (number, account)
}

fn cells(label: Cell, account: &SessionTotals, bar: String, shares: bool) -> Vec<Cell> {
    let total = account.total();
    let usage = total.spent.usage;
    let share = if shares { cost(&account.agents) } else { String::new() };
    vec![
        label,
        count(total.spent.responses as u64).into(),
        tokens(usage.input).into(),
        tokens(usage.output).into(),
        tokens(usage.cache_write).into(),
        tokens(usage.cache_read).into(),
        Cell::new(STRONG, cost(&total)),
        Cell::new(QUIET, share),
        Cell::new(TOOL, bar),
    ]
}

/// Says what the numbers are made of, and how far they can be trusted.
fn below(
    spending: &UsageReport,
    labels: &Labels<'_>,
    prices: &Prices,
    out: &mut Out,
) -> Result<(), CliError> {
    let total = spending.total.total();
    let mut lines: Vec<String> = Vec::new();
    let spent = |sum: &CostTotals| {
        format!(
            "{}, {} tokens, {}",
            things(sum.spent.responses as u64, "response"),
            tokens(sum.spent.usage.total()),
            cost(sum)
        )
    };
    if spending.total.agents.spent.responses > 0 {
        let SessionTotals { own, agents } = &spending.total;
        lines.push(format!("sessions themselves: {}; subagents: {}", spent(own), spent(agents)));
    }
    if labels.by != GroupBy::Reach {
        let share = |reach: Reach| {
            let sum = spending.reach.iter().find(|(known, _)| *known == reach).map(|(_, sum)| sum)?;
            Some((sum, percent(sum.cost.dollars(), total.cost.dollars())))
        };
        if let Some((sum, share)) = share(Reach::Abandoned) {
            lines.push(format!("abandoned branches: {} ({share})", spent(sum)));
        }
        if let Some((sum, share)) = share(Reach::Compacted) {
            lines.push(format!("before a compaction: {} ({share})", spent(sum)));
        }
    }
    if spending.copied.spent.responses > 0 {
        lines.push(format!("copied from other sessions and booked there: {}", spent(&spending.copied)));
    }
    if let Some(pace) = &spending.pace {
        lines.push(pace_line(pace));
    }
    if total.open > 0 {
        lines.push(format!(
            "≥: of {} no line tells the end, so their output may be more",
            things(total.open as u64, "response")
        ));
    }
    if !spending.unpriced.is_empty() {
        let named = spending.unpriced.iter().take(NAMED).map(|(model, spent)| {
            let model = if model.is_empty() {
                "no name".to_owned()
            } else {
                truncate_to_width(&clean::line(model), 40)
            };
            format!(
                "{model} ({}, {} tokens)",
                things(spent.responses as u64, "response"),
                tokens(spent.usage.total())
            )
        });
        let mut named: Vec<String> = named.collect();
        let more = spending.unpriced.len().saturating_sub(NAMED);
        named.extend((more > 0).then(|| format!("{more} more")));
        lines.push(format!("unpriced: {}", named.join(", ")));
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

fn percent(part: f64, whole: f64) -> String {
    if whole > 0.0 { format!("{:.0} %", part / whole * 100.0) } else { "0 %".to_owned() }
}

fn pace_line(pace: &BurnRate) -> String {
    format!(
        "◂ running: {} left; {} tokens a minute, {} an hour; if it goes on so, ~{} tokens and ~{} at its end",
        duration(pace.left.unsigned_abs()),
        tokens(pace.tokens as u64),
        said(pace.dollars),
        tokens(pace.projected_tokens as u64),
        said(pace.projected_dollars)
    )
}
