//! A page: navigation, scripts, mouse, keyboard.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::connection::Connection;
use super::events::{BINDING, INIT_SCRIPT, Request, exception_text};
use super::keys::{KeyEvent, key_events};
use crate::wait::DEADLINE;

/// The interval at which a condition is evaluated.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The number of times that the position of an element is read before a click, if it moves.
const MAX_MOVES: usize = 100;

/// Waits until two frames were painted. Before that, content that the browser skipped has no text and cannot be clicked.
const PAINTED: &str = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))";

/// Returns the center of an element and checks that the element is on top there; `SELECTOR` is the selector.
///
/// The largest rectangle counts: the center of a link that wraps over lines may be outside of it.
const CENTER_OF_ELEMENT: &str = "(async () => {
    const scroll = { block: 'center', inline: 'center', behavior: 'instant' };
    document.querySelector(SELECTOR)?.scrollIntoView(scroll);
    await PAINTED;
    const element = document.querySelector(SELECTOR);
    if (!element) return { problem: 'there is no such element' };
    element.scrollIntoView(scroll);
    const rects = [...element.getClientRects()].sort((a, b) => b.width * b.height - a.width * a.height);
    const rect = rects[0];
    if (!rect || !rect.width || !rect.height) return { problem: 'it has no size' };
    const x = rect.x + rect.width / 2, y = rect.y + rect.height / 2;
    const top = document.elementFromPoint(x, y);
    if (!top) return { problem: `it is outside of the viewport at ${x}, ${y}` };
    if (!element.contains(top)) return { problem: `it is covered by ${top.outerHTML.slice(0, 120)}` };
    return { x, y };
})()";

/// A page. It shares no cookies and no storage with other pages, and is closed when dropped.
pub struct Page {
    pub(super) connection: Arc<Connection>,
    session: String,
    pub(super) context: String,
    expected_statuses: Vec<u16>,
}

