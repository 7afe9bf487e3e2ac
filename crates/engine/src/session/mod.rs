//! Loads sessions and provides the read helpers that several operations share.

pub(crate) mod active;
pub(crate) mod load;
pub(crate) mod match_context;
pub(crate) mod per_file_cache;
pub(crate) mod preview;
pub(crate) mod project;
pub(crate) mod stored_result;
