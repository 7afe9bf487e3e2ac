//! Edits as values: what changes in a line, which lines make a file.
//!
//! ```text
//! line  ──alter(changes)──▶ line        every byte that no change names stays as it is
//! lines ──Draft───────────▶ file        places of lines, never lines: a draft of a large file is small
//! ```
//!
//! Nothing here writes: a draft is shown, tested and refused before a byte moves (**plan-before-pen**,
//! **bytes-are-truth**).

mod alter;
mod anchor;
mod draft;
mod renaming;
mod states;
mod way;

pub use alter::{JsonEdit, PathSegment, apply_edits, quote};
pub use anchor::{ResumeMarker, format_timestamp};
pub use draft::{Draft, DraftSegment, Envelope};
pub use renaming::UuidMap;
pub use states::SessionStateLines;
pub use way::required_entries;
