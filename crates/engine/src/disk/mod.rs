//! Session files on disk: finding them, reading them once, reading single lines again. Reads only.

mod find;
mod live;
mod open;
mod scan;

pub use find::Roots;
pub(crate) use find::{Role, SessionFile, find};
pub(crate) use live::live_sessions;
pub(crate) use open::read_side;
pub(crate) use scan::{Lines, Seen, scan, scan_head, tail_time};
