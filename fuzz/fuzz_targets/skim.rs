//! The skimmer and a full parser agree on whether a line is valid, and on every field.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rethread_testkit::check;

fuzz_target!(|data: &[u8]| {
    check::skimmer(data);
});
