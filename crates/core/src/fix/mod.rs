//! Mends: from what is wrong with a session to edits of its lines.
//!
//! ```text
//! Patient, findings, Calls ──foreign, rename, relink──▶ Treatment    edits of lines, and what each one mends
//!                          ──mend_content─────────────▶ Treatment    once it is known what clients will load
//! ```
//!
//! A treatment is one round: what comes of it is examined again, until there is nothing left to treat. Nothing here writes;
//! every line that gets another parent is marked with the one that it had (`relinkedFrom`).

mod base64;
mod calls;
mod content;
mod context;
mod fix_set;
mod foreign;
mod images;
mod links;
mod uuids;

pub use base64::decode;
pub use calls::Calls;
pub use content::{FixOptions, fix_content};
pub use context::RepairContext;
pub use fix_set::{AppliedFix, Edit, FixAction, FixSet, RelinkReason, needs_repair};
pub use foreign::drop_foreign_lines;
pub use images::Extract;
pub use links::relink;
pub use uuids::assign_new_uuids;