impl Page {
    /// Opens an empty page and starts to record its events.
    #[track_caller]
    pub(super) fn open(connection: &Arc<Connection>) -> Page {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let context =
            connection.call(None, "Target.createBrowserContext", &json!({ "disposeOnDetach": true }));
        let context = text(&context["browserContextId"]);
        let target =
            json!({ "url": "about:blank", "browserContextId": context, "width": 1280, "height": 800 });
        let target = connection.call(None, "Target.createTarget", &target);
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = text(&connection.call(None, "Target.attachToTarget", &attach)["sessionId"]);
        connection.record_events(&session);
        let page =
            Page { connection: Arc::clone(connection), session, context, expected_statuses: Vec::new() };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            page.call(&format!("{domain}.enable"), &json!({}));
        }
        page.call("Page.setLifecycleEventsEnabled", &json!({ "enabled": true }));
        page.call("Runtime.addBinding", &json!({ "name": BINDING }));
        page.call("Page.addScriptToEvaluateOnNewDocument", &json!({ "source": INIT_SCRIPT }));
        // Every page behaves as if it had the focus, so that tests can run in parallel.
        page.call("Emulation.setFocusEmulationEnabled", &json!({ "enabled": true }));
        page.resize(1280, 800, false);
        page
    }

    /// Sends a command to this page.
    #[track_caller]
    pub(super) fn call(&self, method: &str, params: &Value) -> Value {
        self.connection.call(Some(&self.session), method, params)
    }

    /// Navigates to a URL and waits until the page is loaded.
    #[track_caller]
    pub fn goto(&self, url: &str) {
        let navigation = self.call("Page.navigate", &json!({ "url": url }));
        if let Some(reason) = navigation["errorText"].as_str() {
            panic!("{url}: {reason}");
        }
        // A navigation within a document loads nothing.
        let Some(loader) = navigation["loaderId"].as_str() else { return };
        let loaded = self.connection.wait_until(&self.session, |events| events.loaded.contains(loader));
        if let Err(reason) = loaded {
            panic!("{url} was not loaded: {reason}");
        }
    }

    /// Evaluates an expression and returns its value. Promises are awaited. Panics if the expression throws.
    #[track_caller]
    pub fn eval(&self, js: &str) -> Value {
        match self.try_eval(js) {
            Ok(Ok(value)) => value,
            Ok(Err(exception)) => panic!("`{}` throws {exception}", abbreviate(js)),
            Err(reason) => panic!("`{}`: {reason}", abbreviate(js)),
        }
    }

    /// Evaluates an expression. The inner `Err` is an exception, the outer `Err` a failed command.
    fn try_eval(&self, js: &str) -> Result<Result<Value, String>, String> {
        let params =
            json!({ "expression": js, "awaitPromise": true, "returnByValue": true, "userGesture": true });
        let mut reply = self.connection.try_call(Some(&self.session), "Runtime.evaluate", &params)?;
        match &reply["exceptionDetails"] {
            Value::Null => Ok(Ok(reply["result"]["value"].take())),
            details => Ok(Err(exception_text(details))),
        }
    }

    /// Waits until a condition holds, even if the page navigates meanwhile. Panics if the condition throws.
    #[track_caller]
    pub fn wait_for(&self, condition: &str) {
        self.wait_for_with_timeout(condition, DEADLINE);
    }

    /// Waits until a condition holds. Panics after `timeout` or if the condition throws.
    #[track_caller]
    pub fn wait_for_with_timeout(&self, condition: &str, timeout: Duration) {
        let js = format!("(async () => !!(await ({condition})))()");
        let deadline = Instant::now() + timeout;
        loop {
            let state = match self.try_eval(&js) {
                Ok(Ok(Value::Bool(true))) => return,
                Ok(Ok(_)) => "it is false".to_owned(),
                Ok(Err(exception)) => panic!("`{condition}` throws {exception}"),
                // During a navigation no document can evaluate the condition.
                Err(reason) => reason,
            };
            let is_late = Instant::now() >= deadline;
            assert!(!is_late, "`{condition}` did not become true within {timeout:?}: {state}");
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Clicks the center of the first element that matches a selector. Panics if it does not exist or is covered.
    #[track_caller]
    pub fn click(&self, selector: &str) {
        let mut center = self.scroll_to(selector);
        // Scrolling makes a page load more of its content, which may move the element.
        for _ in 0..MAX_MOVES {
            let previous = std::mem::replace(&mut center, self.scroll_to(selector));
            if previous == center {
                break;
            }
        }
        let (x, y) = center;
        self.send_mouse_event("mouseMoved", x, y);
        self.send_mouse_event("mousePressed", x, y);
        self.send_mouse_event("mouseReleased", x, y);
    }

    /// Moves the mouse over an element. Panics if it does not exist or is covered.
    #[track_caller]
    pub fn hover(&self, selector: &str) {
        let (x, y) = self.scroll_to(selector);
        self.send_mouse_event("mouseMoved", x, y);
    }

    /// Scrolls an element into view and returns its center.
    #[track_caller]
    fn scroll_to(&self, selector: &str) -> (f64, f64) {
        let script =
            CENTER_OF_ELEMENT.replace("PAINTED", PAINTED).replace("SELECTOR", &json!(selector).to_string());
        let point = self.eval(&script);
        match (point["x"].as_f64(), point["y"].as_f64()) {
            (Some(x), Some(y)) => (x, y),
            _ => panic!("`{selector}` cannot be clicked: {}", point["problem"].as_str().unwrap_or_default()),
        }
    }

    #[track_caller]
    fn send_mouse_event(&self, kind: &str, x: f64, y: f64) {
        let is_move = kind == "mouseMoved";
        let (button, clicks) = if is_move { ("none", 0) } else { ("left", 1) };
        let event = json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": clicks });
        self.call("Input.dispatchMouseEvent", &event);
    }

    /// Presses and releases a key, such as `Enter`, `/`, `?`, `g`, `Shift+Tab` or `Control+k`.
    #[track_caller]
    pub fn press(&self, key: &str) {
        let Some(events) = key_events(key) else { panic!("unknown key: `{key}`") };
        self.send_key_events(&events);
    }

    /// Types a text into the focused element. Characters without a key are inserted like by an input method.
    #[track_caller]
    pub fn type_text(&self, text: &str) {
        for c in text.chars() {
            let name = if c == '\n' { "Enter".to_owned() } else { c.to_string() };
            match key_events(&name) {
                Some(events) => self.send_key_events(&events),
                None => {
                    self.call("Input.insertText", &json!({ "text": name }));
                }
            }
        }
    }

    #[track_caller]
    fn send_key_events(&self, events: &[KeyEvent]) {
        for event in events {
            self.call("Input.dispatchKeyEvent", &event.to_params());
        }
    }

    /// Waits until two frames were painted.
    #[track_caller]
    pub fn wait_for_paint(&self) {
        self.eval(PAINTED);
    }

    /// Returns the visible text of the first element that matches a selector. Panics if it does not exist.
    #[track_caller]
    pub fn text(&self, selector: &str) -> String {
        let text = self
            .eval(&format!("{PAINTED}.then(() => document.querySelector({})?.innerText)", json!(selector)));
        match text.as_str() {
            Some(text) => text.to_owned(),
            None => panic!("no element matches `{selector}`"),
        }
    }

    /// Returns the number of elements that match a selector.
    #[track_caller]
    pub fn count(&self, selector: &str) -> usize {
        let count = self.eval(&format!("document.querySelectorAll({}).length", json!(selector)));
        count.as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or_default()
    }

    /// Accepts responses with this status, which is 400 or above.
    pub fn expect_status(&mut self, status: u16) {
        self.expected_statuses.push(status);
    }

    /// Returns all requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.connection.with_events(&self.session, |events| events.requests.clone())
    }

    /// Returns all dialogs so far. Every dialog was closed immediately.
    pub fn dialogs(&self) -> Vec<String> {
        self.connection.with_events(&self.session, |events| events.dialogs.clone())
    }

    /// Returns all problems so far: errors, dialogs, failed requests, and requests to other origins than `origin`.
    #[track_caller]
    pub fn problems(&self, origin: &str) -> Vec<String> {
        // All events that precede this reply have been recorded when it arrives.
        self.eval("new Promise(done => setTimeout(done))");
        let (mut problems, dialogs, requests) = self.connection.with_events(&self.session, |events| {
            (events.errors.clone(), events.dialogs.clone(), events.requests.clone())
        });
        problems.extend(dialogs.into_iter().map(|dialog| format!("dialog: {dialog}")));
        for request in requests {
            let shown = format!("{} {} ({})", request.method, request.url, request.kind);
            if !request.is_local_to(origin) {
                problems.push(format!("foreign origin: {shown}"));
            }
            if let Some(reason) = &request.failure {
                problems.push(format!("failed: {shown}: {reason}"));
            }
            let is_unexpected = |status: &u16| *status >= 400 && !self.expected_statuses.contains(status);
            if let Some(status) = request.status.filter(is_unexpected) {
                problems.push(format!("status {status}: {shown}"));
            }
        }
        problems
    }

    /// Panics if the page has [`problems`](Page::problems).
    #[track_caller]
    pub fn assert_no_problems(&self, origin: &str) {
        let problems = self.problems(origin);
        assert!(problems.is_empty(), "the page has problems:\n  {}", problems.join("\n  "));
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let context = json!({ "browserContextId": self.context });
        let _ = self.connection.try_call(None, "Target.disposeBrowserContext", &context);
        self.connection.remove_events(&self.session);
    }
}

/// Returns the beginning of a script, for messages.
fn abbreviate(js: &str) -> String {
    let mut prefix: String = js.chars().take(120).collect();
    if prefix.len() < js.len() {
        prefix.push('…');
    }
    prefix
}
