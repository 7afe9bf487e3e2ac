//! The search index: an inverted index over the entries of all session files, stored in the cache directory (**one-key**).
//!
//! `store` opens and writes it, `manifest` lists the indexed files, `refresh` indexes what changed, `segment` holds the
//! posting lists and columns of its docs, `merge` keeps the number of segments small, and `candidates` evaluates a query
//! over all segments with `matcher`. Matches are verified against the files: the index only saves reading.
#![expect(clippy::disallowed_methods, reason = "one-key: the index is part of the cache directory")]

mod candidates;
mod manifest;
mod matcher;
mod merge;
mod postings_builder;
mod postings_cache;
mod postings_union;
mod refresh;
mod segment;
mod store;
mod subword;
mod term_dictionary;
mod ternary;
mod varint;

pub(crate) use self::candidates::Candidates;
pub(crate) use self::manifest::IndexedFile;
pub use self::refresh::Progress;
pub(crate) use self::store::{IndexReader, RefreshedIndex, SearchIndex};
