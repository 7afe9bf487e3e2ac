//! The skimmer and a full parser agree on every line, in verdict and in every field.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rethread_testkit::check;

fuzz_target!(|data: &[u8]| {
    check::skim(data);
});
