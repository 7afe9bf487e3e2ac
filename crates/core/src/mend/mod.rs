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
pub use content::{Wishes, mend_content};
pub use foreign::leave_out_foreign;
pub use links::relink;
pub use names::rename;
pub use pictures::Extract;
pub use treatment::{Act, Edit, How, Mended, Treatment, calls_for_repair};
pub use ward::Ward;
