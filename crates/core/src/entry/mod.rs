//! Lines to entries: typed, borrowed from the bytes, complete.
//!
//! ```text
//! line ──read──▶ Entry (slices)  ──voice──▶ who speaks
//!          └──▶ problems         ──detail─▶ typed fields, on demand
//! ```
//!
//! A line nobody asks for is never built into a DOM; what is not known stays in `raw`
//! (**nothing-unknown-is-lost**, **parse-never-fails**).

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

pub use block::{Block, Content, content_of};
pub use detail::{Detail, FileBackup, LeafPointer, members};
pub(crate) use detail::{member, strings};
pub(crate) use json::JsonScanner;
pub use json_str::JsonStr;
pub use kind::{Attachment, BlockKind, Kind, Progress, System};
pub use read::{LineStatus, Reader, read, value_text};
pub use record::{Entry, Flags, Message};
pub use role::EntryRole;
pub use timestamp::Timestamp;
pub use usage::Usage;
