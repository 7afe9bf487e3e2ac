//! The browser that tests drive, itself tested: every check must fail on a page that is bad, and hold on one that is good.

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
    /// The file and the words of the last panic in this thread, while one is expected.
    static PANIC: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

/// Runs what must panic and returns its words; the panic must name this test as its place.
#[track_caller]
fn words_of_panic(act: impl FnOnce()) -> String {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let expected = PANIC.with_borrow_mut(|kept| {
                let kept = kept.as_mut()?;
                let file = info.location().map(|place| place.file().to_owned()).unwrap_or_default();
                *kept = (file, info.payload_as_str().unwrap_or_default().to_owned());
                Some(())
            });
            if expected.is_none() {
                before(info);
            }
        }));
    });
    PANIC.set(Some(Default::default()));
    let outcome = catch_unwind(AssertUnwindSafe(act));
    let (file, words) = PANIC.take().expect("it was set above");
    assert!(outcome.is_err(), "nothing panicked");
    assert!(file.contains("tests/browser/"), "the panic names {file} as its place: {words}");
    words
}
