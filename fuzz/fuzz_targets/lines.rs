//! Any bytes, in any chunks: the same lines at the same offsets, and the same truncated lines.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rethread_testkit::check::{self, ChunkLengths};

fuzz_target!(|data: &[u8]| {
    // The first two bytes are the lengths of the chunks.
    let (lengths, bytes) = data.split_at(data.len().min(2));
    let lengths: Vec<usize> = lengths.iter().map(|&length| usize::from(length)).collect();
    check::lines(bytes, ChunkLengths(&lengths));
    check::truncation(bytes, ChunkLengths(&lengths));
});
