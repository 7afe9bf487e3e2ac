//! Prints the rows of a result.

use std::sync::atomic::{AtomicBool, Ordering};

use rethread_lake::{ResultColumn, write_result_file};
use rethread_sql::ResultValue;
use serde_json::{Map, Number, Value};

use super::super::args::SqlFormat;
use super::super::clean;
use super::super::error::CliError;
use super::super::out::Out;
use super::super::style::{PLAIN, QUIET};
use super::super::table::{Align, Cell, Table};
use crate::text::sql_result::{format_csv_line, format_exact, format_hex};

/// The widest column of a table on a screen.
const MAX_WIDTH: usize = 80;

/// Prints rows in a format. A table is printed at the end, because its widths depend on all rows.
pub(super) struct RowPrinter {
    columns: Vec<String>,
    /// `None` prints the objects of `--json`.
    format: Option<SqlFormat>,
    cells: Vec<Vec<Cell>>,
    /// The values of each column of a Parquet file.
    columns_of_file: Vec<Vec<Value>>,
    /// Whether all values of a column so far are numbers.
    is_numeric: Vec<bool>,
}

impl RowPrinter {
    pub(super) fn new(columns: Vec<String>, format: Option<SqlFormat>) -> RowPrinter {
        let is_numeric = vec![true; columns.len()];
        let columns_of_file = vec![Vec::new(); columns.len()];
        RowPrinter { columns: unique_names(columns), format, cells: Vec::new(), columns_of_file, is_numeric }
    }

    /// Prints the header of CSV. Other formats have none before the rows.
    pub(super) fn print_header(&self, out: &mut Out) -> Result<(), CliError> {
        match self.format {
            Some(SqlFormat::Csv) => {
                out.raw(format_csv_line(self.columns.iter().map(String::as_str)).as_bytes())
            }
            _ => Ok(()),
        }
    }

    pub(super) fn print_row(&mut self, values: &[ResultValue<'_>], out: &mut Out) -> Result<(), CliError> {
        match self.format {
            None => out.json(&crate::json::build_sql_row(self.build_object(values))),
            Some(SqlFormat::Jsonl) => out.json(&self.build_object(values)),
            Some(SqlFormat::Csv) => {
                let cells: Vec<String> = values.iter().map(format_exact).collect();
                out.raw(format_csv_line(cells.iter().map(String::as_str)).as_bytes())
            }
            Some(SqlFormat::Parquet) => {
                for (column, value) in self.columns_of_file.iter_mut().zip(values) {
                    column.push(convert_value(value));
                }
                Ok(())
            }
            Some(SqlFormat::Table) => {
                let cells = values.iter().enumerate().map(|(idx, value)| {
                    self.is_numeric[idx] &=
                        matches!(value, ResultValue::Null | ResultValue::Integer(_) | ResultValue::Real(_));
                    match value {
                        ResultValue::Null => Cell::new(QUIET, "–"),
                        _ => Cell::new(PLAIN, out.truncate_cell(&clean::line(&format_exact(value)))),
                    }
                });
                self.cells.push(cells.collect());
                Ok(())
            }
        }
    }

    /// Prints the table or the file, if the format is one. Returns `false` if it stops because `is_interrupted` is set.
    pub(super) fn finish(self, is_interrupted: &AtomicBool, out: &mut Out) -> Result<bool, CliError> {
        if self.format == Some(SqlFormat::Parquet) {
            let columns: Vec<ResultColumn> = self.columns_of_file.into_iter().map(build_column).collect();
            let mut bytes = Vec::new();
            write_result_file(&self.columns, &columns, &mut bytes)?;
            out.bytes(&bytes)?;
            return Ok(true);
        }
        let mut table = Table::new(0);
        for (name, is_numeric) in self.columns.iter().zip(&self.is_numeric) {
            let align = if *is_numeric { Align::Right } else { Align::Left };
            table = table.column(clean::line(name), align, MAX_WIDTH);
        }
        self.cells.into_iter().for_each(|cells| table.row(cells));
        for line in table.render(out.table_width()) {
            if is_interrupted.load(Ordering::Relaxed) {
                return Ok(false);
            }
            out.line(&line)?;
        }
        Ok(true)
    }

    fn build_object(&self, values: &[ResultValue<'_>]) -> Map<String, Value> {
        self.columns.iter().cloned().zip(values.iter().map(convert_value)).collect()
    }
}

/// Converts the values of a column of a file: to numbers if all are, else to texts.
fn build_column(values: Vec<Value>) -> ResultColumn {
    let all = |accepts: fn(&Value) -> bool| values.iter().all(|value| value.is_null() || accepts(value));
    if all(Value::is_i64) {
        return ResultColumn::Integers(values.iter().map(Value::as_i64).collect());
    }
    if all(Value::is_number) {
        return ResultColumn::Reals(values.iter().map(Value::as_f64).collect());
    }
    let to_text = |value: Value| match value {
        Value::Null => None,
        Value::String(text) => Some(text),
        number => Some(number.to_string()),
    };
    ResultColumn::Texts(values.into_iter().map(to_text).collect())
}

/// Appends numbers to repeated names, so that the keys of objects are unique.
fn unique_names(names: Vec<String>) -> Vec<String> {
    let mut unique: Vec<String> = Vec::with_capacity(names.len());
    for name in names {
        let mut candidate = name.clone();
        let mut number = 2;
        while unique.contains(&candidate) {
            candidate = format!("{name}:{number}");
            number += 1;
        }
        unique.push(candidate);
    }
    unique
}

fn convert_value(value: &ResultValue<'_>) -> Value {
    match *value {
        ResultValue::Null => Value::Null,
        ResultValue::Integer(number) => number.into(),
        ResultValue::Real(number) => Number::from_f64(number).map_or(Value::Null, Value::Number),
        ResultValue::Text(text) => text.into(),
        ResultValue::Blob(bytes) => format_hex(bytes).into(),
    }
}

#[cfg(test)]
mod tests {
    use rethread_lake::ResultColumn;
    use serde_json::json;

    use super::{build_column, unique_names};

    #[test]
    fn a_column_of_a_file_has_one_type() {
        let column = |values: &[serde_json::Value]| build_column(values.to_vec());
        assert_eq!(column(&[json!(1), json!(null)]), ResultColumn::Integers(vec![Some(1), None]));
        assert_eq!(column(&[json!(1), json!(0.5)]), ResultColumn::Reals(vec![Some(1.0), Some(0.5)]));
        let texts = vec![Some("a".to_owned()), Some("2".to_owned()), None];
        assert_eq!(column(&[json!("a"), json!(2), json!(null)]), ResultColumn::Texts(texts));
    }

    #[test]
    fn repeated_columns_get_numbers() {
        let names = ["a", "b", "a", "a"].map(str::to_owned).to_vec();
        assert_eq!(unique_names(names), ["a", "b", "a:2", "a:3"]);
    }
}
