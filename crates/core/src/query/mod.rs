//! What a search means: which entries hold what was asked for, and where in them.
//!
//! ```text
//! typed ──parse──▶ Query ──▶ Needle
//! line ──may_hold──▶ worth a look? ──texts──▶ what a reader sees ──find──▶ Hit
//! ```
//!
//! Words are looked for in decoded text, never in JSON. [`Needle::may_hold`] only saves the decoding: it says no where no
//! escape can hide a match.

mod field;
mod hit;
mod language;
mod needle;
mod role;
mod shell;
mod texts;
mod wanted;

pub use field::nearest_field;
pub use hit::{Found, Hit};
pub use language::BadQuery;
pub use needle::{BadPattern, Needle};
pub use shell::rejoin;
pub use texts::{Scope, Source, texts};
pub use wanted::{Atom, Label, Query, Sources, Want};
