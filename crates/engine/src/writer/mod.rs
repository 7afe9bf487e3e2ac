//! The only pen: everything that rethread changes on disk, it changes here (**one-pen**).
//!
//! ```text
//! Plan ─▶ lock ─▶ recover ─▶ still? live? ─▶ backup ─▶ journal: begun ─▶ drafts ─▶ ready ─▶ write ─▶ check ─▶ done
//!                                                            └──────── any failure or crash ──▶ as it was before
//! ```
//!
//! The state folder holds `journal.jsonl`, `chunks` and `lists` (backups), `links` (backups of large files that only
//! grow), `trash` (what was removed) and `lock`. Backup and journal are durable before anything else changes
//! (**always-a-way-back**), a file is never cut short in place, and what others append meanwhile is carried over.
#![expect(clippy::disallowed_methods, reason = "one-pen: this is the pen")]

mod backup;
mod chunks;
mod commit;
mod file_op;
mod files;
mod journal;
mod lock;
mod plan;
mod precondition;
mod prune;
mod record;
mod replace;
mod rollback;
mod session_writer;
#[cfg(test)]
mod tests;
mod transaction;
mod trash;

pub(crate) use self::backup::BackupStore;
pub(crate) use self::journal::{Journal, Op, OpState};
pub(crate) use self::plan::{Content, FileOp, Plan};
pub(crate) use self::precondition::drift;
pub(crate) use self::record::FileState;
pub use self::record::OpId;
pub use self::session_writer::SessionWriter;
