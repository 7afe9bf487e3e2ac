//! What a client will load when it resumes a session, and what it will not.

mod agree;
mod lost;
mod run;
mod verdict;

pub use agree::{Range, ranges_by};
pub use lost::{LostGroup, LostWay};
pub use run::{ExplainRequest, Explanation, Quotes, Reader, explain};
pub use verdict::{Compaction, Fate, Invention, Verdict};
