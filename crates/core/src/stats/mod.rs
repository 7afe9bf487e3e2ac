//! Counts of a file or a store: lines, types, blocks, tools, tokens, time.

mod tally;

pub use tally::{Counts, FileCounts, StatsCollector, ToolCount};
