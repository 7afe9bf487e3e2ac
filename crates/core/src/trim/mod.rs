//! What a lighter copy of a conversation leaves out, and what that saves.
//!
//! ```text
//! entries ──Survey──┐
//! Tree, Resume ─────┴─▶ Scene ──Trim────▶ Choice ─▶ Cut ─▶ pieces of a draft
//!                              ──escalate▶ Choice     └──▶ what went, by cause
//! ```
//!
//! Laws: calls and results stay paired or leave together; thinking stays as it is or leaves whole; no message ends empty
//! or in thinking that did not before; whoever hung on a line that leaves hangs on what was above it; a stub says
//! where the original is. Lines change at named paths only (**bytes-are-truth**).

mod boundary;
mod choice;
mod count;
mod cut;
mod escalate;
mod ledger;
mod scene;
mod stub;
mod survey;
mod want;

pub use count::lowered;
pub use cut::{NotePlace, TrimmedPath};
pub use escalate::{Escalation, EscalationStep, Stage, escalate};
pub use ledger::{RemovalCause, Row, SavingsByCause};
pub use scene::TrimInput;
pub use survey::BlockInventory;
pub use want::{ContentKind, Preset, TrimOptions};
