//! Repairs: turns diagnostics of a session into edits of its lines.
//!
//! ```text
//! CheckInput, diagnostics, ToolCallLinks ──foreign, uuids, links──▶ FixSet    line edits and the fixes they apply
//!                                        ──content────────────────▶ FixSet    after it is known what clients load
//! ```
//!
//! Each `FixSet` is one pass: the edited draft is checked again until no diagnostic can be fixed. This module
//! does not write. Every line that gets another parent records the previous one in `relinkedFrom`.

mod base64;
mod calls;
mod content;
mod context;
mod fix_set;
mod foreign;
mod images;
mod links;
mod uuids;

pub use base64::decode_base64;
pub use calls::ToolCallLinks;
pub use content::{FixOptions, fix_content};
pub use context::RepairContext;
pub use fix_set::{AppliedFix, FixAction, FixSet, LineEdit, RelinkReason, needs_repair};
pub use foreign::drop_foreign_lines;
pub use images::ExtractedImage;
pub use links::relink_entries;
pub use uuids::assign_new_uuids;
