//! The only module that changes session files (**single-writer**).
//!
//! ```text
//! Plan ─▶ lock ─▶ recover ─▶ unchanged? live? ─▶ backup ─▶ journal: begun ─▶ drafts ─▶ ready ─▶ apply ─▶ verify ─▶ done
//!                                                                  └─────── any failure or crash ──▶ rolled back
//! ```
//!
//! The state directory contains `journal.jsonl`, `chunks` and `lists` (backups), `links` (backups of large files that are
//! only appended to), `trash` (removed files), `lock`, and private files of frontends, such as the key of the web server in
//! `web`. Backup and journal are durable before anything else changes (**always-undoable**). A file is never truncated in
//! place, and bytes that other processes append meanwhile are kept.
#![expect(clippy::disallowed_methods, reason = "single-writer: only this module changes session files")]

mod backup;
mod change_error;
mod chunker;
mod chunks;
mod commit;
mod displaced;
mod fault;
mod file_op;
mod files;
mod fs;
mod journal;
mod lines;
mod lock;
mod plan;
mod precondition;
mod private_file;
mod prune;
mod record;
mod replace;
mod rollback;
mod session_writer;
mod store_file;
#[cfg(test)]
mod tests;
mod transaction;
mod trash;

pub(crate) use self::backup::BackupStore;
pub(crate) use self::chunker::{ChunkSizes, Chunker};
#[cfg(debug_assertions)]
pub use self::fault::inject_fault;
pub use self::journal::OpStatus;
pub(crate) use self::journal::{Journal, Op};
pub(crate) use self::lock::StateLock;
pub(crate) use self::plan::{ContentWriter, FileOp, NewContent, Plan};
pub(crate) use self::precondition::find_change;
pub use self::private_file::PrivateFile;
pub(crate) use self::record::{ChangeRecord, FileState};
pub use self::record::{FileOpKind, OpId};
pub use self::session_writer::SessionWriter;
pub(crate) use self::store_file::{NewFile, create_store_dir, delete_file, replace_file, replace_file_as};
pub(crate) use self::trash::ensure_undamaged;
