//! What a writing command does to which file, and how to take it back.

use rethread_engine::OpId;
use rethread_engine::ops::Effects;

use super::AppContext;
use super::error::CliError;
use super::out::Out;
use super::style::{NAME, QUIET, paint};
use super::table::{Align, Cell, Table, fit_end};
use crate::text::operation;

/// Lists the effects; behind them, for an op that was done, the line that takes it back.
pub(crate) fn print(
    effects: &Effects,
    op: Option<OpId>,
    place: &AppContext,
    out: &mut Out,
) -> Result<(), CliError> {
    let mut table = Table::new(2).column("", Align::Left, 24).column("", Align::Left, usize::MAX);
    for (path, effect) in effects {
        // The end of a path tells more than its beginning.
        let path = fit_end(&place.tilde(&path.display().to_string()), out.width().saturating_sub(21));
        table.row(vec![Cell::new(QUIET, operation::effect(*effect)), path.into()]);
    }
    table.print(out)?;
    match op {
        Some(op) => out.line(&format!("take it back: {}", paint(NAME, &format!("rethread undo {op}")))),
        None => out.line(&paint(QUIET, "nothing was changed")),
    }
}
