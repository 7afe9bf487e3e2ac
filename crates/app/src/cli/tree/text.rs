//! The tree in the terminal.

use rethread_engine::core::tree::{OutlineItem, PathRelation, Row};
use rethread_engine::ops::Drawing;
use unicode_width::UnicodeWidthStr;

use super::super::error::CliError;
use super::super::figures::things;
use super::super::out::Out;
use super::super::style::{GOOD, MARK, NAME, PLAIN, QUIET, STRONG, paint};
use super::super::table::truncate_to_width;
use super::super::{AppContext, header};
use crate::text::node::{Label, label};

/// Draws all rows.
pub(super) fn draw(
    drawing: &mut Drawing,
    all: bool,
    place: &AppContext,
    out: &mut Out,
) -> Result<(), CliError> {
    out.may_page();
    header(&drawing.head, place, out)?;
    let folder = drawing.head.folder.clone();
    let widest = if all { u64::from(drawing.last_line) } else { drawing.turns as u64 };
    let names = widest.to_string().len() + 1;
    for k in 0..drawing.rows.len() {
        let read = drawing.read(k)?;
        let row = &drawing.rows[k];
        // Beginnings and islands stand apart.
        if k > 0 && row.parent.is_none() {
            out.line("")?;
        }
        let mut label = label(row, read.as_ref(), &folder, all);
        if !label.name.is_empty() {
            label.name = format!("{:<names$}", label.name);
        }
        out.line(&line(row, &label, out.width()))?;
    }
    out.line("")?;
    footer(drawing, all, out)
}

fn line(row: &Row, label: &Label, width: usize) -> String {
    let rail = row.gutter();
    let sign = row.sign().to_string();
    let named = if row.named { " ◀ here" } else { "" };
    let tip = match (label.tip.is_empty(), label.active) {
        (true, _) => String::new(),
        (false, true) => format!(" ◂ active tip {}", label.tip),
        (false, false) => format!(" ◂ tip {}", label.tip),
    };
    let mut left = width.saturating_sub(rail.width() + sign.width() + 1);
    let mut text = format!("{}{} ", paint(QUIET, &rail), paint(ink(row), &sign));
    let mut put = |style, piece: &str, gap: &str| {
        if !piece.is_empty() {
            left = left.saturating_sub(piece.width() + gap.len());
            text.push_str(&paint(style, piece));
            text.push_str(gap);
        }
    };
    put(NAME, &label.name, "  ");
    put(MARK, &label.origin, "  ");
    let work = if width < 100 {
        label.work.replace(" answer", " ans").replace("anss", "ans")
    } else {
        label.work.clone()
    };
    let end = tip.width() + named.width();
    // Where little room is left for the words, they come before the numbers.
    let work = if left < end + work.width() + 26 { String::new() } else { work };
    let room = left.saturating_sub(end + if work.is_empty() { 0 } else { work.width() + 2 });
    // Signs that join with their neighbours may be wider than they were alone.
    let words = truncate_to_width(&label.words, room);
    let pad = " ".repeat(room.saturating_sub(words.width()) + if work.is_empty() { 0 } else { 2 });
    let style = match row.what {
        OutlineItem::Gap { .. } => QUIET,
        _ if row.named => STRONG,
        _ => PLAIN,
    };
    text.push_str(&paint(style, &words));
    text.push_str(&paint(if label.active { GOOD } else { QUIET }, &tip));
    text.push_str(&paint(MARK, named));
    text.push_str(&pad);
    text.push_str(&paint(QUIET, &work));
    text
}

fn ink(row: &Row) -> anstyle::Style {
    match (row.what, row.standing) {
        (OutlineItem::Gap { .. }, _) => QUIET,
        (OutlineItem::Compaction(_), _) => MARK,
        (_, PathRelation::OnPath) => GOOD,
        (_, PathRelation::Compacted | PathRelation::Aside) => QUIET,
    }
}

fn footer(drawing: &Drawing, all: bool, out: &mut Out) -> Result<(), CliError> {
    let mut facts = vec![things(drawing.turns as u64, "turn"), things(drawing.branches as u64, "branch")];
    if drawing.islands > 0 {
        facts.push(things(drawing.islands as u64, "island"));
    }
    if drawing.aside > 0 {
        facts.push(format!("{} of subagents not drawn", things(drawing.aside as u64, "entry")));
    }
    let has = |standing: PathRelation| {
        drawing.rows.iter().any(|row| row.what.node().is_some() && row.standing == standing)
    };
    facts.push("● loaded by the client".to_owned());
    facts.extend(has(PathRelation::Compacted).then(|| "◌ before a compaction".to_owned()));
    facts.extend(has(PathRelation::Aside).then(|| "○ other branches".to_owned()));
    let gaps = drawing.rows.iter().any(|row| matches!(row.what, OutlineItem::Gap { .. }));
    let near = drawing.rows.iter().any(|row| row.named);
    facts.extend(gaps.then(|| if near || all { "⋮ left out" } else { "⋮ left out (--all)" }.to_owned()));
    for line in super::super::layout::facts(&facts, out.width()) {
        out.line(&paint(QUIET, &line))?;
    }
    Ok(())
}
