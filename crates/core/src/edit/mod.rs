//! Edits as values: what changes in a line, which lines make a file.
//!
//! ```text
//! line  ──alter(changes)──▶ line        every byte that no change names stays as it is
//! lines ──Draft───────────▶ file        places of lines, never lines: a draft of a large file is small
//! ```
//!
//! Nothing here writes: a draft is shown, tested and refused before a byte moves (**plan-before-pen**,
//! **bytes-are-truth**).

mod alter;
mod anchor;
mod draft;
mod renaming;
mod states;
mod way;

pub use alter::{Change, Step, alter, quote};
pub use anchor::{Anchor, stamp};
pub use draft::{Draft, Envelope, Piece};
pub use renaming::Renaming;
pub use states::States;
pub use way::way;
