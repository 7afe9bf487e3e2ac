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
mod key;
mod kind;
mod memory;
mod read;
mod record;
mod skim;
mod stops;
mod string;
mod text;
mod time;
mod usage;
mod voice;

pub use block::{Block, Content, content_of};
pub use detail::{Detail, FileBackup, LeafPointer, members};
pub(crate) use detail::{member, strings};
pub(crate) use json::JsonScanner;
pub use kind::{Attachment, BlockKind, Kind, Progress, System};
pub use read::{LineStatus, Reader, read, value_text};
pub use record::{Entry, Flags, Message};
pub use text::JsonStr;
pub use time::Timestamp;
pub use usage::Usage;
pub use voice::EntryRole;
