//! Rows on their way to the database: the values of many rows without an allocation for each.

use std::collections::HashMap;
use std::ops::Range;

use rethread_engine::core::entry::Timestamp;
use rethread_engine::ops::tables::{TableKind, TableRow, TableSelection, TableValue};
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};

use crate::time_text::TimeFormatter;

/// The number of rows of a full batch.
const MAX_ROWS: usize = 512;
/// The number of bytes of text of a full batch.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// The indices of the selected columns of each table.
pub(crate) struct SelectedColumns(HashMap<TableKind, Vec<usize>>);

impl SelectedColumns {
    pub(crate) fn new(selection: &TableSelection) -> SelectedColumns {
        let indices = |table: TableKind| {
            let columns = table.columns().iter().enumerate();
            let selected = columns.filter(|(_, column)| selection.wants_any(table, &[column.name]));
            (table, selected.map(|(idx, _)| idx).collect())
        };
        SelectedColumns(selection.tables().map(indices).collect())
    }

    fn find(&self, table: TableKind) -> &[usize] {
        self.0.get(&table).map_or(&[], Vec::as_slice)
    }
}

/// A value of a row. A text is a range of the text of the batch.
#[derive(Debug)]
enum BatchValue {
    Null,
    Integer(i64),
    Text(Range<usize>),
}

/// Rows with the values of the selected columns only.
#[derive(Debug, Default)]
pub(crate) struct RowBatch {
    /// The table of each row, and the end of its values.
    rows: Vec<(TableKind, usize)>,
    values: Vec<BatchValue>,
    text: String,
}

/// A value to bind.
pub(crate) struct BoundValue<'b>(ValueRef<'b>);

impl ToSql for BoundValue<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(self.0))
    }
}

impl RowBatch {
    /// Appends a row.
    pub(crate) fn push(&mut self, row: &TableRow<'_>, columns: &SelectedColumns, times: &mut TimeFormatter) {
        let table = row.table();
        for &idx in columns.find(table) {
            let value = match row.value(idx) {
                TableValue::Null => BatchValue::Null,
                TableValue::Integer(number) => BatchValue::Integer(number),
                TableValue::Boolean(value) => BatchValue::Integer(value.into()),
                TableValue::Time(time) => self.push_time(time, times),
                TableValue::Money(money) => {
                    BatchValue::Integer(i64::try_from(money.picodollars()).unwrap_or(i64::MAX))
                }
                TableValue::Text(text) => {
                    let start = self.text.len();
                    self.text.push_str(text);
                    BatchValue::Text(start..self.text.len())
                }
            };
            self.values.push(value);
        }
        self.rows.push((table, self.values.len()));
    }

    fn push_time(&mut self, time: Timestamp, times: &mut TimeFormatter) -> BatchValue {
        let start = self.text.len();
        times.append(time, &mut self.text);
        BatchValue::Text(start..self.text.len())
    }

    /// Returns `true` if the batch should be delivered before another row is appended.
    pub(crate) fn is_full(&self) -> bool {
        self.rows.len() >= MAX_ROWS || self.text.len() >= MAX_TEXT_BYTES
    }

    /// Removes all rows and keeps the memory, unless the texts were long.
    pub(crate) fn clear(&mut self) {
        self.rows.clear();
        self.values.clear();
        self.text.clear();
        self.text.shrink_to(MAX_TEXT_BYTES);
    }

    /// Returns the rows: the table and the values of each.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (TableKind, impl Iterator<Item = BoundValue<'_>>)> {
        let mut start = 0;
        self.rows.iter().map(move |&(table, end)| {
            let values = &self.values[start..end];
            start = end;
            (table, values.iter().map(|value| self.bind(value)))
        })
    }

    fn bind(&self, value: &BatchValue) -> BoundValue<'_> {
        BoundValue(match value {
            BatchValue::Null => ValueRef::Null,
            BatchValue::Integer(number) => ValueRef::Integer(*number),
            BatchValue::Text(range) => ValueRef::Text(&self.text.as_bytes()[range.clone()]),
        })
    }
}
