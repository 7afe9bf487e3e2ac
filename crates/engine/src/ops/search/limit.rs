//! When a search ends before its end: its time is over, or nobody waits for it any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Stops a search from another thread.
#[derive(Debug, Clone, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// Stops it, as soon as it looks up.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was stopped.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How long to go on.
#[derive(Debug, Clone, Default)]
pub(super) struct Deadline {
    deadline: Option<Instant>,
    halt: CancelToken,
}

impl Deadline {
    /// Begins now.
    pub(super) fn of(budget: Option<Duration>, halt: &CancelToken) -> Deadline {
        let deadline = budget.and_then(|budget| Instant::now().checked_add(budget));
        Deadline { deadline, halt: halt.clone() }
    }

    /// Whether it is time to end.
    pub(super) fn is_over(&self) -> bool {
        self.halt.is_stopped() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}
