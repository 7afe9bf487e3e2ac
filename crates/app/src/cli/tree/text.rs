//! Prints the tree on the terminal.

use rethread_engine::core::tree::{OutlineItem, OutlineRow, PathRelation};
use rethread_engine::ops::tree::TreeListing;
use unicode_width::UnicodeWidthStr;

use crate::cli::error::CliError;
use crate::cli::figures::{count_noun, format_branch_count};
use crate::cli::out::Out;
use crate::cli::style::{GOOD, MARK, NAME, PLAIN, QUIET, STRONG, paint};
use crate::cli::table::truncate_to_width;
use crate::cli::{AppContext, print_header};
use crate::text::node::{RowLabel, build_row_label};

/// Prints all rows and a legend. `all` is `true` if every entry has a row, not every turn.
pub(super) fn print(
    tree: &mut TreeListing,
    all: bool,
    app: &AppContext,
    out: &mut Out,
) -> Result<(), CliError> {
    out.allow_pager();
    print_header(&tree.header, app, out)?;
    let folder = tree.header.folder.clone();
    let max_number = if all { u64::from(tree.last_line) } else { tree.turns as u64 };
    let name_width = max_number.to_string().len() + 1;
    for idx in 0..tree.rows.len() {
        let details = tree.read_row(idx)?;
        let row = &tree.rows[idx];
        // Separate roots and orphaned parts by an empty line.
        if idx > 0 && row.parent.is_none() {
            out.line("")?;
        }
        let mut label = build_row_label(row, details.as_ref(), &folder, all);
        if !label.name.is_empty() {
            label.name = format!("{:<name_width$}", label.name);
        }
        out.line(&render_row(row, &label, out.width()))?;
    }
    out.line("")?;
    print_footer(tree, all, out)
}

/// Renders a row in at most `width` columns: lines of the tree, symbol, label, tip and counts.
fn render_row(row: &OutlineRow, label: &RowLabel, width: usize) -> String {
    let gutter = row.gutter();
    let symbol = row.symbol().to_string();
    let marker = if row.requested { " ◀ here" } else { "" };
    let tip = if label.tip.is_empty() { String::new() } else { format!(" ◂ {}", label.tip) };
    let mut free = width.saturating_sub(gutter.width() + symbol.width() + 1);
    let mut text = format!("{}{} ", paint(QUIET, &gutter), paint(symbol_style(row), &symbol));
    let mut push = |style, part: &str, gap: &str| {
        if !part.is_empty() {
            free = free.saturating_sub(part.width() + gap.len());
            text.push_str(&paint(style, part));
            text.push_str(gap);
        }
    };
    push(NAME, &label.name, "  ");
    push(MARK, &label.origin, "  ");
    let work = if width < 100 {
        label.work.replace(" answer", " ans").replace("anss", "ans")
    } else {
        label.work.clone()
    };
    let suffix_width = tip.width() + marker.width();
    // If there is little space, omit the counts in favour of the text.
    let work = if free < suffix_width + work.width() + 26 { String::new() } else { work };
    let preview_width =
        free.saturating_sub(suffix_width + if work.is_empty() { 0 } else { work.width() + 2 });
    // Characters that combine with their neighbours may change the width.
    let preview = truncate_to_width(&label.text, preview_width);
    let pad = " ".repeat(preview_width.saturating_sub(preview.width()) + if work.is_empty() { 0 } else { 2 });
    let style = match row.item {
        OutlineItem::Gap { .. } => QUIET,
        _ if row.requested => STRONG,
        _ => PLAIN,
    };
    text.push_str(&paint(style, &preview));
    text.push_str(&paint(if label.active { GOOD } else { QUIET }, &tip));
    text.push_str(&paint(MARK, marker));
    text.push_str(&pad);
    text.push_str(&paint(QUIET, &work));
    text
}

fn symbol_style(row: &OutlineRow) -> crate::config::TextRole {
    match (row.item, row.relation) {
        (OutlineItem::Gap { .. }, _) => QUIET,
        (OutlineItem::Compaction(_), _) => MARK,
        (_, PathRelation::OnPath) => GOOD,
        (_, PathRelation::Compacted | PathRelation::OtherBranch) => QUIET,
    }
}

/// Prints the number of turns and branches, and the meaning of the symbols used.
fn print_footer(tree: &TreeListing, all: bool, out: &mut Out) -> Result<(), CliError> {
    let mut facts =
        vec![count_noun(tree.turns as u64, "turn"), format_branch_count(tree.branches, tree.orphaned)];
    if tree.sidechain_entries > 0 {
        facts.push(format!("{} of subagents not shown", count_noun(tree.sidechain_entries as u64, "entry")));
    }
    let has = |relation: PathRelation| {
        tree.rows.iter().any(|row| row.item.node().is_some() && row.relation == relation)
    };
    facts.push("● loaded by the client".to_owned());
    facts.extend(has(PathRelation::Compacted).then(|| "◌ before a compaction".to_owned()));
    facts.extend(has(PathRelation::OtherBranch).then(|| "○ other branches".to_owned()));
    let has_gaps = tree.rows.iter().any(|row| matches!(row.item, OutlineItem::Gap { .. }));
    let is_around_entry = tree.rows.iter().any(|row| row.requested);
    facts.extend(has_gaps.then(|| {
        if is_around_entry || all { "⋮ omitted" } else { "⋮ omitted (--all shows them)" }.to_owned()
    }));
    for line in crate::cli::layout::join_facts(&facts, out.width()) {
        out.line(&paint(QUIET, &line))?;
    }
    Ok(())
}
