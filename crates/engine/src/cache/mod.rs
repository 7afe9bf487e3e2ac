//! The only key to what is kept between runs to save reading (**one-key**).
//!
//! Everything here is derived from session files: it can be deleted at any time, and what it answers is what reading would
//! answer. What is damaged, foreign or of other code is not believed; what cannot be written is done without. One writer at
//! a time, who never waits for another; files are replaced whole, so readers need no lock.
#![expect(clippy::disallowed_methods, reason = "one-key: this is the key")]

pub(crate) mod cache_dir;
pub(crate) mod cached_value;
pub(crate) mod dir_listing;
pub(crate) mod file_cache;
pub(crate) mod lock;
pub(crate) mod paged_file;
#[cfg(test)]
mod tests;
pub(crate) mod warning;

pub use self::cache_dir::CacheDir;
pub(crate) use self::cached_value::CachedValue;
pub(crate) use self::file_cache::{FileCache, NewCacheEntry};
pub(crate) use self::paged_file::IndexError;
pub use self::warning::CacheWarning;
