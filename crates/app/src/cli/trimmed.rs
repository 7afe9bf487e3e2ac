//! The table of the content that a trimmed copy omits.

use rethread_engine::ops::{SessionSize, TrimmedCopy};

use super::error::CliError;
use super::figures::{format_size, format_tokens, group_digits};
use super::out::Out;
use super::style::{PLAIN, QUIET, STRONG, paint};
use super::table::{Align, Cell, Table};
use crate::text::operation;

/// Builds a table with the size of the original, the savings by cause, and the size of the copy.
pub(crate) fn build_table(copy: &TrimmedCopy) -> Table {
    let mut table = Table::new(0)
        .column("", Align::Left, 40)
        .column("count", Align::Right, 10)
        .column("lines", Align::Right, 10)
        .column("bytes", Align::Right, 12)
        .column("tokens", Align::Right, 10);
    table.row(size_row("before", copy.before));
    for (cause, saving) in copy.savings.iter() {
        let tokens =
            if saving.tokens() > 0 { format!("-{}", format_tokens(saving.tokens())) } else { String::new() };
        table.row(vec![
            Cell::new(PLAIN, format!("  {}", operation::removal_text(cause))),
            group_digits(saving.count).into(),
            if saving.lines > 0 { format!("-{}", group_digits(saving.lines)) } else { String::new() }.into(),
            format!("-{}", format_size(saving.bytes)).into(),
            tokens.into(),
        ]);
    }
    let remaining = copy.before.bytes.saturating_sub(copy.savings.total().bytes);
    let added = copy.after.bytes.saturating_sub(remaining);
    if added > 0 {
        let added_cell = Cell::new(QUIET, format!("+{}", format_size(added)));
        table.row(vec![
            Cell::new(QUIET, "  origin, title, state"),
            Cell::default(),
            Cell::default(),
            added_cell,
            Cell::default(),
        ]);
    }
    table.row(size_row("after", copy.after));
    table
}

fn size_row(name: &str, size: SessionSize) -> Vec<Cell> {
    let cell = |text: String| Cell::new(STRONG, text);
    vec![
        cell(name.to_owned()),
        Cell::default(),
        cell(group_digits(size.lines)),
        cell(format_size(size.bytes)),
        cell(format_tokens(size.tokens)),
    ]
}

/// Prints the JSON paths at which lines were changed, with the number of changes. Prints nothing if there are none.
pub(crate) fn print_changes(copy: &TrimmedCopy, out: &mut Out) -> Result<(), CliError> {
    if copy.changed_paths.is_empty() {
        return Ok(());
    }
    let dry_run = copy.session.op.is_none();
    let paths: Vec<String> =
        copy.changed_paths.iter().map(|(path, count)| format!("{path} ×{}", group_digits(*count))).collect();
    let verb = if dry_run { "lines would change only at" } else { "lines changed only at" };
    out.line("")?;
    for line in textwrap::wrap(&format!("{verb} {}", paths.join(", ")), out.width()) {
        out.line(&paint(QUIET, &line))?;
    }
    Ok(())
}
