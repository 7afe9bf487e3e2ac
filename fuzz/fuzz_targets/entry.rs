//! Any bytes: every line is accounted for, and no accessor of an entry panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rethread_testkit::check;

fuzz_target!(|data: &[u8]| {
    check::entries(data);
});
