//! The tables and columns of a lake, version 1. Columns are only added, at the end.

use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as PhysicalType};
use parquet::schema::types::{Type, TypePtr};
use rethread_engine::ops::tables::{ColumnPrivacy, ColumnType, TableKind};

use crate::LakeError;

/// The version of the schema. Another version gets another folder.
pub const SCHEMA_VERSION: u64 = 1;

/// The number of digits of an amount, and of those after the point.
pub(crate) const MONEY_DIGITS: (i32, i32) = (18, 12);

/// A table of a lake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LakeTable {
    /// The rows of a table of the engine.
    Data(TableKind),
    /// The heads: which push has the rows of a session file.
    Sources,
}

/// The type of a column. Every column may contain null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LakeType {
    /// A whole number of 64 bits.
    Integer,
    /// True or false.
    Boolean,
    /// A time in milliseconds, UTC.
    Time,
    /// An amount of dollars with 12 decimals.
    Money,
    /// A text.
    Text,
}

/// The origin of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnOrigin {
    /// The id of the developer.
    Dev,
    /// The key of the id of the file.
    Source,
    /// The id of the push.
    Push,
    /// The privacy level.
    Level,
    /// The column of the engine's table at this index.
    Row(usize),
    /// The key of the column at this index, in a domain.
    Key(usize, &'static str),
    /// The start of the key of the first of two columns, or of the second one if the first is null.
    KeyOr(usize, usize, &'static str),
    /// Whether the column at this index has a value.
    IsPresent(usize),
    /// The line of the parent, if it is an earlier line of the file.
    ParentLine,
    /// The column at this index, if the parent is no earlier line of the file.
    OtherParent(usize),
    /// A value of a [`SourceHead`](crate::SourceHead).
    Head,
}

/// A column of a lake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LakeColumn {
    /// The name.
    pub name: &'static str,
    /// The type of its values.
    pub lake_type: LakeType,
    /// The description, one sentence.
    pub description: &'static str,
    pub(crate) origin: ColumnOrigin,
}

/// The domains of keys.
pub(crate) const ID_DOMAIN: &str = "id";
pub(crate) const PROJECT_DOMAIN: &str = "project";
pub(crate) const BRANCH_DOMAIN: &str = "branch";
pub(crate) const PATH_DOMAIN: &str = "path";

/// Names with a key column: the column, the key column, the domain, and the description.
const KEYED_NAMES: &[(&str, &str, &str, &str)] = &[
    ("project", "project_key", PROJECT_DOMAIN, "The key of the project."),
    ("git_branch", "git_branch_key", BRANCH_DOMAIN, "The key of the git branch."),
    ("cwd", "cwd_key", PROJECT_DOMAIN, "The key of the working folder, equal to that of a project."),
];

/// The columns of the heads.
const HEAD_COLUMNS: &[(&str, LakeType, &str)] = &[
    ("dev_id", LakeType::Text, "The id of the developer."),
    ("source_id", LakeType::Text, "The id of the session file."),
    ("push_id", LakeType::Text, "The id of the push that has its rows."),
    ("level", LakeType::Integer, "The privacy level: 1 metrics, 2 names, 3 text."),
    (
        "generation",
        LakeType::Integer,
        "The time of the scan in milliseconds; the head with the greatest one counts.",
    ),
    (
        "revision",
        LakeType::Integer,
        "0 if pushed, greater if compacted; of equal generations the greatest one counts.",
    ),
    ("deleted", LakeType::Boolean, "Whether the developer removed the file from the lake."),
    ("file_key", LakeType::Text, "A key that the copies of the file on all machines share."),
    ("session_id", LakeType::Text, "The id of the session."),
    ("is_agent", LakeType::Boolean, "Whether the file is of a subagent."),
    ("bytes", LakeType::Integer, "The size of the file in bytes."),
    ("row_count", LakeType::Integer, "The number of its rows in all other tables."),
    ("mark", LakeType::Text, "A hash that changes with the rows of the file."),
    ("rethread_version", LakeType::Text, "The version of the program that wrote the rows."),
    ("schema_version", LakeType::Integer, "The version of the schema."),
    ("prices", LakeType::Text, "The origin of the prices."),
    ("pushed_at", LakeType::Time, "The time of the push."),
];

impl LakeTable {
    /// Returns all tables. The heads are the last one, as in a push.
    pub fn all() -> Vec<LakeTable> {
        TableKind::ALL.iter().map(|kind| LakeTable::Data(*kind)).chain([LakeTable::Sources]).collect()
    }

