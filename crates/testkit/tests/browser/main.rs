//! Tests of the browser driver: every check must fail on a bad page and pass on a good one.

mod accessibility;
mod input;
mod lifecycle;
mod problems;
mod rendering;
mod server;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    /// The file and the message of the last panic in this thread; `None` if no panic is expected.
    static EXPECTED_PANIC: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

/// Runs a closure that must panic and returns the message. The location of the panic must be in these tests.
#[track_caller]
fn panic_message(action: impl FnOnce()) -> String {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let default_hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let is_expected = EXPECTED_PANIC.with_borrow_mut(|panic| {
                let panic = panic.as_mut()?;
                let file = info.location().map(|location| location.file().to_owned()).unwrap_or_default();
                *panic = (file, info.payload_as_str().unwrap_or_default().to_owned());
                Some(())
            });
            if is_expected.is_none() {
                default_hook(info);
            }
        }));
    });
    EXPECTED_PANIC.set(Some(Default::default()));
    let outcome = catch_unwind(AssertUnwindSafe(action));
    let (file, message) = EXPECTED_PANIC.take().expect("it was set above");
    assert!(outcome.is_err(), "the closure did not panic");
    assert!(file.contains("tests/browser/"), "the location of the panic is {file}: {message}");
    message
}
