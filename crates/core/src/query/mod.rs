//! What a search means: which entries hold some words, and where in them.
//!
//! ```text
//! line ──may_hold──▶ worth a look? ──texts──▶ what a reader sees ──find──▶ Hit
//! ```
//!
//! Words are looked for in decoded text, never in JSON. [`Needle::may_hold`] only saves the decoding: it says no where no
//! escape can hide a match.

mod hit;
mod needle;
mod texts;

pub use hit::{Found, Hit};
pub use needle::{BadPattern, Needle};
pub use texts::{Scope, Source, texts};
