//! Prints the tables, their columns, and the examples.

use rethread_engine::ops::tables::{ColumnType, TableColumn, TableKind};
use rethread_sql::EXAMPLES;

use super::super::error::{CliError, Exit};
use super::super::out::Out;
use super::super::style::{NAME, QUIET};
use super::super::table::{Align, Cell, Table};
use crate::json;

/// Prints the tables, or the columns of the table with a name.
pub(super) fn print(name: &str, out: &mut Out) -> Result<Exit, CliError> {
    if name.is_empty() {
        return print_tables(out);
    }
    let table = TableKind::from_name(name).ok_or_else(|| CliError::UnknownTable(name.to_owned()))?;
    let mut rows = Table::new(0)
        .column("column", Align::Left, 40)
        .column("type", Align::Left, 12)
        .column("", Align::Left, 200)
        .shrinking();
    for column in table.columns() {
        if out.is_json() {
            out.json(&json::build_sql_column(table, column))?;
        }
        let type_name = Cell::new(QUIET, describe_type(column));
        rows.row(vec![Cell::new(NAME, column.name), type_name, column.description.into()]);
    }
    if !out.is_json() {
        rows.print(out)?;
    }
    Ok(Exit::Done)
}

/// Returns the type of the values as a user sees them.
pub(super) fn describe_type(column: &TableColumn) -> &'static str {
    match column.column_type {
        ColumnType::Integer => "integer",
        ColumnType::Boolean => "0 or 1",
        ColumnType::Time => "time",
        ColumnType::Money => "picodollars",
        ColumnType::Text => "text",
    }
}

fn print_tables(out: &mut Out) -> Result<Exit, CliError> {
    let mut rows = Table::new(0)
        .column("table", Align::Left, 20)
        .column("columns", Align::Right, 9)
        .column("", Align::Left, 200)
        .shrinking();
    for table in TableKind::ALL {
        if out.is_json() {
            for column in table.columns() {
                out.json(&json::build_sql_column(*table, column))?;
            }
            continue;
        }
        let count = table.columns().len().to_string();
        rows.row(vec![Cell::new(NAME, table.name()), count.into(), table.description().into()]);
    }
    if !out.is_json() {
        rows.print(out)?;
        out.note("\n`rethread sql --schema TABLE` lists the columns of a table");
    }
    Ok(Exit::Done)
}

/// Prints the names and descriptions of the examples.
pub(super) fn print_examples(out: &mut Out) -> Result<Exit, CliError> {
    let mut rows = Table::new(0).column("example", Align::Left, 40).column("", Align::Left, 200).shrinking();
    for example in EXAMPLES {
        if out.is_json() {
            out.json(&json::build_sql_example(example))?;
        }
        rows.row(vec![Cell::new(NAME, example.name), example.description.into()]);
    }
    if !out.is_json() {
        rows.print(out)?;
        out.note("\n`rethread sql --example NAME` runs one; docs/sql.md shows the statements");
    }
    Ok(Exit::Done)
}
