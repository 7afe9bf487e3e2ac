//! Waits for the progress of another process or thread.

use std::time::{Duration, Instant};

/// The longest wait. It only limits how long a test hangs: on a busy machine, progress takes much longer than usual.
pub const DEADLINE: Duration = Duration::from_secs(180);

/// The time between two polls.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Calls `poll` until it returns a value. Panics with `what` after [`DEADLINE`].
#[track_caller]
pub fn wait_for<T>(what: &str, mut poll: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(value) = poll() {
            return value;
        }
        assert!(Instant::now() < deadline, "waited {} s for {what}", DEADLINE.as_secs());
        std::thread::sleep(POLL_INTERVAL);
    }
}
