//! The only key to the index: what can be made again from the sessions, kept so that it need not be.
//!
//! ```text
//! catalog ──names──▶ segments: terms → entries      Shelf: refresh (one writer), open (many readers)
//! ```
//!
//! Delete it and nothing is lost (**one-key**); with it and without it the answer is the same (**index-is-a-shortcut**).
#![expect(clippy::disallowed_methods, reason = "one-key: this is the key")]

mod ask;
mod catalog;
mod dictionary;
mod home;
mod inverter;
mod lock;
mod merge;
mod pages;
mod refresh;
mod segment;
mod shelf;
mod varint;

pub(crate) use ask::{Answer, Candidate};
pub use home::Index;
pub use refresh::Progress;
pub use shelf::Notice;
pub(crate) use shelf::Snapshot;
