//! Counts of a file or a store: lines, types, blocks, tools, tokens, forks, time.

mod collect;
mod file_calls;
mod file_counts;
mod fork_counts;

pub use collect::{StatsCollector, StoreCounts, ToolCount};
pub use file_calls::{CountedCall, FileCalls, find_extra_copies};
pub use file_counts::{FileCounts, NotableFeature};
pub use fork_counts::ForkCounts;
