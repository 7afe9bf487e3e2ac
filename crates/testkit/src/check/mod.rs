//! The laws of lines, entries and the tree, as functions that panic if a law is broken.
//!
//! ```text
//! lines         splitting in chunks = splitting at once; offsets are correct
//! entries       every line has one status; entries are at the reported offsets     (every-line-accounted)
//! skimmer       the skimmer = a full parser, in its verdict and in every field     (parse-never-fails)
//! string        decoding a JSON string = a full parser
//! truncation    short strings: the line itself; long ones: the same fields, less memory
//! timestamp     parsing timestamps = jiff
//! reader_cache  reading with a cache of the line before = reading each line alone
//! tree          every entry is in the tree once, no path has a cycle
//! resume        no client loads an entry twice; every line is loaded or has a reason why not
//! ```

mod entries;
mod fields;
mod reference_parser;
mod resume;
mod skim;
mod split;
mod tree;
mod truncation;

pub use entries::entries;
pub use resume::resume;
pub use skim::{skimmer, string, timestamp};
pub use split::{ChunkLengths, lines};
pub use tree::{reader_cache, tree};
pub use truncation::truncation;
