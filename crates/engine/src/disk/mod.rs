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

pub(crate) use cards::{Origin, read_cards, read_text, whole_lines};
pub(crate) use family::{agents_beside, find_family};
pub use find::Roots;
pub(crate) use find::{Role, SessionFile, files_below, find, find_all, is_session_id, size_of};
pub(crate) use folder::{Folder, Folders};
pub(crate) use live::{client_home, live_sessions, writer_of};
pub(crate) use mark::Mark;
pub(crate) use open::{open, read_side};
pub(crate) use scan::{Lines, Seen, scan, scan_head, scan_part, tail_time};
pub(crate) use stamp::{Stamp, tail_at};
