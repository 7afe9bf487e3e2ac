//! What a lighter copy left out, as a table that adds up.

use rethread_engine::ops::{SessionSize, TrimmedCopy};

use super::error::CliError;
use super::figures::{count, size, tokens};
use super::out::Out;
use super::style::{PLAIN, QUIET, STRONG, paint};
use super::table::{Align, Cell, Table};
use crate::text::operation;

/// Draws what the original weighs, what each cause took, and what is left.
pub(crate) fn table(copy: &TrimmedCopy) -> Table {
    let mut table = Table::new(0)
        .column("", Align::Left, 40)
        .column("how many", Align::Right, 10)
        .column("bytes", Align::Right, 12)
        .column("tokens", Align::Right, 10);
    table.row(weight("before", copy.before));
    for (cause, row) in copy.ledger.rows() {
        let said = if row.tokens() > 0 { format!("-{}", tokens(row.tokens())) } else { String::new() };
        table.row(vec![
            Cell::new(PLAIN, format!("  {}", operation::cause(cause))),
            count(row.count).into(),
            format!("-{}", size(row.bytes)).into(),
            said.into(),
        ]);
    }
    let left = copy.before.bytes.saturating_sub(copy.ledger.total().bytes);
    let added = copy.after.bytes.saturating_sub(left);
    if added > 0 {
        let plus = Cell::new(QUIET, format!("+{}", size(added)));
        table.row(vec![
            Cell::new(QUIET, "  where it comes from, title, state"),
            Cell::default(),
            plus,
            Cell::default(),
        ]);
    }
    table.row(weight("after", copy.after));
    table
}

fn weight(name: &str, weight: SessionSize) -> Vec<Cell> {
    let cell = |text: String| Cell::new(STRONG, text);
    vec![cell(name.to_owned()), Cell::default(), cell(size(weight.bytes)), cell(tokens(weight.tokens))]
}

/// Says at which paths lines were changed.
pub(crate) fn changes(copy: &TrimmedCopy, out: &mut Out) -> Result<(), CliError> {
    if copy.changed.is_empty() {
        return Ok(());
    }
    let dry = copy.born.op.is_none();
    let paths: Vec<String> =
        copy.changed.iter().map(|(path, times)| format!("{path} ×{}", count(*times))).collect();
    let verb = if dry { "lines would change only at" } else { "lines changed only at" };
    out.line("")?;
    for line in textwrap::wrap(&format!("{verb} {}", paths.join(", ")), out.width()) {
        out.line(&paint(QUIET, &line))?;
    }
    Ok(())
}
