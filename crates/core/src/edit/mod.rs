//! Edits as values: what changes in a line, which lines make a file.
//!
//! ```text
//! line  ──alter(changes)──▶ line        every byte that no change names stays as it is
//! lines ──Draft───────────▶ file        places of lines, never lines: a draft of a large file is small
//! ```
//!
//! Nothing here writes: a draft is shown, tested and refused before a byte moves (**plan-before-pen**,
//! **bytes-are-truth**).

mod draft;
mod json_edit;
mod required_entries;
mod resume_marker;
mod session_state;
mod uuid_map;

pub use draft::{Draft, DraftSegment, Envelope};
pub use json_edit::{JsonEdit, PathSegment, apply_edits, quote};
pub use required_entries::required_entries;
pub use resume_marker::{ResumeMarker, format_timestamp};
pub use session_state::SessionStateLines;
pub use uuid_map::UuidMap;
