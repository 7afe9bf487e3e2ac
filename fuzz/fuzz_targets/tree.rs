//! Any bytes: the laws of the tree, of the reader cache and of resume.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rethread_testkit::check;

fuzz_target!(|data: &[u8]| {
    // Paths are checked from every node, so files with many thousands of nodes would be slow.
    if data.len() < 1 << 16 {
        check::tree(data);
        check::reader_cache(data);
        check::resume(data);
    }
});
