//! Writes the result of a query as one Parquet file.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::LakeError;

/// The values of a column of a result. A row without a value is null.
#[derive(Debug, Clone, PartialEq)]
pub enum ResultColumn {
    /// Whole numbers.
    Integers(Vec<Option<i64>>),
    /// Numbers.
    Reals(Vec<Option<f64>>),
    /// Texts.
    Texts(Vec<Option<String>>),
}

/// Writes columns with these names as one Parquet file. All columns must have the same number of rows, and all names must
/// differ.
pub fn write_result_file<W: Write + Send>(
    names: &[String],
    columns: &[ResultColumn],
    out: W,
) -> Result<(), LakeError> {
    let encode = |error: parquet::errors::ParquetError| LakeError::Encode(error.to_string());
    let mut fields = Vec::with_capacity(names.len());
    for (name, column) in names.iter().zip(columns) {
        let (physical, logical) = match column {
            ResultColumn::Integers(_) => (PhysicalType::INT64, None),
            ResultColumn::Reals(_) => (PhysicalType::DOUBLE, None),
            ResultColumn::Texts(_) => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let builder = Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical);
        fields.push(Arc::new(builder.build().map_err(encode)?));
    }
    let schema = Type::group_type_builder("row").with_fields(fields).build().map_err(encode)?;
    let compression = Compression::ZSTD(ZstdLevel::default());
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut writer =
        SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties)).map_err(encode)?;
    let mut group = writer.next_row_group().map_err(encode)?;
    for column in columns {
        let Some(mut out) = group.next_column().map_err(encode)? else { break };
        match column {
            ResultColumn::Integers(values) => {
                let (values, levels) = split_nulls(values);
                out.typed::<Int64Type>().write_batch(&values, Some(&levels), None)
            }
            ResultColumn::Reals(values) => {
                let (values, levels) = split_nulls(values);
                out.typed::<DoubleType>().write_batch(&values, Some(&levels), None)
            }
            ResultColumn::Texts(values) => {
                let (values, levels) = split_nulls(values);
                let texts: Vec<ByteArray> =
                    values.into_iter().map(|text| ByteArray::from(text.into_bytes())).collect();
                out.typed::<ByteArrayType>().write_batch(&texts, Some(&levels), None)
            }
        }
        .map_err(encode)?;
        out.close().map_err(encode)?;
    }
    group.close().map_err(encode)?;
    writer.close().map_err(encode)?;
    Ok(())
}

/// Returns the values that are not null, and a level for each row: 1 for a value, 0 for null.
fn split_nulls<T: Clone>(values: &[Option<T>]) -> (Vec<T>, Vec<i16>) {
    let levels = values.iter().map(|value| i16::from(value.is_some())).collect();
    (values.iter().flatten().cloned().collect(), levels)
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    use super::{ResultColumn, write_result_file};

    #[test]
    fn values_are_read_back_unchanged() {
        let hostile = "'; DROP \u{1b}[31m \u{202e} \u{0} \"x\",\n";
        let columns = [
            ResultColumn::Integers(vec![Some(i64::MIN), None, Some(7)]),
            ResultColumn::Reals(vec![None, Some(0.1), Some(-1e300)]),
            ResultColumn::Texts(vec![Some(hostile.to_owned()), Some(String::new()), None]),
        ];
        let names = ["n".to_owned(), "a b".to_owned(), hostile.to_owned()];
        let file = tempfile::tempfile().expect("a temporary file");
        write_result_file(&names, &columns, file.try_clone().expect("a handle")).expect("a file");
        let reader = SerializedFileReader::new(file).expect("a Parquet file");
        let rows: Vec<Vec<(String, Field)>> = reader
            .get_row_iter(None)
            .expect("rows")
            .map(|row| {
                let row = row.expect("a row");
                row.get_column_iter().map(|(name, field)| (name.clone(), field.clone())).collect()
            })
            .collect();
        let fields = |idx: usize| rows[idx].iter().map(|(_, field)| field.clone()).collect::<Vec<_>>();
        assert_eq!(fields(0), [Field::Long(i64::MIN), Field::Null, Field::Str(hostile.to_owned())]);
        assert_eq!(fields(1), [Field::Null, Field::Double(0.1), Field::Str(String::new())]);
        assert_eq!(fields(2), [Field::Long(7), Field::Double(-1e300), Field::Null]);
        let read: Vec<&String> = rows[0].iter().map(|(name, _)| name).collect();
        assert_eq!(read, [&names[0], &names[1], &names[2]]);
    }

    #[test]
    fn a_result_without_rows_has_its_columns() {
        let file = tempfile::tempfile().expect("a temporary file");
        let columns = [ResultColumn::Integers(Vec::new())];
        write_result_file(&["n".to_owned()], &columns, file.try_clone().expect("a handle")).expect("a file");
        let reader = SerializedFileReader::new(file).expect("a Parquet file");
        assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
        assert_eq!(reader.metadata().file_metadata().schema().get_fields()[0].name(), "n");
    }
}
