//! Ensures that at most one instance of a background job runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the background job runs.
#[derive(Debug, Default)]
pub(crate) struct SingleFlight(Arc<AtomicBool>);

/// Marks the job as running until it is dropped, also by a panic.
#[derive(Debug)]
pub(crate) struct FlightGuard(Arc<AtomicBool>);

impl SingleFlight {
    /// Marks the job as running until the returned guard is dropped. Returns `None` if it already runs.
    pub(crate) fn begin(&self) -> Option<FlightGuard> {
        let was_running = self.0.swap(true, Ordering::AcqRel);
        (!was_running).then(|| FlightGuard(self.0.clone()))
    }

    /// Returns `true` if the job runs.
    pub(crate) fn is_running(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl Drop for FlightGuard {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::SingleFlight;

    #[test]
    fn a_job_can_start_again_after_it_ended_or_panicked() {
        let single = SingleFlight::default();
        let guard = single.begin().unwrap();
        assert!(single.begin().is_none());
        drop(guard);
        let panicked = std::thread::scope(|scope| {
            let job = scope.spawn(|| {
                let _guard = single.begin();
                panic!("the job failed");
            });
            job.join().is_err()
        });
        assert!(panicked && single.begin().is_some());
    }
}
