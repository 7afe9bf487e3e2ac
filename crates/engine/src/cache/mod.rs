//! The cache directory: the only module that reads or writes it, together with `search_index` (**one-key**).
//!
//! Everything in it is derived from session files and can be deleted at any time. Damaged or outdated data is ignored, and
//! a cache that cannot be written is skipped. One process writes at a time and never waits for another. Files are replaced
//! as a whole, so readers need no lock.
#![expect(clippy::disallowed_methods, reason = "one-key: this module owns the cache directory")]

mod cache_dir;
mod cached_value;
mod dir_listing;
mod file_cache;
mod lock;
mod paged_file;
#[cfg(test)]
mod tests;
mod warning;

pub use self::cache_dir::CacheDir;
pub(crate) use self::cache_dir::{code_fingerprint, private_options};
pub(crate) use self::cached_value::CachedValue;
pub(crate) use self::dir_listing::find_files_cached;
pub(crate) use self::file_cache::{CacheKind, FileCache, NewCacheEntry};
pub(crate) use self::lock::CacheLock;
pub(crate) use self::paged_file::{IndexError, PagedReader, PagedWriter};
pub use self::warning::CacheWarning;
