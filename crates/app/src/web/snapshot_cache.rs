//! What searches look through, kept for a while: to ask for the marks of all files takes longer than to answer, and who types asks
//! several times a second.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rethread_engine::ops::{self, SearchSnapshot};

use super::server::Server;
use super::single_flight::{FlightGuard, SingleFlight};

/// How long it counts as what there is.
pub(crate) const FRESH: Duration = Duration::from_secs(2);
/// How old it may be for who types, while it is looked at again: the next letter finds what is new.
const TYPING: Duration = Duration::from_secs(30);

/// What was looked through last.
#[derive(Debug, Default)]
pub(crate) struct SnapshotCache {
    last: Mutex<Last>,
    looking: SingleFlight,
}

#[derive(Debug, Default)]
struct Last {
    /// When that look began, and what it saw.
    seen: Option<(Instant, SearchSnapshot)>,
    /// A look that began before this moment does not count.
    forgotten: Option<Instant>,
}

impl SnapshotCache {
    /// Forgets it: something was changed, or the index is damaged.
    pub(crate) fn forget(&self) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Last { seen: None, forgotten: Some(Instant::now()) };
    }

    fn keep(&self, at: Instant, stacks: &SearchSnapshot) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let counts = last.forgotten.is_none_or(|forgotten| at >= forgotten);
        if counts && last.seen.as_ref().is_none_or(|(known, _)| *known < at) {
            last.seen = Some((at, stacks.clone()));
        }
    }

    fn within(&self, age: Duration) -> Option<(Duration, SearchSnapshot)> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, stacks) = last.seen.as_ref()?;
        Some((at.elapsed(), stacks.clone())).filter(|(old, _)| *old < age)
    }
}

/// Returns what there is to look through; who types need not wait for what is new. Nothing where no index is kept.
pub(crate) fn stacks(server: &Arc<Server>, typing: bool) -> Option<SearchSnapshot> {
    match server.stacks.within(if typing { TYPING } else { FRESH }) {
        Some((age, stacks)) => {
            if age >= FRESH {
                refresh_in_background(server);
            }
            Some(stacks)
        }
        None => look(server),
    }
}

/// Looks again beside the answers, so that whoever types next need not wait.
pub(crate) fn refresh_in_background(server: &Arc<Server>) {
    let needs = server.place.index.is_some() && server.stacks.within(FRESH).is_none();
    let busy: Option<FlightGuard> = needs.then(|| server.stacks.looking.begin()).flatten();
    if let Some(busy) = busy {
        let server = server.clone();
        tokio::task::spawn_blocking(move || {
            look(&server);
            drop(busy);
        });
    }
}

/// Looks again, whatever is known.
pub(crate) fn look(server: &Server) -> Option<SearchSnapshot> {
    let at = Instant::now();
    let stacks = ops::stacks(&server.place.roots, server.place.index.as_ref())?;
    server.stacks.keep(at, &stacks);
    Some(stacks)
}
