//! Reads an object.

use std::fs::File;
use std::path::{Path, PathBuf};

use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};

use crate::LakeError;
use crate::column_buffer::{CellValue, ColumnBuffer};
use crate::schema::{LakeColumn, LakeTable, LakeType};

/// The columns of a row group, in the order of the schema. A column that the object does not have is null.
#[derive(Debug)]
pub struct RowGroupColumns {
    names: Vec<&'static str>,
    columns: Vec<ColumnBuffer>,
    rows: usize,
}

impl RowGroupColumns {
    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns a column. Returns `None` if it was not read.
    pub fn column(&self, name: &str) -> Option<&ColumnBuffer> {
        let idx = self.names.iter().position(|own| *own == name)?;
        Some(&self.columns[idx])
    }

    /// Returns the names and the columns.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &ColumnBuffer)> {
        self.names.iter().copied().zip(&self.columns)
    }
}

/// Reads an object of a table.
pub struct ObjectReader {
    path: PathBuf,
    reader: SerializedFileReader<File>,
    columns: Vec<LakeColumn>,
}

impl ObjectReader {
    /// Opens an object.
    pub fn open(table: LakeTable, path: &Path) -> Result<ObjectReader, LakeError> {
        let file = File::open(path).map_err(LakeError::io(path))?;
        let reader = SerializedFileReader::new(file).map_err(LakeError::object(path))?;
        Ok(ObjectReader { path: path.to_owned(), reader, columns: table.columns() })
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> u64 {
        u64::try_from(self.reader.metadata().file_metadata().num_rows()).unwrap_or_default()
    }

    /// Passes the row groups to `visit`. Reads only the columns that `is_wanted` selects.
    pub fn read(
        &self,
        is_wanted: impl Fn(&str) -> bool,
        mut visit: impl FnMut(RowGroupColumns) -> Result<(), LakeError>,
    ) -> Result<(), LakeError> {
        let wanted: Vec<&LakeColumn> = self.columns.iter().filter(|column| is_wanted(column.name)).collect();
        for idx in 0..self.reader.num_row_groups() {
            let group = self.reader.get_row_group(idx).map_err(LakeError::object(&self.path))?;
            let rows = usize::try_from(group.metadata().num_rows()).unwrap_or_default();
            let columns = wanted.iter().map(|column| self.read_column(&*group, column, rows));
            let columns = columns.collect::<Result<Vec<_>, LakeError>>()?;
            visit(RowGroupColumns {
                names: wanted.iter().map(|column| column.name).collect(),
                columns,
                rows,
            })?;
        }
        Ok(())
    }

    fn read_column(
        &self,
        group: &dyn RowGroupReader,
        column: &LakeColumn,
        rows: usize,
    ) -> Result<ColumnBuffer, LakeError> {
        let mut buffer = ColumnBuffer::new(column.lake_type);
        let schema = self.reader.metadata().file_metadata().schema_descr();
        let place = schema.columns().iter().position(|own| own.name() == column.name);
        let Some(place) = place else {
            (0..rows).for_each(|_| buffer.push(CellValue::Null));
            return Ok(buffer);
        };
        let failed = |message: &str| LakeError::BadObject {
            path: self.path.clone(),
            message: format!("column `{}`: {message}", column.name),
        };
        let reader = group.get_column_reader(place).map_err(|error| failed(&error.to_string()))?;
        let mut levels: Vec<i16> = Vec::with_capacity(rows);
        match (reader, column.lake_type) {
            (
                ColumnReader::Int64ColumnReader(mut reader),
                LakeType::Integer | LakeType::Time | LakeType::Money,
            ) => {
                let mut values: Vec<i64> = Vec::with_capacity(rows);
                read_all(rows, &mut levels, |levels, left| {
                    reader.read_records(left, Some(levels), None, &mut values).map(|(records, _, _)| records)
                })
                .map_err(|error| failed(&error.to_string()))?;
                fill(&mut buffer, &levels, values.into_iter(), |number, buffer| {
                    buffer.push(CellValue::Integer(number));
                });
            }
            (ColumnReader::BoolColumnReader(mut reader), LakeType::Boolean) => {
                let mut values: Vec<bool> = Vec::with_capacity(rows);
                read_all(rows, &mut levels, |levels, left| {
                    reader.read_records(left, Some(levels), None, &mut values).map(|(records, _, _)| records)
                })
                .map_err(|error| failed(&error.to_string()))?;
                fill(&mut buffer, &levels, values.into_iter(), |value, buffer| {
                    buffer.push(CellValue::Boolean(value));
                });
            }
            (ColumnReader::ByteArrayColumnReader(mut reader), LakeType::Text) => {
                let mut values: Vec<ByteArray> = Vec::with_capacity(rows);
                read_all(rows, &mut levels, |levels, left| {
                    reader.read_records(left, Some(levels), None, &mut values).map(|(records, _, _)| records)
                })
                .map_err(|error| failed(&error.to_string()))?;
                if values.iter().any(|value| value.as_utf8().is_err()) {
                    return Err(failed("a text is not UTF-8"));
                }
                fill(&mut buffer, &levels, values.iter(), |text, buffer| {
                    buffer.push(CellValue::Text(text.as_utf8().unwrap_or_default()));
                });
            }
            _ => return Err(failed("it has another type than the schema")),
        }
        if buffer.len() != rows {
            return Err(failed("values are missing"));
        }
        Ok(buffer)
    }
}

/// Calls `read` until it has read all rows or returns none.
fn read_all(
    rows: usize,
    levels: &mut Vec<i16>,
    mut read: impl FnMut(&mut Vec<i16>, usize) -> parquet::errors::Result<usize>,
) -> parquet::errors::Result<()> {
    let mut done = 0;
    while done < rows {
        match read(levels, rows - done)? {
            0 => break,
            count => done += count,
        }
    }
    Ok(())
}

/// Appends the values at the rows whose level is 1, and null at the others.
fn fill<T>(
    buffer: &mut ColumnBuffer,
    levels: &[i16],
    mut values: impl Iterator<Item = T>,
    push: impl Fn(T, &mut ColumnBuffer),
) {
    for level in levels {
        if *level == 0 {
            buffer.push(CellValue::Null);
            continue;
        }
        match values.next() {
            Some(value) => push(value, buffer),
            None => return,
        }
    }
}
