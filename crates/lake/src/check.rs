//! Checks that every object can be read and that heads and rows agree.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::LakeError;
use crate::folder::LakeFolder;
use crate::heads::{read_heads, select_current_heads};
use crate::object_reader::ObjectReader;
use crate::schema::LakeTable;

/// A fault of a lake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// An object cannot be read.
    Unreadable {
        /// The object.
        path: PathBuf,
        /// The cause.
        message: String,
    },
    /// A head names more or fewer rows than there are: objects are missing or were copied twice.
    RowCount {
        /// The id of the session file.
        source_id: String,
        /// The id of the push.
        push_id: String,
        /// The number of rows that the head states.
        expected: u64,
        /// The number of rows in the objects.
        found: u64,
    },
}

/// The result of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// The number of objects that were read.
    pub objects: usize,
    /// The number of rows in them.
    pub rows: u64,
    /// The number of heads that count.
    pub heads: usize,
    /// The number of rows that no head names: superseded, or of an interrupted push.
    pub unnamed_rows: u64,
    /// The faults.
    pub findings: Vec<Finding>,
}

/// Reads every object of a lake.
pub fn check_lake(folder: &LakeFolder) -> Result<CheckReport, LakeError> {
    let mut report = CheckReport::default();
    let mut current = select_current_heads(read_heads(folder)?);
    current.retain(|_, head| !head.deleted);
    report.heads = current.len();
    let mut found: HashMap<&str, u64> = HashMap::new();
    for table in LakeTable::all() {
        for object in folder.list_objects(table)? {
            report.objects += 1;
            let read = ObjectReader::open(table, &object.path).and_then(|reader| {
                reader.read(
                    |_| true,
                    |group| {
                        report.rows += group.rows() as u64;
                        let (Some(sources), Some(pushes)) =
                            (group.column("source_id"), group.column("push_id"))
                        else {
                            return Ok(());
                        };
                        for row in (0..group.rows()).filter(|_| table != LakeTable::Sources) {
                            match current.get_key_value(sources.text(row)) {
                                Some((source, head)) if head.push_id == pushes.text(row) => {
                                    *found.entry(source).or_default() += 1;
                                }
                                _ => report.unnamed_rows += 1,
                            }
                        }
                        Ok(())
                    },
                )
            });
            match read {
                Ok(()) => {}
                Err(LakeError::BadObject { path, message }) => {
                    report.findings.push(Finding::Unreadable { path, message });
                }
                Err(error) => return Err(error),
            }
        }
    }
    for (source_id, head) in &current {
        let expected = u64::try_from(head.row_count).unwrap_or_default();
        let found = found.get(source_id.as_str()).copied().unwrap_or_default();
        if expected != found {
            report.findings.push(Finding::RowCount {
                source_id: source_id.clone(),
                push_id: head.push_id.clone(),
                expected,
                found,
            });
        }
    }
    report.findings.sort_by_key(|finding| match finding {
        Finding::Unreadable { path, .. } => path.display().to_string(),
        Finding::RowCount { source_id, .. } => source_id.clone(),
    });
    Ok(report)
}
