//! Finds, reads and changes Claude Code sessions. The `rethread` binary is built on this library.
//!
//! # Getting started
//!
//! [`Store`] is the handle for the sessions below a folder. Its methods list, read, search, count and change them.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let project = folder.path().join("projects/-home-ada-shop");
//! # std::fs::create_dir_all(&project)?;
//! # let lines = [
//! #     r#"{"type":"user","uuid":"u1","parentUuid":null,"timestamp":"2026-01-31T10:00:00.000Z","message":{"role":"user","content":"add a test"}}"#,
//! #     r#"{"type":"assistant","uuid":"a1","parentUuid":"u1","timestamp":"2026-01-31T10:00:05.000Z","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"done"}]}}"#,
//! # ];
//! # std::fs::write(project.join("0b1c5d3e-6a7f-4e21-9c55-1d2e3f405162.jsonl"), lines.join("\n") + "\n")?;
//! use rethread_engine::Store;
//! use rethread_engine::core::query::Query;
//! use rethread_engine::ops::list::SessionFilter;
//!
//! let store = Store::new(folder.path()); // usually `~/.claude`
//! for session in &store.sessions(&SessionFilter::default()).rows {
//!     println!("{} {}", session.id, session.title.text);
//! }
//!
//! let path = store.find_session("last")?;
//! for turn in store.conversation(&path)? {
//!     let turn = turn?.turn;
//!     assert_eq!(turn.prompt.map(|prompt| prompt.text).as_deref(), Some("add a test"));
//! }
//!
//! let query = Query::parse("test role:user").map_err(|error| error.message)?;
//! assert_eq!(store.search(query).count(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! The folder `examples` has complete programs: list sessions, read a conversation, search, dry-run a goto, total usage.
//!
//! - [`ops`] has one module per operation, with a request and a report type. `Store` calls these.
//! - [`records`] gives typed access to every line of a session file.
//! - [`core`] is `rethread-core`: entries, trees, turns, the resume simulator.
//! - Methods that change files take a [`SessionWriter`]. Every change is planned, backed up, journalled and verified, and
//!   can be undone. A `dry_run` field of the request stops before the first write.
//! - Damaged data is never an error. Files that cannot be read are listed in the `failures` field of a report.
//!
//! # Stability
//!
//! [`Store`], [`Error`], [`records`], and the requests and reports in [`ops`] are the public API. They change only in
//! releases that announce it. Reports may gain fields in any release: read them, but do not construct them.
//!
//! # Structure
//!
//! ```text
//! plain_file → archive_reader → disk → (writer, cache) → archive → search_index → (session, records) → edit → ops → store
//! ```
//!
//! A module depends only on modules to its left. `disk` reads session files, `writer` is the only module that changes
//! them, and only `cache` and `search_index` access the cache directory. These modules are private, so a frontend cannot
//! bypass an operation. The library uses no environment variables, no home folder and no terminal: all input is passed as
//! arguments.

mod archive;
mod archive_reader;
mod cache;
mod disk;
mod edit;
mod error;
pub mod ops;
mod plain_file;
pub mod records;
mod search_index;
mod session;
mod store;
mod writer;

pub use cache::{CacheDir, CacheWarning};
pub use disk::{
    ArchiveScope, FileLease, KeptFilter, ProcessTable, Roots, SystemProcesses, UnknownProcesses,
    WorkProgress, set_work_observer,
};
pub use error::{Error, FileChange, LiveEvidence, describe_io_error};
pub use rethread_core as core;
pub use search_index::Progress;
pub use store::Store;
#[cfg(debug_assertions)]
pub use writer::inject_fault;
pub use writer::{OpId, PrivateFile, SessionWriter};
