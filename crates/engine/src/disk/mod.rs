//! Session files on disk: finding them, reading them once, reading single lines again. Reads only.

mod cards;
mod family;
mod find;
mod folder;
mod live;
mod mark;
mod open;
mod scan;
mod stamp;
mod walk;

pub(crate) use cards::{FileOwner, last_line_end, read_docs, read_text};
pub(crate) use family::{agents_beside, find_session_files};
pub use find::Roots;
pub(crate) use find::{FileRole, SessionFile, files_below, find, find_all, is_session_id, size_of};
pub(crate) use folder::{DirCache, Folder};
pub(crate) use live::{client_home, live_sessions, writer_of};
pub(crate) use mark::FileFingerprint;
pub(crate) use open::{open, read_side};
pub(crate) use scan::{LineReader, ScanEvent, last_message_time, scan, scan_head, scan_part};
pub(crate) use stamp::{TailFingerprint, tail_at};
