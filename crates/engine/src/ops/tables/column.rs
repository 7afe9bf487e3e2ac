//! Columns of tables: their types, and the macro that defines a row type with its columns.

use std::sync::Arc;

use rethread_core::entry::Timestamp;
use rethread_core::usage::Money;

/// The type of the values of a column. Every column may contain [`TableValue::Null`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// A whole number.
    Integer,
    /// True or false.
    Boolean,
    /// A time.
    Time,
    /// An amount of money.
    Money,
    /// A text.
    Text,
}

/// How much a column reveals about the work of its user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ColumnPrivacy {
    /// Numbers, times, random ids and names that the program defines.
    Metrics,
    /// Names that clients, models and tools define. Users can define further ones.
    Vocabulary,
    /// Paths, git branches and other names that the user chose.
    Names,
    /// Text of a conversation.
    Text,
}

/// A column of a table.
#[derive(Debug, Clone, Copy)]
pub struct TableColumn {
    /// The name.
    pub name: &'static str,
    /// The type of its values.
    pub column_type: ColumnType,
    /// How much its values reveal.
    pub privacy: ColumnPrivacy,
    /// The description, one sentence.
    pub description: &'static str,
}

/// A value in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableValue<'r> {
    /// The value is unknown or does not exist.
    Null,
    /// A whole number.
    Integer(i64),
    /// True or false.
    Boolean(bool),
    /// A time.
    Time(Timestamp),
    /// An amount of money.
    Money(Money),
    /// A text.
    Text(&'r str),
}

/// A type whose values can be stored in a column.
pub(super) trait TableField {
    /// The type of the column.
    const COLUMN_TYPE: ColumnType;

    /// Returns the value.
    fn value(&self) -> TableValue<'_>;
}

impl<T: TableField> TableField for Option<T> {
    const COLUMN_TYPE: ColumnType = T::COLUMN_TYPE;

    fn value(&self) -> TableValue<'_> {
        self.as_ref().map_or(TableValue::Null, T::value)
    }
}

/// Implements [`TableField`] for integer types. Values that do not fit in 64 bits with a sign are limited.
macro_rules! integer_fields {
    ($($type:ty),*) => {$(
        impl TableField for $type {
            const COLUMN_TYPE: ColumnType = ColumnType::Integer;

            fn value(&self) -> TableValue<'_> {
                TableValue::Integer(i64::try_from(*self).unwrap_or(i64::MAX))
            }
        }
    )*};
}

integer_fields!(u32, u64, usize);

impl TableField for bool {
    const COLUMN_TYPE: ColumnType = ColumnType::Boolean;

    fn value(&self) -> TableValue<'_> {
        TableValue::Boolean(*self)
    }
}

impl TableField for Timestamp {
    const COLUMN_TYPE: ColumnType = ColumnType::Time;

    fn value(&self) -> TableValue<'_> {
        TableValue::Time(*self)
    }
}

impl TableField for Money {
    const COLUMN_TYPE: ColumnType = ColumnType::Money;

    fn value(&self) -> TableValue<'_> {
        TableValue::Money(*self)
    }
}

/// Implements [`TableField`] for text types.
macro_rules! text_fields {
    ($($type:ty),*) => {$(
        impl TableField for $type {
            const COLUMN_TYPE: ColumnType = ColumnType::Text;

            fn value(&self) -> TableValue<'_> {
                TableValue::Text(self)
            }
        }
    )*};
}

text_fields!(String, Arc<str>, &'static str);

/// Defines a row type. Each field is a column with a description, a [`ColumnPrivacy`], a name and a type.
macro_rules! table_row {
    (
        #[doc = $row_doc:literal]
        $name:ident {
            $(#[doc = $doc:literal] $privacy:ident $field:ident: $type:ty,)*
        }
    ) => {
        #[doc = $row_doc]
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct $name {
            $(#[doc = $doc] pub $field: $type,)*
        }

        impl $name {
            /// The columns, in the order of the values.
            pub const COLUMNS: &'static [TableColumn] = &[
                $(TableColumn {
                    name: stringify!($field),
                    column_type: <$type as TableField>::COLUMN_TYPE,
                    privacy: ColumnPrivacy::$privacy,
                    description: $doc.trim_ascii(),
                },)*
            ];

            /// Returns the values of the row, one for each column.
            pub fn values(&self) -> Vec<TableValue<'_>> {
                vec![$(TableField::value(&self.$field),)*]
            }

            /// Returns the value of the column with an index. Returns null if there is no such column.
            pub fn value(&self, idx: usize) -> TableValue<'_> {
                let mut remaining = idx;
                $(
                    if remaining == 0 {
                        return TableField::value(&self.$field);
                    }
                    remaining -= 1;
                )*
                let _ = remaining;
                TableValue::Null
            }
        }
    };
}

pub(super) use table_row;
