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

mod chunks;
mod commit;
mod deed;
mod desk;
mod files;
mod journal;
mod keep;
mod lock;
mod pen;
mod plan;
mod prune;
mod record;
mod rollback;
mod still;
mod swap;
#[cfg(test)]
mod tests;
mod trash;

pub(crate) use self::journal::{Journal, Op, OpState};
pub(crate) use self::keep::BackupStore;
pub use self::pen::SessionWriter;
pub(crate) use self::plan::{Content, FileOp, Plan};
pub(crate) use self::record::FileState;
pub use self::record::OpId;
pub(crate) use self::still::drift;
