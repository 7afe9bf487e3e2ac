//! One page, and what a test does with it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::connection::{PATIENCE, Wire};
use super::events::{BINDING, INIT_SCRIPT, Request, thrown};
use super::keys::{Stroke, strokes};

/// How often a condition is looked at.
const GLANCE: Duration = Duration::from_millis(20);

/// Waits until two frames were drawn: before, what the browser has skipped so far has no text and cannot be hit.
const DRAWN: &str = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))";

/// Finds the middle of an element and what stands there; `AT` is the selector.
///
/// The largest piece counts: a link that breaks over lines has nothing in the middle of its whole.
const AIM: &str = "(async () => {
    const scroll = { block: 'center', inline: 'center', behavior: 'instant' };
    document.querySelector(AT)?.scrollIntoView(scroll);
    await DRAWN;
    const element = document.querySelector(AT);
    if (!element) return { problem: 'there is no such element' };
    element.scrollIntoView(scroll);
    const pieces = [...element.getClientRects()].sort((a, b) => b.width * b.height - a.width * a.height);
    const piece = pieces[0];
    if (!piece || !piece.width || !piece.height) return { problem: 'it has no size' };
    const x = piece.x + piece.width / 2, y = piece.y + piece.height / 2;
    const there = document.elementFromPoint(x, y);
    if (!there) return { problem: `it is out of sight at ${x}, ${y}` };
    if (!element.contains(there)) return { problem: `it is covered by ${there.outerHTML.slice(0, 120)}` };
    return { x, y };
})()";

/// A page of its own: it shares no cookies and no storage with others, and is closed when dropped.
pub struct Page {
    pub(super) wire: Arc<Wire>,
    session: String,
    pub(super) context: String,
    expected: Vec<u16>,
}

