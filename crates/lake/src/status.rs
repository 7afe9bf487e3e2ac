//! The content of a lake.

use std::collections::BTreeSet;

use crate::LakeError;
use crate::folder::LakeFolder;
use crate::heads::{read_heads, select_current_heads};
use crate::schema::LakeTable;

/// The content of a lake.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LakeStatus {
    /// The number of developers.
    pub developers: usize,
    /// The number of session files with rows.
    pub sources: usize,
    /// The number of session files with rows that this developer pushed.
    pub own_sources: usize,
    /// The number of rows that heads name.
    pub rows: u64,
    /// The time of the last push in milliseconds. `None` if there is none.
    pub last_push: Option<i64>,
    /// The number of objects and their size in bytes, by table.
    pub tables: Vec<(&'static str, usize, u64)>,
}

/// Reads what a lake contains.
pub fn read_status(folder: &LakeFolder, dev_id: Option<&str>) -> Result<LakeStatus, LakeError> {
    let mut current = select_current_heads(read_heads(folder)?);
    current.retain(|_, head| !head.deleted);
    let developers: BTreeSet<&str> = current.values().map(|head| head.dev_id.as_str()).collect();
    let mut status = LakeStatus {
        developers: developers.len(),
        sources: current.len(),
        own_sources: current.values().filter(|head| Some(head.dev_id.as_str()) == dev_id).count(),
        rows: current.values().map(|head| u64::try_from(head.row_count).unwrap_or_default()).sum(),
        last_push: current.values().map(|head| head.pushed_at).max(),
        tables: Vec::new(),
    };
    for table in LakeTable::all() {
        let objects = folder.list_objects(table)?;
        let bytes = objects.iter().map(|object| object.bytes).sum();
        status.tables.push((table.name(), objects.len(), bytes));
    }
    Ok(status)
}
