//! Any bytes, in any pieces: the same lines, each where it says it is; and what a condenser makes of them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rethread_testkit::check::{self, Cuts};

fuzz_target!(|data: &[u8]| {
    // The first bytes say how the rest is cut.
    let (cuts, bytes) = data.split_at(data.len().min(2));
    let cuts: Vec<usize> = cuts.iter().map(|&cut| usize::from(cut)).collect();
    check::lines(bytes, Cuts(&cuts));
    check::condense(bytes, Cuts(&cuts));
});
