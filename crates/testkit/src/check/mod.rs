//! The laws of lines, entries and the tree, as functions that panic where a law is broken.
//!
//! ```text
//! lines      splitting in pieces = splitting at once; offsets tell the truth
//! entries    every line has one fate; what was read stands where it is told   (every-line-accounted)
//! skim       the skimmer = a full parser, in verdict and in every field       (parse-never-fails)
//! condense   short strings: the line itself; long ones: the same fields, less memory
//! moment     timestamps = jiff
//! memory     reading with a memory of the line before = reading each line alone
//! tree       every entry hangs somewhere, no walk runs in circles
//! resume     no client loads an entry twice; every line is loaded or told why not
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
pub use skim::{moment, skim, text};
pub use split::{Cuts, lines};
pub use tree::{memory, tree};
pub use truncation::condense;
