//! Prints the effects of a command on files, and how to undo it.

use rethread_engine::OpId;
use rethread_engine::ops::FileEffect;

use super::AppContext;
use super::error::CliError;
use super::out::Out;
use super::style::{NAME, QUIET, paint};
use super::table::{Align, Cell, Table};
use super::write_report::undo_command;
use crate::text::operation;

/// Prints a row per changed file, then the undo command. Without an `op` (dry run), states that nothing was changed.
pub(crate) fn print(
    effects: &[FileEffect],
    op: Option<OpId>,
    app: &AppContext,
    out: &mut Out,
) -> Result<(), CliError> {
    let mut table = Table::new(2).column("", Align::Left, 24).column("", Align::Left, usize::MAX);
    for effect in effects {
        let path = app.format_path(&effect.path.display().to_string());
        table.row(vec![Cell::new(QUIET, operation::effect_text(effect)), Cell::from(path).keeping_end()]);
    }
    table.print(out)?;
    match op {
        Some(op) => out.line(&format!("undo: {}", paint(NAME, &undo_command(op)))),
        None => out.line(&paint(QUIET, "nothing was changed")),
    }
}
