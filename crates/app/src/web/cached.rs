//! A cached value with a maximum age, computed by at most one thread at a time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Locks a mutex, also after a thread panicked while it held the lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A value that is computed again when it is too old.
#[derive(Debug)]
pub(crate) struct Cached<T> {
    state: Mutex<CacheState<T>>,
    /// Held by the thread that computes a value.
    computing: Mutex<()>,
}

#[derive(Debug)]
struct CacheState<T> {
    /// The time at which the computation of the value began, and the value.
    value: Option<(Instant, Arc<T>)>,
    /// The time of the last invalidation. Values computed from an earlier start are outdated.
    invalidated: Option<Instant>,
}

/// How old a cached value may be to be returned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MaxAge {
    /// A value younger than this is returned without computing a new one.
    pub(crate) fresh: Duration,
    /// A value younger than this is returned while another thread computes a new one.
    pub(crate) stale: Duration,
}

impl<T> Default for Cached<T> {
    fn default() -> Cached<T> {
        Cached {
            state: Mutex::new(CacheState { value: None, invalidated: None }),
            computing: Mutex::default(),
        }
    }
}

impl<T> Cached<T> {
    /// Creates a cache that holds a value computed just now.
    pub(crate) fn with_value(value: T) -> Cached<T> {
        let cached = Cached::default();
        cached.store(Instant::now(), &Arc::new(value));
        cached
    }

    /// Returns the cached value, of any age. Returns `None` if no value was stored since the start or the last
    /// invalidation.
    pub(crate) fn last(&self) -> Option<Arc<T>> {
        lock(&self.state).value.as_ref().map(|(_, value)| value.clone())
    }

    /// Returns the age of the cached value and the value. Returns `None` if there is none or it is not younger than
    /// `max_age`.
    pub(crate) fn get_younger_than(&self, max_age: Duration) -> Option<(Duration, Arc<T>)> {
        let state = lock(&self.state);
        let (began, value) = state.value.as_ref()?;
        Some((began.elapsed(), value.clone())).filter(|(elapsed, _)| *elapsed < max_age)
    }

    /// Returns the cached value, or computes and stores a new one if it is too old. `compute` gets the old value, if
    /// there is one. Waits for another thread that computes the value, unless the old one may still be returned.
    pub(crate) fn try_get<E>(
        &self,
        max_age: MaxAge,
        compute: impl FnOnce(Option<Arc<T>>) -> Result<Arc<T>, E>,
    ) -> Result<Arc<T>, E> {
        if let Some((_, value)) = self.get_younger_than(max_age.fresh) {
            return Ok(value);
        }
        let guard = match self.computing.try_lock() {
            Ok(guard) => guard,
            Err(_) => match self.get_younger_than(max_age.stale) {
                Some((_, value)) => return Ok(value),
                None => lock(&self.computing),
            },
        };
        // Another thread may have computed it while this one waited.
        let value = match self.get_younger_than(max_age.fresh) {
            Some((_, value)) => value,
            None => {
                let began = Instant::now();
                let value = compute(self.last())?;
                self.store(began, &value);
                value
            }
        };
        drop(guard);
        Ok(value)
    }

    /// Returns the cached value, or computes it. Like [`Self::try_get`], but `compute` cannot fail.
    pub(crate) fn get(&self, max_age: MaxAge, compute: impl FnOnce() -> T) -> Arc<T> {
        let result: Result<_, std::convert::Infallible> = self.try_get(max_age, |_| Ok(Arc::new(compute())));
        match result {
            Ok(value) => value,
            Err(never) => match never {},
        }
    }

    /// Stores a value that was computed from `began` on, unless a newer one is stored or the cache was invalidated
    /// since.
    pub(crate) fn store(&self, began: Instant, value: &Arc<T>) {
        let mut state = lock(&self.state);
        let is_valid = state.invalidated.is_none_or(|invalidated| began >= invalidated);
        if is_valid && state.value.as_ref().is_none_or(|(stored, _)| *stored < began) {
            state.value = Some((began, value.clone()));
        }
    }

    /// Drops the value. Computations that have already begun do not store theirs.
    pub(crate) fn invalidate(&self) {
        *lock(&self.state) = CacheState { value: None, invalidated: Some(Instant::now()) };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use super::{Cached, MaxAge};

    const ALWAYS: MaxAge = MaxAge { fresh: Duration::MAX, stale: Duration::MAX };
    const NEVER: MaxAge = MaxAge { fresh: Duration::ZERO, stale: Duration::ZERO };

    #[test]
    fn a_fresh_value_is_not_computed_again() {
        let cached = Cached::default();
        assert_eq!(*cached.get(ALWAYS, || 1), 1);
        assert_eq!(*cached.get(ALWAYS, || 2), 1);
        assert_eq!(*cached.get(NEVER, || 3), 3);
    }

    #[test]
    fn a_value_begun_before_an_invalidation_is_not_stored() {
        let cached = Cached::with_value(1);
        let began = Instant::now();
        cached.invalidate();
        assert!(cached.last().is_none());
        cached.store(began, &Arc::new(2));
        assert!(cached.last().is_none());
        assert_eq!(*cached.get(ALWAYS, || 3), 3);
    }

    #[test]
    fn an_older_computation_does_not_replace_a_newer_one() {
        let cached = Cached::default();
        let (early, late) = (Instant::now(), Instant::now() + Duration::from_millis(1));
        cached.store(late, &Arc::new(2));
        cached.store(early, &Arc::new(1));
        assert_eq!(cached.last().as_deref(), Some(&2));
    }

    #[test]
    fn a_failed_computation_keeps_the_old_value() {
        let cached = Cached::with_value(1);
        assert_eq!(cached.try_get(NEVER, |_| Err("failed")), Err("failed"));
        assert_eq!(cached.last().as_deref(), Some(&1));
    }
}
