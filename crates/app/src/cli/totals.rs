//! What two branches did in numbers, beside each other.

use std::collections::HashSet;

use rethread_engine::core::diff::Totals;
use rethread_engine::ops::Diff;

use super::error::CliError;
use super::figures::{self, duration};
use super::out::Out;
use super::style::QUIET;
use super::table::{Align, Cell, Table};
use super::{clean, summary};

/// Tools and files that are named.
const NAMED: usize = 20;

/// Prints the sums of both branches.
pub(crate) fn print(diff: &Diff, out: &mut Out) -> Result<(), CliError> {
    let [a, b] = diff.branches.each_ref().map(|branch| &branch.side.totals);
    let mut sums =
        Sums(Table::new(0).column("since then", Align::Left, 100).column("A", Align::Right, 20).column(
            "B",
            Align::Right,
            20,
        ));
    let number = |number: usize| figures::count(number as u64);
    sums.row("turns", number(a.turns), number(b.turns));
    sums.row("answers", number(a.spent.responses), number(b.spent.responses));
    let calls = |totals: &Totals| number(totals.tools.iter().map(|(_, calls, _)| calls).sum());
    sums.row("tool calls", calls(a), calls(b));
    let names = |totals: &'_ Totals| totals.tools.iter().map(|(name, ..)| name.clone()).collect();
    sums.named(names(a), names(b), clean::line, |of_b, name| {
        let totals = if of_b { b } else { a };
        let (_, calls, failed) = totals.tools.iter().find(|(known, ..)| known == name)?;
        Some(if *failed == 0 { number(*calls) } else { format!("{failed} ✗  {}", number(*calls)) })
    });
    sums.row("files changed", number(a.files.len()), number(b.files.len()));
    let paths = |totals: &'_ Totals| totals.files.iter().map(|(path, _)| path.clone()).collect();
    let short = |path: &str| {
        let folders = diff.branches.each_ref().map(|branch| branch.head.folder.as_str());
        let short =
            folders.map(|folder| summary::inside(path, folder)).into_iter().min_by_key(|path| path.len());
        clean::line(short.unwrap_or(path))
    };
    sums.named(paths(a), paths(b), short, |of_b, path| {
        let totals = if of_b { b } else { a };
        totals.files.iter().find(|(known, _)| known == path).map(|(_, changes)| number(*changes))
    });
    let (usage, other) = (&a.spent.usage, &b.spent.usage);
    sums.row("input tokens", figures::count(usage.input), figures::count(other.input));
    sums.row("output tokens", figures::count(usage.output), figures::count(other.output));
    sums.row("cache written", figures::count(usage.cache_write), figures::count(other.cache_write));
    sums.row("cache read", figures::count(usage.cache_read), figures::count(other.cache_read));
    let took = |totals: &Totals| {
        let took =
            totals.first.zip(totals.last).and_then(|(first, last)| u64::try_from(last.0 - first.0).ok());
        took.map_or_else(|| "-".to_owned(), duration)
    };
    sums.row("time", took(a), took(b));
    sums.0.print(out)
}

/// A table of sums: what, of A, of B.
struct Sums(Table);

impl Sums {
    fn row(&mut self, name: &str, of_a: String, of_b: String) {
        self.0.row(vec![name.into(), of_a.into(), of_b.into()]);
    }

    /// Adds a row for each name of either side, up to a number of them.
    fn named(
        &mut self,
        a: Vec<String>,
        b: Vec<String>,
        say: impl Fn(&str) -> String,
        of: impl Fn(bool, &str) -> Option<String>,
    ) {
        let mut seen = HashSet::new();
        let all: Vec<String> = a.into_iter().chain(b).filter(|name| seen.insert(name.clone())).collect();
        for name in all.iter().take(NAMED) {
            let count = |of_b: bool| of(of_b, name).unwrap_or_else(|| "-".to_owned());
            let cell = Cell::new(QUIET, format!("  {}", say(name)));
            self.0.row(vec![cell, count(false).into(), count(true).into()]);
        }
        if all.len() > NAMED {
            self.0.row(vec![Cell::new(QUIET, format!("  … {} more", all.len() - NAMED))]);
        }
    }
}
