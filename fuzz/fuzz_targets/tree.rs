//! Any bytes up to the tree and the rooms beyond it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rethread_testkit::check;

fuzz_target!(|data: &[u8]| {
    // Walks are checked from every node: a file of many thousands would only be slow.
    if data.len() < 1 << 16 {
        check::tree(data);
        check::memory(data);
        check::resume(data);
    }
});
