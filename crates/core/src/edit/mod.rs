//! Edits as values: edits of lines, and drafts of files.
//!
//! ```text
//! line  ──apply_edits──▶ line        all bytes that no edit names stay unchanged
//! lines ──Draft────────▶ file        references to lines, not their bytes: a draft of a large file is small
//! ```
//!
//! This module does not write: a draft can be shown, tested and rejected before anything is written
//! (**plan-first**, **bytes-are-truth**).

mod draft;
mod json_edit;
mod required_entries;
mod resume_marker;
mod session_state;
mod uuid_map;

pub use draft::{Draft, DraftSegment, Envelope};
pub use json_edit::{JsonEdit, PathSegment, apply_edits, quote_json};
pub use required_entries::required_entries;
pub use resume_marker::{MarkerKind, ResumeMarker, format_timestamp};
pub use session_state::SessionStateLines;
pub use uuid_map::UuidMap;
