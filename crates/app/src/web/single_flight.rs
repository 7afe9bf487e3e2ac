//! Work that goes on once at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Knows whether it goes on.
#[derive(Debug, Default)]
pub(crate) struct SingleFlight(Arc<AtomicBool>);

/// It goes on while this is held, however that ends.
#[derive(Debug)]
pub(crate) struct FlightGuard(Arc<AtomicBool>);

impl SingleFlight {
    /// Begins, unless it goes on already.
    pub(crate) fn begin(&self) -> Option<FlightGuard> {
        let before = self.0.swap(true, Ordering::AcqRel);
        (!before).then(|| FlightGuard(self.0.clone()))
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
    fn it_can_begin_again_however_it_ended() {
        let single = SingleFlight::default();
        let busy = single.begin().unwrap();
        assert!(single.begin().is_none());
        drop(busy);
        let panicked = std::thread::scope(|scope| {
            let work = scope.spawn(|| {
                let _busy = single.begin();
                panic!("it went wrong");
            });
            work.join().is_err()
        });
        assert!(panicked && single.begin().is_some());
    }
}
