//! Typed access to every record of one session file, streamed line by line.
//!
//! A *record* is one line of the file. [`SessionRecords`] gives an iterator over all records and one per record type.
//! Only one line is in memory at a time. Damaged lines are skipped; everything that can be recovered from them is
//! returned.

mod iter;
mod types;

use std::path::{Path, PathBuf};

use rethread_core::entry::Kind;

pub use self::iter::RecordIter;
pub use self::types::{
    AssistantRecord, BackedUpFile, ContentBlock, FileHistoryRecord, OtherRecord, PrLinkRecord,
    ProgressRecord, QueueOperationRecord, RecordHeader, SessionRecord, SummaryRecord, SystemRecord,
    TitleOrigin, TitleRecord, UserRecord,
};
use crate::Error;
use crate::disk::open_content;

/// The records of one session file.
///
/// Every method reads the file again, so the iterators are independent of each other.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("session.jsonl");
/// # std::fs::write(&path, r#"{"type":"user","uuid":"u1","message":{"role":"user","content":"tidy the shed"}}"#)?;
/// use rethread_engine::records::SessionRecords;
///
/// let records = SessionRecords::open(&path)?;
/// for user in records.users() {
///     let user = user?;
///     println!("line {}: {}", user.header.line, user.text());
/// }
/// assert_eq!(records.users().count(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct SessionRecords {
    path: PathBuf,
}

/// Defines an accessor that returns the records of one variant of [`SessionRecord`].
macro_rules! accessor {
    ($(#[$doc:meta])* $name:ident: $record:ident from $variant:ident, [$($kind:ident),+]) => {
        $(#[$doc])*
        pub fn $name(&self) -> impl Iterator<Item = Result<$record, Error>> + use<> {
            self.of_kinds(&[$(Kind::$kind),+]).filter_map(|record| match record {
                Ok(SessionRecord::$variant(record)) => Some(Ok(record)),
                Ok(_) => None,
                Err(error) => Some(Err(error)),
            })
        }
    };
}

impl SessionRecords {
    /// Opens a session file, or the file of a subagent. Returns an error if it cannot be opened or is not a regular file.
    pub fn open(path: &Path) -> Result<SessionRecords, Error> {
        open_content(path).map_err(Error::reading(path))?;
        Ok(SessionRecords { path: path.to_owned() })
    }

    /// Returns the path of the session file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns an iterator over all records, in file order.
    pub fn all(&self) -> RecordIter {
        RecordIter::open(&self.path, None)
    }

    /// Returns an iterator over the records of the types `kinds`, in file order. Other records are skipped.
    pub fn of_kinds(&self, kinds: &[Kind]) -> RecordIter {
        RecordIter::open(&self.path, Some(kinds.to_vec()))
    }

    accessor! {
        /// Returns the `user` records: prompts and tool results.
        users: UserRecord from User, [User]
    }

    accessor! {
        /// Returns the `assistant` records. A response is usually spread over several records.
        assistants: AssistantRecord from Assistant, [Assistant]
    }

    accessor! {
        /// Returns the `progress` records of running tools and hooks.
        progress: ProgressRecord from Progress, [Progress]
    }

    accessor! {
        /// Returns the `system` records.
        system: SystemRecord from System, [System]
    }

    accessor! {
        /// Returns the `summary` records, which give titles to sessions.
        summaries: SummaryRecord from Summary, [Summary]
    }

    accessor! {
        /// Returns the `file-history-snapshot` and `file-history-delta` records.
        file_snapshots: FileHistoryRecord from FileHistory, [FileHistorySnapshot, FileHistoryDelta]
    }

    accessor! {
        /// Returns the `custom-title` and `ai-title` records.
        titles: TitleRecord from Title, [CustomTitle, AiTitle]
    }

    accessor! {
        /// Returns the `queue-operation` records.
        queue_operations: QueueOperationRecord from QueueOperation, [QueueOperation]
    }

    accessor! {
        /// Returns the `pr-link` records.
        pr_links: PrLinkRecord from PrLink, [PrLink]
    }
}
