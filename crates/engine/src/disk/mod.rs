//! Session files on disk: finding them, reading them once, reading single lines again. Reads only.

mod dir_cache;
mod documents;
mod find;
mod fingerprint;
mod live;
mod open;
mod scan;
mod session_files;
mod tail_fingerprint;
mod walk;

pub(crate) use dir_cache::{DirCache, Folder};
pub(crate) use documents::{FileOwner, last_line_end, read_docs, read_text};
pub use find::Roots;
pub(crate) use find::{FileRole, SessionFile, files_below, find, find_all, is_session_id, size_of};
pub(crate) use fingerprint::FileFingerprint;
pub(crate) use live::{client_home, live_sessions, writer_of};
pub(crate) use open::{open, read_side};
pub(crate) use scan::{LineReader, ScanEvent, last_message_time, scan, scan_head, scan_part};
pub(crate) use session_files::{agents_beside, find_session_files};
pub(crate) use tail_fingerprint::{TailFingerprint, tail_at};
