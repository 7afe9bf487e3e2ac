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
mod foreign;
mod links;
mod names;
mod pictures;
mod treatment;
mod ward;

pub use base64::decode;
pub use calls::Calls;
pub use content::{FixOptions, fix_content};
pub use foreign::drop_foreign_lines;
pub use links::relink;
pub use names::assign_new_uuids;
pub use pictures::Extract;
pub use treatment::{AppliedFix, Edit, FixAction, FixSet, RelinkReason, needs_repair};
pub use ward::RepairContext;
