//! Reads a session in pages, as the web pages show it. Only the requested pages are read from disk.
//!
//! ```text
//! file ──one pass──▶ SessionView ──branch──▶ BranchView: turns, divided into pages ──page──▶ TurnSlices
//! ```

mod branch_view;
mod fork_marks;
mod map;
mod paginate;
mod result_lines;
mod source_files;
mod view;

pub use branch_view::{BranchSelector, BranchView, ForkSwitch, SiblingBranch, TurnRef};
pub use map::{MapBranch, MapEntry, MapPreview};
pub use source_files::find_source_files;
pub use view::{SessionView, TurnSlice, open_view};
