//! The queue of searches: few run at a time, the longest waiting first, and one per client.
//!
//! Search-as-you-type sends a request with every letter, and only the last result is shown. So a newer request of the same
//! client replaces a waiting one, and requests that the browser cancelled are skipped.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::oneshot::{Sender, channel};

use super::cached::lock;

/// The number of searches that run at a time.
const MAX_RUNNING: usize = 2;

/// The running and the waiting searches.
#[derive(Debug, Default)]
pub(crate) struct SearchQueue(Mutex<QueueState>);

#[derive(Debug, Default)]
struct QueueState {
    /// The number of permits that exist.
    running: usize,
    /// The longest waiting search is first.
    waiting: VecDeque<WaitingSearch>,
}

#[derive(Debug)]
struct WaitingSearch {
    /// The name that the page chose for itself. Empty if it has none.
    client: String,
    /// Sends the permit to the waiting request. Dropping it cancels the request.
    permit: Sender<SearchPermit>,
}

/// The right to run a search. Dropping it hands the slot to the next waiting request.
#[derive(Debug)]
pub(crate) struct SearchPermit(Option<Arc<SearchQueue>>);

impl SearchQueue {
    /// Waits for a permit. A waiting request with the same non-empty `client` is cancelled. Returns `None` if a newer
    /// request cancelled this one.
    pub(crate) async fn acquire(self: &Arc<SearchQueue>, client: &str) -> Option<SearchPermit> {
        let permit = {
            let mut state = self.state();
            // Clients without a name do not replace each other.
            state.waiting.retain(|other| client.is_empty() || other.client != client);
            if state.running < MAX_RUNNING {
                state.running += 1;
                return Some(SearchPermit(Some(self.clone())));
            }
            let (sender, receiver) = channel();
            state.waiting.push_back(WaitingSearch { client: client.to_owned(), permit: sender });
            receiver
        };
        permit.await.ok()
    }

    /// Returns `true` if more searches wait than may run at a time.
    pub(crate) fn is_crowded(&self) -> bool {
        self.state().waiting.len() > MAX_RUNNING
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        lock(&self.0)
    }

    /// Hands the slot of a dropped permit to the first request that still waits, or frees it.
    fn release(self: &Arc<SearchQueue>) {
        loop {
            let mut state = self.state();
            let Some(next) = state.waiting.pop_front() else {
                state.running = state.running.saturating_sub(1);
                return;
            };
            drop(state);
            match next.permit.send(SearchPermit(Some(self.clone()))) {
                Ok(()) => return,
                // The request was cancelled. The returned permit must not release the slot again.
                Err(mut permit) => permit.0 = None,
            }
        }
    }
}

impl Drop for SearchPermit {
    fn drop(&mut self) {
        if let Some(queue) = self.0.take() {
            queue.release();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::{Pin, pin};
    use std::sync::Arc;
    use std::task::{Context, Poll, Waker};

    use super::{SearchPermit, SearchQueue};

    type PendingPermit = Pin<Box<dyn Future<Output = Option<SearchPermit>>>>;

    fn request(queue: &Arc<SearchQueue>, client: &'static str) -> PendingPermit {
        let queue = queue.clone();
        let mut pending: PendingPermit = Box::pin(async move { queue.acquire(client).await });
        assert!(poll(&mut pending).is_pending(), "{client} must wait");
        pending
    }

    fn poll(pending: &mut PendingPermit) -> Poll<Option<SearchPermit>> {
        pending.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    }

    fn acquire_now(queue: &Arc<SearchQueue>, client: &str) -> SearchPermit {
        match pin!(queue.acquire(client)).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Some(permit)) => permit,
            _ => panic!("{client} got no permit"),
        }
    }

    #[test]
    fn two_searches_run_and_the_longest_waiting_is_next() {
        let queue = Arc::new(SearchQueue::default());
        let (first, second) = (acquire_now(&queue, "a"), acquire_now(&queue, "b"));
        let (mut third, mut fourth) = (request(&queue, "c"), request(&queue, "d"));
        drop(first);
        let third = poll(&mut third);
        assert!(matches!(&third, Poll::Ready(Some(_))) && poll(&mut fourth).is_pending());
        drop(second);
        assert!(matches!(poll(&mut fourth), Poll::Ready(Some(_))));
        drop(third);
        let _both = (acquire_now(&queue, "e"), acquire_now(&queue, "f"));
        drop(request(&queue, "g"));
    }

    #[test]
    fn a_newer_request_replaces_the_waiting_one() {
        let queue = Arc::new(SearchQueue::default());
        let (first, second) = (acquire_now(&queue, "a"), acquire_now(&queue, "a"));
        let (mut old, mut other, mut new) =
            (request(&queue, "a"), request(&queue, "b"), request(&queue, "a"));
        assert!(matches!(poll(&mut old), Poll::Ready(None)), "a newer request replaced it");
        let (mut nameless, mut also) = (request(&queue, ""), request(&queue, ""));
        assert!(poll(&mut nameless).is_pending() && poll(&mut also).is_pending());
        drop((nameless, also, first, second));
        assert!(matches!((poll(&mut new), poll(&mut other)), (Poll::Ready(Some(_)), Poll::Ready(Some(_)))));
    }

    #[test]
    fn cancelled_requests_are_skipped() {
        let queue = Arc::new(SearchQueue::default());
        let (first, second) = (acquire_now(&queue, "a"), acquire_now(&queue, "b"));
        let mut waiting = request(&queue, "c");
        drop(request(&queue, "d"));
        drop(first);
        assert!(matches!(poll(&mut waiting), Poll::Ready(Some(_))));
        drop(second);
        // No slot was lost: two searches can run again.
        let _both = (acquire_now(&queue, "e"), acquire_now(&queue, "f"));
        drop(request(&queue, "g"));
    }
}
