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
mod count;
mod escalate;
mod input;
mod inventory;
mod options;
mod removals;
mod savings;
mod stub;
mod trimmed_path;

pub use count::lowered;
pub use escalate::{Escalation, EscalationStep, Stage, escalate};
pub use input::TrimInput;
pub use inventory::BlockInventory;
pub use options::{ContentKind, Preset, TrimOptions};
pub use savings::{RemovalCause, Row, SavingsByCause};
pub use trimmed_path::{NotePlace, TrimmedPath};
