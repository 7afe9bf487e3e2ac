//! What a page says without being asked: errors, dialogs, violations of its policy, requests.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

/// The function by which the script of every page reports violations of its policy.
pub(super) const BINDING: &str = "rethreadViolation";

/// The script that runs before all others in every document.
pub(super) const INIT_SCRIPT: &str = "document.addEventListener('securitypolicyviolation', event => \
    rethreadViolation(`${event.effectiveDirective} forbids ${event.blockedURI || 'this'} (line ${event.lineNumber})`));";

/// A request that a page made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The address.
    pub url: String,
    /// The method, `GET` for most.
    pub method: String,
    /// What it was for, in the words of the protocol: `Document`, `Script`, `Fetch`, …; `Window` for a page that was opened.
    pub kind: String,
    /// The status of the answer, as soon as there is one.
    pub status: Option<u16>,
    /// Why there was no answer.
    pub failure: Option<String>,
}

impl Request {
    /// Returns whether the request stays with an origin such as `http://127.0.0.1:8080`, or never leaves the page.
    pub fn stays_with(&self, origin: &str) -> bool {
        let origin = origin.trim_end_matches('/');
        let rest = self.url.strip_prefix(origin);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?', '#']))
            || self.url.starts_with("data:")
            || self.url.strip_prefix("blob:").is_some_and(|inner| inner.starts_with(origin))
            || self.url == "about:blank"
            || self.url == "about:srcdoc"
    }
}

/// Everything that was heard of one page.
#[derive(Default)]
pub(super) struct PageEvents {
    /// What should not have been, in words.
    pub(super) complaints: Vec<String>,
    pub(super) dialogs: Vec<String>,
    pub(super) requests: Vec<Request>,
    /// Where the last request of an id stands.
    places: HashMap<String, usize>,
    /// Documents of which everything is there.
    pub(super) loaded: HashSet<String>,
}

impl PageEvents {
    /// Takes in one event.
    pub(super) fn take(&mut self, method: &str, params: &Value) {
        match method {
            "Runtime.exceptionThrown" => self.complain("uncaught", &thrown(&params["exceptionDetails"])),
            "Runtime.consoleAPICalled" if matches!(word(&params["type"]), "error" | "assert") => {
                self.complain("console", &spoken(&params["args"]));
            }
            "Runtime.bindingCalled" if params["name"] == BINDING => {
                self.complain("policy", word(&params["payload"]));
            }
            "Log.entryAdded" => self.log(&params["entry"]),
            "Page.javascriptDialogOpening" => {
                self.dialogs.push(format!("{}: {}", word(&params["type"]), word(&params["message"])));
            }
            "Page.windowOpen" => self.open(word(&params["url"]), "GET", "Window"),
            "Page.lifecycleEvent" if params["name"] == "load" => {
                self.loaded.insert(word(&params["loaderId"]).to_owned());
            }
            "Network.webSocketCreated" => self.open(word(&params["url"]), "GET", "WebSocket"),
            "Network.requestWillBeSent" => self.request(params),
            "Network.responseReceived" => {
                let status = status(&params["response"]);
                self.update(params, |request| request.status = status);
            }
            // What the page itself gave up, by going elsewhere or by closing a stream, did not fail.
            "Network.loadingFailed" if params["canceled"] != true || params["blockedReason"].is_string() => {
                let why = params["blockedReason"].as_str().unwrap_or(word(&params["errorText"])).to_owned();
                self.update(params, |request| request.failure = Some(why));
            }
            _ => {}
        }
    }

    fn complain(&mut self, kind: &str, what: &str) {
        self.complaints.push(format!("{kind}: {what}"));
    }

    /// Takes an entry of the log; failed requests stand there too, and are known from the requests themselves.
    fn log(&mut self, entry: &Value) {
        let source = word(&entry["source"]);
        let bad = source == "security" || (entry["level"] == "error" && source != "network");
        if bad {
            self.complain(source, word(&entry["text"]));
        }
    }

    fn open(&mut self, url: &str, method: &str, kind: &str) {
        let (url, method, kind) = (url.to_owned(), method.to_owned(), kind.to_owned());
        self.requests.push(Request { url, method, kind, status: None, failure: None });
    }

    /// Takes a request; one that was redirected comes again under the same id.
    fn request(&mut self, params: &Value) {
        if params["redirectResponse"].is_object() {
            let status = status(&params["redirectResponse"]);
            self.update(params, |request| request.status = status);
        }
        let request = &params["request"];
        self.places.insert(word(&params["requestId"]).to_owned(), self.requests.len());
        self.open(word(&request["url"]), word(&request["method"]), word(&params["type"]));
    }

    fn update(&mut self, params: &Value, change: impl FnOnce(&mut Request)) {
        let place = self.places.get(word(&params["requestId"])).copied();
        if let Some(request) = place.and_then(|place| self.requests.get_mut(place)) {
            change(request);
        }
    }
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn status(response: &Value) -> Option<u16> {
    response["status"].as_u64().and_then(|status| u16::try_from(status).ok())
}

/// Returns what was thrown, with its place.
pub(super) fn thrown(details: &Value) -> String {
    let what = details["exception"]["description"].as_str();
    let value = &details["exception"]["value"];
    let what = match what {
        Some(what) => what.to_owned(),
        None if value.is_null() => word(&details["text"]).to_owned(),
        None => value.to_string(),
    };
    let line = details["lineNumber"].as_u64().unwrap_or_default() + 1;
    format!("{what} ({}:{line})", details["url"].as_str().unwrap_or("script"))
}

/// Returns the words that were given to the console.
fn spoken(args: &Value) -> String {
    let args = args.as_array().map(Vec::as_slice).unwrap_or_default();
    let one = |arg: &Value| match (&arg["value"], arg["description"].as_str()) {
        (Value::String(text), _) => text.clone(),
        (_, Some(description)) => description.to_owned(),
        (value, None) => value.to_string(),
    };
    args.iter().map(one).collect::<Vec<_>>().join(" ")
}
