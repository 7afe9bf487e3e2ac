//! The only key to what is kept between runs to save reading (**one-key**).
//!
//! Everything here is derived from session files: it can be deleted at any time, and what it answers is what reading would
//! answer. What is damaged, foreign or of other code is not believed; what cannot be written is done without. One writer at
//! a time, who never waits for another; files are replaced whole, so readers need no lock.
#![expect(clippy::disallowed_methods, reason = "one-key: this is the key")]

mod ask;
mod ballot;
mod catalog;
mod dictionary;
mod facts;
mod folders;
mod held;
mod home;
mod inverter;
mod lock;
mod merge;
mod notice;
mod pages;
mod refresh;
mod segment;
mod sewn;
mod shelf;
mod slip;
#[cfg(test)]
mod tests;
mod varint;

pub(crate) use self::ask::Candidates;
pub(crate) use self::catalog::IndexedFile;
pub(crate) use self::facts::{FileCache, NewCacheEntry};
pub use self::home::CacheDir;
pub use self::notice::CacheWarning;
pub(crate) use self::pages::IndexError;
pub use self::refresh::Progress;
pub(crate) use self::shelf::{IndexReader, Refreshed, SearchIndex};
pub(crate) use self::slip::CachedValue;
