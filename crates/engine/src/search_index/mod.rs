//! The search index, which is part of the cache directory.
#![expect(clippy::disallowed_methods, reason = "one-key: this is the key")]

pub(crate) mod candidates;
pub(crate) mod manifest;
pub(crate) mod matcher;
pub(crate) mod merge;
pub(crate) mod postings_builder;
pub(crate) mod postings_union;
pub(crate) mod refresh;
pub(crate) mod segment;
pub(crate) mod store;
pub(crate) mod subword;
pub(crate) mod term_dictionary;
pub(crate) mod varint;

pub(crate) use self::candidates::Candidates;
pub(crate) use self::manifest::IndexedFile;
pub use self::refresh::Progress;
pub(crate) use self::store::{IndexReader, Refreshed, SearchIndex};