impl Page {
    /// Opens an empty page and starts to hear what it says.
    #[track_caller]
    pub(super) fn open(wire: &Arc<Wire>) -> Page {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let context = wire.call(None, "Target.createBrowserContext", &json!({ "disposeOnDetach": true }));
        let context = text(&context["browserContextId"]);
        let target =
            json!({ "url": "about:blank", "browserContextId": context, "width": 1280, "height": 800 });
        let target = wire.call(None, "Target.createTarget", &target);
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = text(&wire.call(None, "Target.attachToTarget", &attach)["sessionId"]);
        wire.listen(&session);
        let page = Page { wire: Arc::clone(wire), session, context, expected: Vec::new() };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            page.call(&format!("{domain}.enable"), &json!({}));
        }
        page.call("Page.setLifecycleEventsEnabled", &json!({ "enabled": true }));
        page.call("Runtime.addBinding", &json!({ "name": BINDING }));
        page.call("Page.addScriptToEvaluateOnNewDocument", &json!({ "source": INIT_SCRIPT }));
        // Every page believes that it is the one in front, so that tests can run side by side.
        page.call("Emulation.setFocusEmulationEnabled", &json!({ "enabled": true }));
        page.resize(1280, 800, false);
        page
    }

    /// Sends a command to this page.
    #[track_caller]
    pub(super) fn call(&self, method: &str, params: &Value) -> Value {
        self.wire.call(Some(&self.session), method, params)
    }

    /// Goes to an address and waits until everything is loaded.
    #[track_caller]
    pub fn goto(&self, url: &str) {
        let gone = self.call("Page.navigate", &json!({ "url": url }));
        if let Some(why) = gone["errorText"].as_str() {
            panic!("{url}: {why}");
        }
        // Within one document nothing is loaded.
        let Some(loader) = gone["loaderId"].as_str() else { return };
        if let Err(why) = self.wire.wait_until(&self.session, |heard| heard.loaded.contains(loader)) {
            panic!("{url} was not loaded: {why}");
        }
    }

    /// Evaluates an expression, waits for it where it is a promise, and returns its value; what it throws is a panic.
    #[track_caller]
    pub fn eval(&self, js: &str) -> Value {
        match self.try_eval(js) {
            Ok(Ok(value)) => value,
            Ok(Err(thrown)) => panic!("`{}` throws {thrown}", short(js)),
            Err(why) => panic!("`{}`: {why}", short(js)),
        }
    }

    /// Evaluates an expression: the value or what was thrown, where the page answered at all.
    fn try_eval(&self, js: &str) -> Result<Result<Value, String>, String> {
        let params =
            json!({ "expression": js, "awaitPromise": true, "returnByValue": true, "userGesture": true });
        let mut reply = self.wire.try_call(Some(&self.session), "Runtime.evaluate", &params)?;
        match &reply["exceptionDetails"] {
            Value::Null => Ok(Ok(reply["result"]["value"].take())),
            details => Ok(Err(thrown(details))),
        }
    }

    /// Waits until a condition holds, also over a change of the page; what it throws is a panic.
    #[track_caller]
    pub fn wait_for(&self, condition: &str) {
        self.wait_within(condition, PATIENCE);
    }

    /// Waits no longer than told until a condition holds.
    #[track_caller]
    pub fn wait_within(&self, condition: &str, patience: Duration) {
        let js = format!("(async () => !!(await ({condition})))()");
        let deadline = Instant::now() + patience;
        loop {
            let state = match self.try_eval(&js) {
                Ok(Ok(Value::Bool(true))) => return,
                Ok(Ok(_)) => "it is false".to_owned(),
                Ok(Err(thrown)) => panic!("`{condition}` throws {thrown}"),
                // While a page makes way for the next there is nobody to answer.
                Err(why) => why,
            };
            let late = Instant::now() >= deadline;
            assert!(!late, "`{condition}` did not come true within {patience:?}: {state}");
            std::thread::sleep(GLANCE);
        }
    }

    /// Clicks on the middle of the first element of a selector, which must be there and on top.
    #[track_caller]
    pub fn click(&self, selector: &str) {
        let (x, y) = self.aim(selector);
        self.mouse("mouseMoved", x, y);
        self.mouse("mousePressed", x, y);
        self.mouse("mouseReleased", x, y);
    }

    /// Moves the mouse over an element, which must be there and on top.
    #[track_caller]
    pub fn hover(&self, selector: &str) {
        let (x, y) = self.aim(selector);
        self.mouse("mouseMoved", x, y);
    }

    /// Scrolls an element into view and returns its middle.
    #[track_caller]
    fn aim(&self, selector: &str) -> (f64, f64) {
        let point = self.eval(&AIM.replace("DRAWN", DRAWN).replace("AT", &json!(selector).to_string()));
        match (point["x"].as_f64(), point["y"].as_f64()) {
            (Some(x), Some(y)) => (x, y),
            _ => panic!("`{selector}` cannot be clicked: {}", point["problem"].as_str().unwrap_or_default()),
        }
    }

    #[track_caller]
    fn mouse(&self, kind: &str, x: f64, y: f64) {
        let moved = kind == "mouseMoved";
        let (button, clicks) = if moved { ("none", 0) } else { ("left", 1) };
        let event = json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": clicks });
        self.call("Input.dispatchMouseEvent", &event);
    }

    /// Presses and releases a key, such as `Enter`, `/`, `?`, `g`, `Shift+Tab` or `Control+k`.
    #[track_caller]
    pub fn press(&self, key: &str) {
        let Some(strokes) = strokes(key) else { panic!("no key is called `{key}`") };
        self.strike(&strokes);
    }

    /// Types a text into what has the focus; what no key stands for is inserted as from an input method.
    #[track_caller]
    pub fn type_text(&self, text: &str) {
        for c in text.chars() {
            let name = if c == '\n' { "Enter".to_owned() } else { c.to_string() };
            match strokes(&name) {
                Some(strokes) => self.strike(&strokes),
                None => {
                    self.call("Input.insertText", &json!({ "text": name }));
                }
            }
        }
    }

    #[track_caller]
    fn strike(&self, strokes: &[Stroke]) {
        for stroke in strokes {
            self.call("Input.dispatchKeyEvent", &stroke.event());
        }
    }

    /// Waits until two frames were drawn.
    #[track_caller]
    pub fn settle(&self) {
        self.eval(DRAWN);
    }

    /// Returns the visible text of the first element of a selector, which must be there, once it is drawn.
    #[track_caller]
    pub fn text(&self, selector: &str) -> String {
        let text =
            self.eval(&format!("{DRAWN}.then(() => document.querySelector({})?.innerText)", json!(selector)));
        match text.as_str() {
            Some(text) => text.to_owned(),
            None => panic!("there is no `{selector}`"),
        }
    }

    /// Returns how many elements a selector finds.
    #[track_caller]
    pub fn count(&self, selector: &str) -> usize {
        let count = self.eval(&format!("document.querySelectorAll({}).length", json!(selector)));
        count.as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or_default()
    }

    /// Says that answers of a status of 400 and above are part of the test.
    pub fn expect_status(&mut self, status: u16) {
        self.expected.push(status);
    }

    /// Returns every request that was made so far.
    pub fn requests(&self) -> Vec<Request> {
        self.wire.heard(&self.session, |heard| heard.requests.clone())
    }

    /// Returns every dialog that was opened so far, each of which was dismissed.
    pub fn dialogs(&self) -> Vec<String> {
        self.wire.heard(&self.session, |heard| heard.dialogs.clone())
    }

    /// Returns in words what a page that may only ask one origin should not have done.
    #[track_caller]
    pub fn complaints(&self, origin: &str) -> Vec<String> {
        // What was said before this answer has been heard then.
        self.eval("new Promise(done => setTimeout(done))");
        let (mut all, dialogs, requests) = self.wire.heard(&self.session, |heard| {
            (heard.complaints.clone(), heard.dialogs.clone(), heard.requests.clone())
        });
        all.extend(dialogs.into_iter().map(|dialog| format!("dialog: {dialog}")));
        for request in requests {
            let shown = format!("{} {} ({})", request.method, request.url, request.kind);
            if !request.stays_with(origin) {
                all.push(format!("elsewhere: {shown}"));
            }
            if let Some(why) = &request.failure {
                all.push(format!("failed: {shown}: {why}"));
            }
            if let Some(status) = request.status.filter(|s| *s >= 400 && !self.expected.contains(s)) {
                all.push(format!("status {status}: {shown}"));
            }
        }
        all
    }

    /// Panics where the page complained, opened a dialog, or asked for something elsewhere or in vain.
    #[track_caller]
    pub fn assert_quiet(&self, origin: &str) {
        let complaints = self.complaints(origin);
        assert!(complaints.is_empty(), "the page is not quiet:\n  {}", complaints.join("\n  "));
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let context = json!({ "browserContextId": self.context });
        let _ = self.wire.try_call(None, "Target.disposeBrowserContext", &context);
        self.wire.forget(&self.session);
    }
}

/// Returns the beginning of a script, for messages.
fn short(js: &str) -> String {
    let mut shown: String = js.chars().take(120).collect();
    if shown.len() < js.len() {
        shown.push('…');
    }
    shown
}
