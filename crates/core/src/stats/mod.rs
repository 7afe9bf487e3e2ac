//! Counts of a file or a store: lines, types, blocks, tools, tokens, time.

mod collect;

pub use collect::{FileCounts, StatsCollector, StoreCounts, ToolCount};
