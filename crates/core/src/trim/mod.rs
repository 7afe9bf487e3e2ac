//! Removes content from a copy of a conversation, and measures the savings.
//!
//! ```text
//! entries ──BlockInventory──┐
//! Tree, ResumeOutcome ──────┴─▶ TrimInput ──TrimOptions─▶ Removals ─▶ TrimmedPath ─▶ segments of a draft
//!                                         ──escalate────▶ Removals       └─────────▶ SavingsByCause
//! ```
//!
//! Laws: a call and its result are kept or removed together; thinking is kept unchanged or removed; no
//! message becomes empty or ends in thinking that did not before; the children of a removed line are attached
//! to its closest remaining ancestor; a stub names the location of the original. Lines change at named JSON
//! paths only (**bytes-are-truth**).

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

pub use count::lower_context_count;
pub use escalate::{Escalation, EscalationStage, EscalationStep, escalate};
pub use input::TrimInput;
pub use inventory::BlockInventory;
pub use options::{ContentKind, TrimOptions, TrimPreset};
pub use savings::{RemovalCause, Savings, SavingsByCause};
pub use trimmed_path::{NotePosition, TrimmedPath};