    /// Returns the name of the table and of its folder.
    pub fn name(self) -> &'static str {
        match self {
            LakeTable::Data(kind) => kind.name(),
            LakeTable::Sources => "sources",
        }
    }

    /// Returns the folder of the table, relative to the lake. Text is apart, so that rights can be given by folder.
    pub fn folder(self) -> String {
        let top = if self == LakeTable::Data(TableKind::Texts) { "text/v1" } else { "v1" };
        format!("{top}/{}", self.name())
    }

    /// Returns the columns.
    pub fn columns(self) -> Vec<LakeColumn> {
        let kind = match self {
            LakeTable::Sources => {
                let column = |&(name, lake_type, description): &(_, _, _)| LakeColumn {
                    name,
                    lake_type,
                    description,
                    origin: ColumnOrigin::Head,
                };
                return HEAD_COLUMNS.iter().map(column).collect();
            }
            LakeTable::Data(kind) => kind,
        };
        let own = [
            ("dev_id", LakeType::Text, "The id of the developer.", ColumnOrigin::Dev),
            ("source_id", LakeType::Text, "The id of the session file.", ColumnOrigin::Source),
            ("push_id", LakeType::Text, "The id of the push.", ColumnOrigin::Push),
            (
                "level",
                LakeType::Integer,
                "The privacy level: 1 metrics, 2 names, 3 text.",
                ColumnOrigin::Level,
            ),
        ];
        let mut columns: Vec<LakeColumn> = own
            .into_iter()
            .map(|(name, lake_type, description, origin)| LakeColumn { name, lake_type, description, origin })
            .collect();
        for (idx, column) in kind.columns().iter().enumerate() {
            let is_text = column.privacy == ColumnPrivacy::Text && kind != TableKind::Texts;
            // The calls of a response are rows of `tool_calls`.
            let is_list = kind == TableKind::Responses && column.name == "tools";
            if column.name == "source_id" || is_text || is_list {
                continue;
            }
            // Ids are a third of all bytes, and most parents are the line before.
            let is_parent = kind == TableKind::Entries && column.name == "parent_uuid";
            columns.push(LakeColumn {
                name: if column.name == "cost" { "cost_usd" } else { column.name },
                lake_type: match column.column_type {
                    ColumnType::Integer => LakeType::Integer,
                    ColumnType::Boolean => LakeType::Boolean,
                    ColumnType::Time => LakeType::Time,
                    ColumnType::Money => LakeType::Money,
                    ColumnType::Text => LakeType::Text,
                },
                description: if is_parent {
                    "The uuid of the parent, if `parent_line` is null."
                } else {
                    column.description
                },
                origin: if is_parent { ColumnOrigin::OtherParent(idx) } else { ColumnOrigin::Row(idx) },
            });
        }
        let mut add = |name, lake_type, description, origin| {
            columns.push(LakeColumn { name, lake_type, description, origin });
        };
        let find = |name: &str| kind.columns().iter().position(|column| column.name == name);
        for (name, key_name, domain, description) in KEYED_NAMES {
            if let Some(idx) = find(name) {
                add(*key_name, LakeType::Text, *description, ColumnOrigin::Key(idx, domain));
            }
        }
        let (call, path) = (find("call_id"), find("path"));
        match kind {
            TableKind::Entries => {
                let description = "The line of the parent, if it is an earlier line of the file.";
                add("parent_line", LakeType::Integer, description, ColumnOrigin::ParentLine);
            }
            TableKind::Responses => {
                if let (Some(message), Some(response)) = (find("message_id"), find("response_id")) {
                    let origin = ColumnOrigin::KeyOr(message, response, ID_DOMAIN);
                    add("message_key", LakeType::Text, "The key of the message.", origin);
                }
                if let Some(request) = find("request_id") {
                    let description = "Whether the file has the id of the API request.";
                    add("has_request", LakeType::Boolean, description, ColumnOrigin::IsPresent(request));
                }
            }
            TableKind::ToolCalls => {
                if let Some(call) = call {
                    let origin = ColumnOrigin::Key(call, ID_DOMAIN);
                    add("call_key", LakeType::Text, "The key of the call.", origin);
                }
            }
            TableKind::Files => {
                if let Some(path) = path {
                    let origin = ColumnOrigin::Key(path, PATH_DOMAIN);
                    add("path_key", LakeType::Text, "The key of the path.", origin);
                }
            }
            _ => {}
        }
        columns
    }

    /// Returns the Parquet schema.
    pub(crate) fn parquet_schema(self) -> Result<TypePtr, LakeError> {
        let encode = |error: parquet::errors::ParquetError| LakeError::Encode(error.to_string());
        let mut fields = Vec::new();
        for column in self.columns() {
            let (physical, logical) = match column.lake_type {
                LakeType::Integer => (PhysicalType::INT64, None),
                LakeType::Boolean => (PhysicalType::BOOLEAN, None),
                LakeType::Time => (PhysicalType::INT64, Some(LogicalType::timestamp(true, TimeUnit::MILLIS))),
                LakeType::Money => {
                    let (digits, decimals) = MONEY_DIGITS;
                    (PhysicalType::INT64, Some(LogicalType::decimal(decimals, digits)))
                }
                LakeType::Text => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
            };
            let mut builder = Type::primitive_type_builder(column.name, physical)
                .with_repetition(Repetition::OPTIONAL)
                .with_logical_type(logical);
            if column.lake_type == LakeType::Money {
                builder = builder.with_precision(MONEY_DIGITS.0).with_scale(MONEY_DIGITS.1);
            }
            fields.push(Arc::new(builder.build().map_err(encode)?));
        }
        let schema = Type::group_type_builder("row").with_fields(fields).build().map_err(encode)?;
        Ok(Arc::new(schema))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn only_texts_has_text_of_conversations() {
        for kind in TableKind::ALL {
            for column in LakeTable::Data(*kind).columns() {
                let ColumnOrigin::Row(idx) = column.origin else { continue };
                let is_text = kind.columns()[idx].privacy == ColumnPrivacy::Text;
                assert!(!is_text || *kind == TableKind::Texts, "{kind:?}.{}", column.name);
            }
        }
    }

    #[test]
    fn names_of_columns_are_unique_and_described() {
        for table in LakeTable::all() {
            let columns = table.columns();
            let names: BTreeSet<_> = columns.iter().map(|column| column.name).collect();
            assert_eq!(names.len(), columns.len(), "{table:?}");
            assert!(columns.iter().all(|column| column.description.ends_with('.')), "{table:?}");
            assert!(table.parquet_schema().is_ok());
        }
    }
}
