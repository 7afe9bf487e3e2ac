//! The values of a column of a row group.

use parquet::data_type::ByteArray;

use crate::schema::LakeType;

/// A value of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CellValue<'v> {
    /// No value.
    Null,
    /// A whole number, a time in milliseconds, or an amount of 10^-12 dollars.
    Integer(i64),
    /// True or false.
    Boolean(bool),
    /// A text.
    Text(&'v str),
}

/// The values of a column.
#[derive(Debug, Clone)]
pub struct ColumnBuffer {
    lake_type: LakeType,
    /// 1 for each value, 0 for each null.
    pub(crate) levels: Vec<i16>,
    /// The index of each row among the values that are not null.
    slots: Vec<u32>,
    pub(crate) integers: Vec<i64>,
    pub(crate) booleans: Vec<bool>,
    text: Vec<u8>,
    text_ends: Vec<usize>,
}

impl ColumnBuffer {
    /// Creates an empty column.
    pub(crate) fn new(lake_type: LakeType) -> ColumnBuffer {
        ColumnBuffer {
            lake_type,
            levels: Vec::new(),
            slots: Vec::new(),
            integers: Vec::new(),
            booleans: Vec::new(),
            text: Vec::new(),
            text_ends: Vec::new(),
        }
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.levels.len()
    }

    /// Returns `true` if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// Returns the number of bytes of text.
    pub(crate) fn text_len(&self) -> usize {
        self.text.len()
    }

    /// Appends a value. A value of another type than the column becomes null.
    pub(crate) fn push(&mut self, value: CellValue<'_>) {
        let slot = match (self.lake_type, value) {
            (LakeType::Integer | LakeType::Time | LakeType::Money, CellValue::Integer(number)) => {
                self.integers.push(number);
                self.integers.len()
            }
            (LakeType::Boolean, CellValue::Boolean(value)) => {
                self.booleans.push(value);
                self.booleans.len()
            }
            (LakeType::Text, CellValue::Text(text)) => {
                self.text.extend_from_slice(text.as_bytes());
                self.text_ends.push(self.text.len());
                self.text_ends.len()
            }
            _ => 0,
        };
        self.levels.push(i16::from(slot > 0));
        self.slots.push(slot.saturating_sub(1) as u32);
    }

    /// Returns the value of a row.
    pub fn value(&self, row: usize) -> CellValue<'_> {
        if self.levels[row] == 0 {
            return CellValue::Null;
        }
        let slot = self.slots[row] as usize;
        match self.lake_type {
            LakeType::Integer | LakeType::Time | LakeType::Money => CellValue::Integer(self.integers[slot]),
            LakeType::Boolean => CellValue::Boolean(self.booleans[slot]),
            LakeType::Text => {
                let start = slot.checked_sub(1).map_or(0, |before| self.text_ends[before]);
                let bytes = &self.text[start..self.text_ends[slot]];
                CellValue::Text(std::str::from_utf8(bytes).unwrap_or_default())
            }
        }
    }

    /// Returns the text of a row. Returns an empty text for null.
    pub fn text(&self, row: usize) -> &str {
        match self.value(row) {
            CellValue::Text(text) => text,
            _ => "",
        }
    }

    /// Returns the number of a row. Returns 0 for null.
    pub fn integer(&self, row: usize) -> i64 {
        match self.value(row) {
            CellValue::Integer(number) => number,
            CellValue::Boolean(value) => value.into(),
            _ => 0,
        }
    }

    /// Takes the texts out, as the Parquet writer needs them.
    pub(crate) fn take_texts(&mut self) -> Vec<ByteArray> {
        let all = ByteArray::from(std::mem::take(&mut self.text));
        let mut start = 0;
        let slice = |end: usize| {
            let text = all.slice(start, end - start);
            start = end;
            text
        };
        std::mem::take(&mut self.text_ends).into_iter().map(slice).collect()
    }

    /// Removes all rows.
    pub(crate) fn clear(&mut self) {
        self.levels.clear();
        self.slots.clear();
        self.integers.clear();
        self.booleans.clear();
        self.text.clear();
        self.text_ends.clear();
    }
}
