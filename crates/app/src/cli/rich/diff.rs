//! Diffs with coloured lines and changed words.

use super::page::{Margin, Page};
use super::styled::{StyledText, overlay};
use crate::cli::clean;
use crate::cli::error::CliError;
use crate::cli::figures::count_noun;
use crate::cli::style::{BAD, CHANGED_WORD, GOOD, PLAIN, QUIET};
use crate::content::diff::{RowKind, find_changed_words, rows_from_texts};

/// Prints the lines that differ between two texts, with a few unchanged lines around them.
pub(super) fn print_diff(old: &str, new: &str, page: &mut Page<'_>) -> Result<(), CliError> {
    let rows = rows_from_texts(&clean::text(old), &clean::text(new));
    if rows.is_empty() {
        let note =
            if old == new { "no difference" } else { "only line endings or invisible characters differ" };
        return page.print_block(&StyledText::new(QUIET, note));
    }
    let marks = find_changed_words(&rows);
    for (row, marks) in rows.iter().zip(&marks) {
        let (style, sign) = match row.kind {
            RowKind::Same => (PLAIN, "  "),
            RowKind::Removed => (BAD, "- "),
            RowKind::Added => (GOOD, "+ "),
            RowKind::Gap(lines) => {
                let lines = count_noun(u64::from(lines), "line");
                page.print_block(&StyledText::new(QUIET, &format!("⋯ {lines}")))?;
                continue;
            }
        };
        let mut line = StyledText::default();
        let mut at = 0;
        for mark in marks {
            line.push(style, &row.text[at..mark.start]);
            line.push(overlay(style, CHANGED_WORD), &row.text[mark.clone()]);
            at = mark.end;
        }
        line.push(style, &row.text[at..]);
        page.push_margin(Margin::with_mark(StyledText::new(style, sign)));
        page.print_block(&line)?;
        page.pop_margin()?;
    }
    Ok(())
}
