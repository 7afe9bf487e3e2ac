//! The DevTools protocol on two pipes: commands and their replies by id, events by session.
//!
//! One thread reads; those who wait are woken by every message and look whether it was theirs.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::events::PageEvents;

/// How long anything may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// Locks, also after a test panicked with the lock in its hands.
pub(super) fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The connection to one Chromium.
pub(super) struct Wire {
    /// Nothing once the connection was closed.
    to: Mutex<Option<ChildStdin>>,
    next: AtomicU64,
    state: Mutex<State>,
    news: Condvar,
}

/// What came in and was not yet fetched.
#[derive(Default)]
struct State {
    /// Ids of commands with their replies, as soon as they came.
    replies: HashMap<u64, Option<Value>>,
    sessions: HashMap<String, PageEvents>,
    ended: bool,
}

impl Wire {
    /// Connects to the pipes of a Chromium.
    pub(super) fn new(to: ChildStdin, from: ChildStdout) -> Arc<Wire> {
        let wire = Arc::new(Wire {
            to: Mutex::new(Some(to)),
            next: AtomicU64::new(1),
            state: Mutex::default(),
            news: Condvar::new(),
        });
        let ours = Arc::clone(&wire);
        std::thread::spawn(move || ours.read(from));
        wire
    }

    /// Closes the pipe, upon which Chromium ends.
    pub(super) fn close(&self) {
        held(&self.to).take();
    }

    /// Sends a command and returns its result.
    #[track_caller]
    pub(super) fn call(&self, session: Option<&str>, method: &str, params: &Value) -> Value {
        match self.try_call(session, method, params) {
            Ok(result) => result,
            Err(why) => panic!("{method}: {why}"),
        }
    }

    /// Sends a command and returns its result, or in words why there is none.
    pub(super) fn try_call(
        &self,
        session: Option<&str>,
        method: &str,
        params: &Value,
    ) -> Result<Value, String> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        held(&self.state).replies.insert(id, None);
        let sent = self.send(id, session, method, params);
        let reply = sent.and_then(|()| self.wait(|state| state.replies.get_mut(&id).and_then(Option::take)));
        held(&self.state).replies.remove(&id);
        let mut reply = reply?;
        match reply["error"]["message"].as_str() {
            Some(message) => Err(message.to_owned()),
            None => Ok(reply["result"].take()),
        }
    }

    /// Starts to hear what a session says.
    pub(super) fn listen(&self, session: &str) {
        held(&self.state).sessions.insert(session.to_owned(), PageEvents::default());
    }

    /// Forgets a session.
    pub(super) fn forget(&self, session: &str) {
        held(&self.state).sessions.remove(session);
    }

    /// Looks at what was heard of a session.
    pub(super) fn heard<T: Default>(&self, session: &str, look: impl FnOnce(&PageEvents) -> T) -> T {
        held(&self.state).sessions.get(session).map(look).unwrap_or_default()
    }

    /// Waits until something holds for what was heard of a session.
    pub(super) fn wait_until(
        &self,
        session: &str,
        holds: impl Fn(&PageEvents) -> bool,
    ) -> Result<(), String> {
        self.wait(|state| state.sessions.get(session).is_some_and(&holds).then_some(()))
    }

    /// Waits until the state holds what is looked for.
    fn wait<T>(&self, mut look: impl FnMut(&mut State) -> Option<T>) -> Result<T, String> {
        let deadline = Instant::now() + PATIENCE;
        let mut state = held(&self.state);
        loop {
            if let Some(found) = look(&mut state) {
                return Ok(found);
            }
            if state.ended {
                return Err("Chromium has ended".to_owned());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(format!("nothing came within {} s", PATIENCE.as_secs()));
            }
            state = self.news.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Writes one message.
    fn send(&self, id: u64, session: Option<&str>, method: &str, params: &Value) -> Result<(), String> {
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        match held(&self.to).as_mut() {
            Some(to) => to.write_all(&bytes).and_then(|()| to.flush()).map_err(|failure| failure.to_string()),
            None => Err("the connection is closed".to_owned()),
        }
    }

    /// Reads messages until there are no more; runs in a thread of its own.
    fn read(&self, from: ChildStdout) {
        let mut from = BufReader::new(from);
        let mut bytes = Vec::new();
        while from.read_until(0, &mut bytes).is_ok_and(|read| read > 0) {
            if bytes.last() == Some(&0) {
                bytes.pop();
            }
            if let Ok(message) = serde_json::from_slice(&bytes) {
                self.take(message);
            }
            bytes.clear();
        }
        held(&self.state).ended = true;
        self.news.notify_all();
    }

    /// Puts one message where it belongs.
    fn take(&self, message: Value) {
        // The page stands still until its dialog is answered, and with it the command that opened it; one that asks whether to
        // leave is told yes, because dismissed it would stay.
        if message["method"] == "Page.javascriptDialogOpening" {
            let id = self.next.fetch_add(1, Ordering::Relaxed);
            let answer = json!({ "accept": message["params"]["type"] == "beforeunload" });
            let _ = self.send(id, message["sessionId"].as_str(), "Page.handleJavaScriptDialog", &answer);
        }
        let mut state = held(&self.state);
        if let Some(id) = message["id"].as_u64() {
            // A reply that nobody waits for any more, or never did, is dropped.
            if let Some(reply) = state.replies.get_mut(&id) {
                *reply = Some(message);
            }
        } else if let (Some(session), Some(method)) =
            (message["sessionId"].as_str(), message["method"].as_str())
            && let Some(hearing) = state.sessions.get_mut(session)
        {
            hearing.take(method, &message["params"]);
        }
        drop(state);
        self.news.notify_all();
    }
}
