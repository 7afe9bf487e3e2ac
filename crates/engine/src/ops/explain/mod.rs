//! What a client will load when it resumes a session, and what it will not.

mod agree;
mod lost;
mod run;
mod verdict;

pub use agree::{ClientRange, ranges_by};
pub use lost::{LostGroup, UnreachableBranch};
pub use run::{ClientSelector, EntryReader, ExplainRequest, Explanation, explain};
pub use verdict::{Compaction, Fate, SyntheticMessage, Verdict};
