//! Writes an object: the rows of a table as Parquet.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{BoolType, ByteArrayType, Int64Type};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;

use crate::LakeError;
use crate::column_buffer::{CellValue, ColumnBuffer};
use crate::schema::{LakeTable, LakeType};

/// The maximum number of rows of a row group.
const MAX_GROUP_ROWS: usize = 1 << 15;
/// The number of bytes of text after which a row group ends.
const MAX_GROUP_TEXT_BYTES: usize = 24 << 20;
/// The level of compression. Higher levels cost more time than they save space.
const ZSTD_LEVEL: i32 = 3;

/// Columns whose values rarely repeat. A dictionary costs time and saves nothing.
const UNIQUE_COLUMNS: &[&str] = &[
    "uuid",
    "parent_uuid",
    "message_id",
    "request_id",
    "call_id",
    "call_key",
    "response_id",
    "message_key",
    "tip_uuid",
    "text",
    "mark",
];

/// Writes the rows of a table.
pub(crate) struct ObjectWriter<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    types: Vec<LakeType>,
    columns: Vec<ColumnBuffer>,
    rows: usize,
}

#[expect(clippy::needless_pass_by_value, reason = "an argument of `map_err`")]
fn convert(error: parquet::errors::ParquetError) -> LakeError {
    LakeError::Encode(error.to_string())
}

impl<W: Write + Send> ObjectWriter<W> {
    /// Starts an object.
    pub(crate) fn new(table: LakeTable, out: W) -> Result<ObjectWriter<W>, LakeError> {
        let level = ZstdLevel::try_new(ZSTD_LEVEL).map_err(convert)?;
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_created_by(concat!("rethread-lake version ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true)
            .set_max_row_group_row_count(Some(MAX_GROUP_ROWS));
        let columns = table.columns();
        for column in &columns {
            let path = ColumnPath::from(column.name);
            if UNIQUE_COLUMNS.contains(&column.name) {
                properties = properties
                    .set_column_dictionary_enabled(path.clone(), false)
                    .set_column_statistics_enabled(path, EnabledStatistics::None);
            } else if matches!(column.lake_type, LakeType::Integer | LakeType::Time) {
                properties = properties
                    .set_column_dictionary_enabled(path.clone(), false)
                    .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
            }
        }
        let schema = table.parquet_schema()?;
        let writer = SerializedFileWriter::new(out, schema, Arc::new(properties.build())).map_err(convert)?;
        let types: Vec<LakeType> = columns.iter().map(|column| column.lake_type).collect();
        let columns = types.iter().map(|lake_type| ColumnBuffer::new(*lake_type)).collect();
        Ok(ObjectWriter { writer, types, columns, rows: 0 })
    }

    /// Appends a row: one value for each column.
    pub(crate) fn add_row<'v>(
        &mut self,
        values: impl IntoIterator<Item = CellValue<'v>>,
    ) -> Result<(), LakeError> {
        let mut values = values.into_iter();
        for column in &mut self.columns {
            column.push(values.next().unwrap_or(CellValue::Null));
        }
        self.end_row()
    }

    /// Appends a row that `fill` writes, one value to each column.
    pub(crate) fn add_row_with(&mut self, fill: impl FnOnce(&mut [ColumnBuffer])) -> Result<(), LakeError> {
        fill(&mut self.columns);
        self.end_row()
    }

    fn end_row(&mut self) -> Result<(), LakeError> {
        self.rows += 1;
        let group_rows = self.columns.first().map_or(0, ColumnBuffer::len);
        let is_full = group_rows >= MAX_GROUP_ROWS
            || group_rows.is_multiple_of(256)
                && self.columns.iter().map(ColumnBuffer::text_len).sum::<usize>() >= MAX_GROUP_TEXT_BYTES;
        if is_full { self.end_group() } else { Ok(()) }
    }

    /// Returns the number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    fn end_group(&mut self) -> Result<(), LakeError> {
        if self.columns.first().is_none_or(ColumnBuffer::is_empty) {
            return Ok(());
        }
        let mut group = self.writer.next_row_group().map_err(convert)?;
        for (buffer, lake_type) in self.columns.iter_mut().zip(&self.types) {
            let Some(mut column) = group.next_column().map_err(convert)? else { break };
            match lake_type {
                LakeType::Integer | LakeType::Time | LakeType::Money => {
                    column.typed::<Int64Type>().write_batch(&buffer.integers, Some(&buffer.levels), None)
                }
                LakeType::Boolean => {
                    column.typed::<BoolType>().write_batch(&buffer.booleans, Some(&buffer.levels), None)
                }
                LakeType::Text => {
                    let texts = buffer.take_texts();
                    column.typed::<ByteArrayType>().write_batch(&texts, Some(&buffer.levels), None)
                }
            }
            .map_err(convert)?;
            column.close().map_err(convert)?;
            buffer.clear();
        }
        group.close().map_err(convert)?;
        Ok(())
    }

    /// Writes the remaining rows and the footer, and returns the output.
    pub(crate) fn finish(mut self) -> Result<W, LakeError> {
        self.end_group()?;
        self.writer.into_inner().map_err(convert)
    }
}
