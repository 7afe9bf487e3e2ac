//! What is out of reach, and how to reach it all the same.

use rethread_engine::ops::{LostGroup, UnreachableBranch};

use super::super::error::CliError;
use super::super::facts::{command, fact};
use super::super::figures::{count, things};
use super::super::out::Out;
use super::super::style::{NAME, PLAIN, QUIET, STRONG, paint};
use super::super::table::{Align, Cell, Table, truncate_to_width};
use super::labels;
use super::one::Page;

/// Ways that are told of each reason.
const WAYS: usize = 5;

/// Prints what is out of reach, by reason, and what to type to see it.
pub(super) fn print(page: &mut Page<'_>, out: &mut Out) -> Result<(), CliError> {
    let groups = page.verdict.lost(&page.explained.session);
    for group in &groups {
        out.line("")?;
        heading(group, out)?;
        if !group.nameless.is_empty() {
            out.line(&format!("  {}", labels::lines(&group.nameless)))?;
        }
        ways(page, group, out)?;
    }
    // Above a break stands what was said last; else the largest part is missed most.
    let broken = page.verdict.is_broken();
    let weight = |way: &&UnreachableBranch| if broken { way.tip as usize } else { way.entries };
    let Some(missed) = groups.iter().flat_map(|group| &group.ways).max_by_key(weight) else {
        return Ok(());
    };
    let handle = |no| page.explained.session.handle(no);
    out.line("")?;
    let (session, tip, top) = (&page.session, handle(missed.tip), handle(missed.top));
    command("read it", &format!("rethread show {session} --branch {tip}"), out)?;
    command("see where", &format!("rethread tree {session} {top}"), out)?;
    if groups.iter().any(|group| group.ways.len() > WAYS) {
        command("see all", &format!("rethread branches {session}"), out)?;
    }
    Ok(())
}

fn heading(group: &LostGroup, out: &mut Out) -> Result<(), CliError> {
    let mut number = things(group.entries as u64, "entry");
    if group.turns > 0 {
        number = format!("{number}, {}", things(group.turns as u64, "turn"));
    }
    fact("out of reach", &vec![(STRONG, number), (PLAIN, format!(" {}", labels::group(group.why)))], out)
}

fn ways(page: &mut Page<'_>, group: &LostGroup, out: &mut Out) -> Result<(), CliError> {
    let mut table = Table::new(2)
        .column("from", Align::Left, 36)
        .column("to", Align::Left, 36)
        .column("entries", Align::Right, 9)
        .column("turns", Align::Right, 7)
        .column("first words", Align::Left, 400);
    for way in group.ways.iter().take(WAYS) {
        let handle = |no| page.explained.session.handle(no);
        let (top, tip) = (handle(way.top), handle(way.tip));
        let gist = page.gist(way.first)?;
        table.row(vec![
            Cell::new(NAME, top),
            Cell::new(NAME, tip),
            count(way.entries as u64).into(),
            if way.turns > 0 { count(way.turns as u64).into() } else { Cell::default() },
            Cell::new(PLAIN, truncate_to_width(&gist, out.width())),
        ]);
    }
    table.print(out)?;
    if group.ways.len() > WAYS {
        let rest = &group.ways[WAYS..];
        let entries: usize = rest.iter().map(|way| way.entries).sum();
        let more = format!("  … {} more, {}", count(rest.len() as u64), things(entries as u64, "entry"));
        out.line(&paint(QUIET, &more))?;
    }
    Ok(())
}
