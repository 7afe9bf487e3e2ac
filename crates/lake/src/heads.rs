//! Heads: which push has the rows of a session file.

use std::collections::HashMap;

use crate::LakeError;
use crate::column_buffer::CellValue;
use crate::folder::LakeFolder;
use crate::object_reader::ObjectReader;
use crate::schema::LakeTable;

/// A row of the table `sources`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceHead {
    /// The id of the developer.
    pub dev_id: String,
    /// The id of the session file.
    pub source_id: String,
    /// The id of the push that has its rows.
    pub push_id: String,
    /// The privacy level.
    pub level: i64,
    /// The time of the scan in milliseconds. It grows with every push of a machine.
    pub generation: i64,
    /// 0 if pushed, greater if compacted.
    pub revision: i64,
    /// Whether the developer removed the file from the lake.
    pub deleted: bool,
    /// A key that the copies of the file on all machines share.
    pub file_key: String,
    /// The id of the session.
    pub session_id: String,
    /// Whether the file is of a subagent.
    pub is_agent: bool,
    /// The size of the file in bytes.
    pub bytes: i64,
    /// The number of its rows in all other tables.
    pub row_count: i64,
    /// A hash that changes with the rows of the file.
    pub mark: String,
    /// The version of the program that wrote the rows.
    pub rethread_version: String,
    /// The version of the schema.
    pub schema_version: i64,
    /// The origin of the prices.
    pub prices: String,
    /// The time of the push in milliseconds.
    pub pushed_at: i64,
}

impl SourceHead {
    /// Returns the values in the order of the columns.
    pub(crate) fn values(&self) -> [CellValue<'_>; 17] {
        [
            CellValue::Text(&self.dev_id),
            CellValue::Text(&self.source_id),
            CellValue::Text(&self.push_id),
            CellValue::Integer(self.level),
            CellValue::Integer(self.generation),
            CellValue::Integer(self.revision),
            CellValue::Boolean(self.deleted),
            CellValue::Text(&self.file_key),
            CellValue::Text(&self.session_id),
            CellValue::Boolean(self.is_agent),
            CellValue::Integer(self.bytes),
            CellValue::Integer(self.row_count),
            CellValue::Text(&self.mark),
            CellValue::Text(&self.rethread_version),
            CellValue::Integer(self.schema_version),
            CellValue::Text(&self.prices),
            CellValue::Integer(self.pushed_at),
        ]
    }

    /// Returns the key by which the heads of a source are ordered. The greatest one counts.
    pub(crate) fn rank(&self) -> (i64, i64, &str) {
        (self.generation, self.revision, &self.push_id)
    }
}

/// Reads all heads of a lake.
pub fn read_heads(folder: &LakeFolder) -> Result<Vec<SourceHead>, LakeError> {
    let mut heads = Vec::new();
    for object in folder.list_objects(LakeTable::Sources)? {
        heads.extend(read_object_heads(&object.path)?);
    }
    Ok(heads)
}

/// Reads the heads of an object.
pub(crate) fn read_object_heads(path: &std::path::Path) -> Result<Vec<SourceHead>, LakeError> {
    let mut heads = Vec::new();
    ObjectReader::open(LakeTable::Sources, path)?.read(
        |_| true,
        |group| {
            for row in 0..group.rows() {
                let text = |name: &str| group.column(name).map_or("", |column| column.text(row)).to_owned();
                let number = |name: &str| group.column(name).map_or(0, |column| column.integer(row));
                heads.push(SourceHead {
                    dev_id: text("dev_id"),
                    source_id: text("source_id"),
                    push_id: text("push_id"),
                    level: number("level"),
                    generation: number("generation"),
                    revision: number("revision"),
                    deleted: number("deleted") != 0,
                    file_key: text("file_key"),
                    session_id: text("session_id"),
                    is_agent: number("is_agent") != 0,
                    bytes: number("bytes"),
                    row_count: number("row_count"),
                    mark: text("mark"),
                    rethread_version: text("rethread_version"),
                    schema_version: number("schema_version"),
                    prices: text("prices"),
                    pushed_at: number("pushed_at"),
                });
            }
            Ok(())
        },
    )?;
    Ok(heads)
}

/// Selects the head that counts for each source, deleted ones included.
pub fn select_current_heads(heads: Vec<SourceHead>) -> HashMap<String, SourceHead> {
    let mut current: HashMap<String, SourceHead> = HashMap::new();
    for head in heads {
        match current.get_mut(&head.source_id) {
            Some(best) if best.rank() >= head.rank() => {}
            Some(best) => *best = head,
            None => {
                current.insert(head.source_id.clone(), head);
            }
        }
    }
    current
}
