//! What a search means: which entries hold what was asked for, and where in them.
//!
//! ```text
//! typed ──parse──▶ Query ──▶ Needle
//! line ──may_hold──▶ worth a look? ──texts──▶ what a reader sees ──find──▶ Hit
//! ```
//!
//! Words are looked for in decoded text, never in JSON. [`Needle::may_hold`] only saves the decoding: it says no where no
//! escape can hide a match.

mod card;
mod excerpt;
mod field;
mod hit;
mod language;
mod meaning;
mod needle;
mod role;
mod shell;
mod term;
mod texts;
mod wanted;

pub use card::{Card, Cards, Said};
pub use excerpt::Excerpt;
pub use field::nearest_field;
pub use hit::{Found, Hit};
pub use language::{BadQuery, Piece, pieces};
pub use meaning::{Meaning, Open, Scale, Setting, Word, has_part, is_tool, length_class, weight};
pub use needle::{BadPattern, Needle};
pub use shell::rejoin;
pub use term::{Clue, Cut, Cutter, Fit, Kind, Part, Parts, Strength};
pub use texts::{Scope, Source, texts};
pub use wanted::{Atom, Label, Query, Sources, Want};
