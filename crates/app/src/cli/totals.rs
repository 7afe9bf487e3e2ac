//! The totals of two branches, side by side.

use std::collections::HashSet;

use rethread_engine::core::diff::SideTotals;
use rethread_engine::ops::diff::BranchDiff;

use super::error::CliError;
use super::figures::{self, format_duration};
use super::out::Out;
use super::style::QUIET;
use super::table::{Align, Cell, Table};
use super::{clean, summary};

/// The maximum number of listed tools, and of listed files.
const MAX_LISTED: usize = 20;

/// Prints a table with the totals of both branches since the fork: turns, calls, changed files, tokens, time.
pub(crate) fn print(diff: &BranchDiff, out: &mut Out) -> Result<(), CliError> {
    let [a, b] = diff.branches.each_ref().map(|branch| &branch.side.totals);
    let mut table = TotalsTable(
        Table::new(0).column("since the fork", Align::Left, 100).column("A", Align::Right, 20).column(
            "B",
            Align::Right,
            20,
        ),
    );
    let format_number = |number: usize| figures::group_digits(number as u64);
    table.add_row("turns", format_number(a.turns), format_number(b.turns));
    table.add_row("answers", format_number(a.tokens.responses), format_number(b.tokens.responses));
    let total_calls =
        |totals: &SideTotals| format_number(totals.tools.iter().map(|(_, calls, _)| calls).sum());
    table.add_row("tool calls", total_calls(a), total_calls(b));
    let names = |totals: &'_ SideTotals| totals.tools.iter().map(|(name, ..)| name.clone()).collect();
    table.add_rows_by_name(names(a), names(b), clean::line, |is_b, name| {
        let totals = if is_b { b } else { a };
        let (_, calls, failed) = totals.tools.iter().find(|(tool, ..)| tool == name)?;
        Some(if *failed == 0 {
            format_number(*calls)
        } else {
            format!("{failed} ✗  {}", format_number(*calls))
        })
    });
    table.add_row("files changed", format_number(a.files.len()), format_number(b.files.len()));
    let paths = |totals: &'_ SideTotals| totals.files.iter().map(|(path, _)| path.clone()).collect();
    let short_path = |path: &str| {
        let folders = diff.branches.each_ref().map(|branch| branch.header.folder.as_str());
        let shortest = folders
            .map(|folder| summary::relative_path(path, folder))
            .into_iter()
            .min_by_key(|path| path.len());
        clean::line(shortest.unwrap_or(path))
    };
    table.add_rows_by_name(paths(a), paths(b), short_path, |is_b, path| {
        let totals = if is_b { b } else { a };
        totals.files.iter().find(|(file, _)| file == path).map(|(_, changes)| format_number(*changes))
    });
    let (usage_a, usage_b) = (&a.tokens.usage, &b.tokens.usage);
    let tokens = [
        ("input tokens", usage_a.input, usage_b.input),
        ("output tokens", usage_a.output, usage_b.output),
        ("cache written", usage_a.cache_write, usage_b.cache_write),
        ("cache read", usage_a.cache_read, usage_b.cache_read),
    ];
    for (name, a, b) in tokens {
        table.add_row(name, figures::format_tokens(a), figures::format_tokens(b));
    }
    let elapsed = |totals: &SideTotals| {
        let millis = totals
            .first_time
            .zip(totals.last_time)
            .and_then(|(first, last)| u64::try_from(last.0 - first.0).ok());
        millis.map_or_else(|| "-".to_owned(), format_duration)
    };
    table.add_row("time", elapsed(a), elapsed(b));
    table.0.print(out)
}

/// A table with the columns name, A and B.
struct TotalsTable(Table);

impl TotalsTable {
    fn add_row(&mut self, name: &str, value_a: String, value_b: String) {
        self.0.row(vec![name.into(), value_a.into(), value_b.into()]);
    }

    /// Adds a row for each name of either side, at most 20, then a row with the number of other names.
    ///
    /// `label` formats a name. `value` returns the value of a name on side B (`true`) or A; `None` is shown as `-`.
    fn add_rows_by_name(
        &mut self,
        a: Vec<String>,
        b: Vec<String>,
        label: impl Fn(&str) -> String,
        value: impl Fn(bool, &str) -> Option<String>,
    ) {
        let mut seen = HashSet::new();
        let all: Vec<String> = a.into_iter().chain(b).filter(|name| seen.insert(name.clone())).collect();
        for name in all.iter().take(MAX_LISTED) {
            let count = |is_b: bool| value(is_b, name).unwrap_or_else(|| "-".to_owned());
            let cell = Cell::new(QUIET, format!("  {}", label(name)));
            self.0.row(vec![cell, count(false).into(), count(true).into()]);
        }
        if all.len() > MAX_LISTED {
            self.0.row(vec![Cell::new(QUIET, format!("  … {} more", all.len() - MAX_LISTED))]);
        }
    }
}
