//! Who may search next: few at a time, who waits longest first, and nobody twice.
//!
//! While somebody types, every letter asks anew, and only the last answer is looked at. So those that wait give way to a newer one
//! of the same client, and what browsers gave up is passed over when its turn comes.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot::{Sender, channel};

/// So many search at a time.
const AT_ONCE: usize = 2;

/// Those that search and those that wait.
#[derive(Debug, Default)]
pub(crate) struct Queue(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    running: usize,
    /// Who waits longest first.
    waiting: VecDeque<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    client: String,
    call: Sender<SearchPermit>,
}

/// The right to search; it passes on when it goes.
#[derive(Debug)]
pub(crate) struct SearchPermit(Option<Arc<Queue>>);

impl Queue {
    /// Waits for a turn; none where the same client has asked anew meanwhile.
    pub(crate) async fn turn(self: &Arc<Queue>, client: &str) -> Option<SearchPermit> {
        let waits = {
            let mut state = self.state();
            // A client without a name is nobody's rival.
            state.waiting.retain(|other| client.is_empty() || other.client != client);
            if state.running < AT_ONCE {
                state.running += 1;
                return Some(SearchPermit(Some(self.clone())));
            }
            let (call, waits) = channel();
            state.waiting.push_back(Waiting { client: client.to_owned(), call });
            waits
        };
        waits.await.ok()
    }

    /// Whether more wait than search.
    pub(crate) fn is_crowded(&self) -> bool {
        self.state().waiting.len() > AT_ONCE
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes a turn on to the first who still waits.
    fn pass(self: &Arc<Queue>) {
        loop {
            let mut state = self.state();
            let Some(next) = state.waiting.pop_front() else {
                state.running = state.running.saturating_sub(1);
                return;
            };
            drop(state);
            match next.call.send(SearchPermit(Some(self.clone()))) {
                Ok(()) => return,
                // Nobody listens any more; what comes back must not pass itself on again.
                Err(mut turn) => turn.0 = None,
            }
        }
    }
}

impl Drop for SearchPermit {
    fn drop(&mut self) {
        if let Some(queue) = self.0.take() {
            queue.pass();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::{Pin, pin};
    use std::sync::Arc;
    use std::task::{Context, Poll, Waker};

    use super::{Queue, SearchPermit};

    type Waits = Pin<Box<dyn Future<Output = Option<SearchPermit>>>>;

    fn ask(queue: &Arc<Queue>, client: &'static str) -> Waits {
        let queue = queue.clone();
        let mut waits: Waits = Box::pin(async move { queue.turn(client).await });
        assert!(poll(&mut waits).is_pending(), "{client} must wait");
        waits
    }

    fn poll(waits: &mut Waits) -> Poll<Option<SearchPermit>> {
        waits.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    }

    fn at_once(queue: &Arc<Queue>, client: &str) -> SearchPermit {
        match pin!(queue.turn(client)).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Some(turn)) => turn,
            _ => panic!("{client} has no turn"),
        }
    }

    #[test]
    fn two_at_a_time_and_who_waits_longest_first() {
        let queue = Arc::new(Queue::default());
        let (first, second) = (at_once(&queue, "a"), at_once(&queue, "b"));
        let (mut third, mut fourth) = (ask(&queue, "c"), ask(&queue, "d"));
        drop(first);
        let third = poll(&mut third);
        assert!(matches!(&third, Poll::Ready(Some(_))) && poll(&mut fourth).is_pending());
        drop(second);
        assert!(matches!(poll(&mut fourth), Poll::Ready(Some(_))));
        drop(third);
        let _both = (at_once(&queue, "e"), at_once(&queue, "f"));
        drop(ask(&queue, "g"));
    }

    #[test]
    fn a_client_waits_once() {
        let queue = Arc::new(Queue::default());
        let (first, second) = (at_once(&queue, "a"), at_once(&queue, "a"));
        let (mut old, mut other, mut new) = (ask(&queue, "a"), ask(&queue, "b"), ask(&queue, "a"));
        assert!(matches!(poll(&mut old), Poll::Ready(None)), "a newer one came");
        let (mut nameless, mut also) = (ask(&queue, ""), ask(&queue, ""));
        assert!(poll(&mut nameless).is_pending() && poll(&mut also).is_pending());
        drop((nameless, also, first, second));
        assert!(matches!((poll(&mut new), poll(&mut other)), (Poll::Ready(Some(_)), Poll::Ready(Some(_)))));
    }

    #[test]
    fn who_gave_up_is_passed_over() {
        let queue = Arc::new(Queue::default());
        let (first, second) = (at_once(&queue, "a"), at_once(&queue, "b"));
        let mut patient = ask(&queue, "c");
        drop(ask(&queue, "d"));
        drop(first);
        assert!(matches!(poll(&mut patient), Poll::Ready(Some(_))));
        drop(second);
        // Nothing was lost on the way: two can search again.
        let _both = (at_once(&queue, "e"), at_once(&queue, "f"));
        drop(ask(&queue, "g"));
    }
}
