//! Parses lines into typed entries that borrow from the bytes.
//!
//! ```text
//! line ──read_line──▶ Entry (slices)  ──role────▶ EntryRole
//!               └───▶ problems        ──detail──▶ typed fields, on demand
//! ```
//!
//! No DOM is built. Unknown data stays available in [`Entry::raw`] (**nothing-unknown-is-lost**,
//! **parse-never-fails**).

mod block;
mod detail;
mod json;
mod json_str;
mod key;
mod kind;
mod read;
mod reader_cache;
mod record;
mod role;
mod skim;
mod string;
mod string_simd;
mod timestamp;
mod usage;

pub use block::{Block, Content, parse_content};
pub use detail::find_member;
pub use detail::{EntryDetail, FileBackup, LeafPointer, members};
pub(crate) use detail::{list_objects, list_strings};
pub(crate) use json::JsonScanner;
pub use json_str::JsonStr;
pub use kind::{AttachmentKind, BlockKind, Kind, ProgressKind, SystemKind};
pub use read::{LineStatus, Reader, read_line, value_text, with_entry};
pub use record::{Entry, Flags, Message, RESUME_MARKER_TEXT};
pub use role::EntryRole;
pub use timestamp::Timestamp;
pub use usage::Usage;
