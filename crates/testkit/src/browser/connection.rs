//! The DevTools protocol on two pipes: commands and their replies by id, events by session.
//!
//! One thread reads. Every message wakes all waiting threads, which check whether their condition holds.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::{Value, json};

use super::events::PageEvents;
use crate::wait::DEADLINE;

/// Locks a mutex, even if a test panicked while it held the lock.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The connection to one Chromium.
pub(super) struct Connection {
    /// `None` after the connection was closed.
    stdin: Mutex<Option<ChildStdin>>,
    next_id: AtomicU64,
    state: Mutex<ConnectionState>,
    message_arrived: Condvar,
}

/// The received messages.
#[derive(Default)]
struct ConnectionState {
    /// Replies by the id of the command, `None` until the reply arrives.
    replies: HashMap<u64, Option<Value>>,
    sessions: HashMap<String, PageEvents>,
    is_closed: bool,
}

impl Connection {
    /// Connects to the pipes of a Chromium.
    pub(super) fn new(stdin: ChildStdin, stdout: ChildStdout) -> Arc<Connection> {
        let connection = Arc::new(Connection {
            stdin: Mutex::new(Some(stdin)),
            next_id: AtomicU64::new(1),
            state: Mutex::default(),
            message_arrived: Condvar::new(),
        });
        let reader = Arc::clone(&connection);
        std::thread::spawn(move || reader.read_messages(stdout));
        connection
    }

    /// Closes the pipe. Chromium exits then.
    pub(super) fn close(&self) {
        lock(&self.stdin).take();
    }

    /// Sends a command and returns its result. Panics if the command fails.
    #[track_caller]
    pub(super) fn call(&self, session: Option<&str>, method: &str, params: &Value) -> Value {
        match self.try_call(session, method, params) {
            Ok(result) => result,
            Err(reason) => panic!("{method}: {reason}"),
        }
    }

    /// Sends a command and returns its result. Returns the reason if it fails.
    pub(super) fn try_call(
        &self,
        session: Option<&str>,
        method: &str,
        params: &Value,
    ) -> Result<Value, String> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        lock(&self.state).replies.insert(id, None);
        let sent = self.send(id, session, method, params);
        let reply = sent.and_then(|()| self.wait(|state| state.replies.get_mut(&id).and_then(Option::take)));
        lock(&self.state).replies.remove(&id);
        let mut reply = reply?;
        match reply["error"]["message"].as_str() {
            Some(message) => Err(message.to_owned()),
            None => Ok(reply["result"].take()),
        }
    }

    /// Starts to record the events of a session.
    pub(super) fn record_events(&self, session: &str) {
        lock(&self.state).sessions.insert(session.to_owned(), PageEvents::default());
    }

    /// Drops the events of a session.
    pub(super) fn remove_events(&self, session: &str) {
        lock(&self.state).sessions.remove(session);
    }

    /// Calls `read` with the events of a session. Returns the default if the session is unknown.
    pub(super) fn with_events<T: Default>(&self, session: &str, read: impl FnOnce(&PageEvents) -> T) -> T {
        lock(&self.state).sessions.get(session).map(read).unwrap_or_default()
    }

    /// Waits until a condition holds for the events of a session.
    pub(super) fn wait_until(
        &self,
        session: &str,
        condition: impl Fn(&PageEvents) -> bool,
    ) -> Result<(), String> {
        self.wait(|state| state.sessions.get(session).is_some_and(&condition).then_some(()))
    }

    /// Waits until `poll` returns a value.
    fn wait<T>(&self, mut poll: impl FnMut(&mut ConnectionState) -> Option<T>) -> Result<T, String> {
        let deadline = Instant::now() + DEADLINE;
        let mut state = lock(&self.state);
        loop {
            if let Some(value) = poll(&mut state) {
                return Ok(value);
            }
            if state.is_closed {
                return Err("Chromium has exited".to_owned());
            }
            let remaining = deadline.saturating_duration_since(Instant::now());
            if remaining.is_zero() {
                return Err(format!("no reply within {} s", DEADLINE.as_secs()));
            }
            let woken = self.message_arrived.wait_timeout(state, remaining);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
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
        match lock(&self.stdin).as_mut() {
            Some(stdin) => {
                stdin.write_all(&bytes).and_then(|()| stdin.flush()).map_err(|error| error.to_string())
            }
            None => Err("the connection is closed".to_owned()),
        }
    }

    /// Reads messages until the pipe is closed. Runs in its own thread.
    fn read_messages(&self, stdout: ChildStdout) {
        let mut stdout = BufReader::new(stdout);
        let mut bytes = Vec::new();
        while stdout.read_until(0, &mut bytes).is_ok_and(|len| len > 0) {
            if bytes.last() == Some(&0) {
                bytes.pop();
            }
            if let Ok(message) = serde_json::from_slice(&bytes) {
                self.dispatch(message);
            }
            bytes.clear();
        }
        lock(&self.state).is_closed = true;
        self.message_arrived.notify_all();
    }

    /// Stores a reply or an event, and closes dialogs.
    fn dispatch(&self, message: Value) {
        // The page and the command that opened the dialog block until the dialog is closed. `beforeunload` is accepted,
        // because dismissing it would stop the navigation. All others are dismissed.
        if message["method"] == "Page.javascriptDialogOpening" {
            let id = self.next_id.fetch_add(1, Ordering::Relaxed);
            let answer = json!({ "accept": message["params"]["type"] == "beforeunload" });
            let _ = self.send(id, message["sessionId"].as_str(), "Page.handleJavaScriptDialog", &answer);
        }
        let mut state = lock(&self.state);
        if let Some(id) = message["id"].as_u64() {
            // A reply without a waiting thread is dropped.
            if let Some(reply) = state.replies.get_mut(&id) {
                *reply = Some(message);
            }
        } else if let (Some(session), Some(method)) =
            (message["sessionId"].as_str(), message["method"].as_str())
            && let Some(events) = state.sessions.get_mut(session)
        {
            events.add(method, &message["params"]);
        }
        drop(state);
        self.message_arrived.notify_all();
    }
}
