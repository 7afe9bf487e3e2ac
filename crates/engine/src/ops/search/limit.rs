//! Deadline and cancellation of a search.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Cancels a search from another thread.
#[derive(Debug, Clone, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// Cancels the search. It ends the next time it checks its deadline.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns `true` if the search was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The time at which a search ends, and its cancel token.
#[derive(Debug, Clone, Default)]
pub(super) struct Deadline {
    end: Option<Instant>,
    cancel: CancelToken,
}

impl Deadline {
    /// Creates a deadline that is `budget` from now. Without a budget, only cancellation ends the search.
    pub(super) fn new(budget: Option<Duration>, cancel: &CancelToken) -> Deadline {
        let end = budget.and_then(|budget| Instant::now().checked_add(budget));
        Deadline { end, cancel: cancel.clone() }
    }

    /// Returns `true` if the deadline has passed or the search was cancelled.
    pub(super) fn is_over(&self) -> bool {
        self.cancel.is_cancelled() || self.end.is_some_and(|end| Instant::now() >= end)
    }
}
