//! Events of a page: errors, dialogs, violations of its content security policy, requests.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

/// The function that reports violations of the content security policy.
pub(super) const BINDING: &str = "rethreadViolation";

/// The script that runs first in every document.
pub(super) const INIT_SCRIPT: &str = "document.addEventListener('securitypolicyviolation', event => \
    rethreadViolation(`${event.effectiveDirective} forbids ${event.blockedURI || 'this'} (line ${event.lineNumber})`));";

/// A request that a page made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The requested URL.
    pub url: String,
    /// The HTTP method.
    pub method: String,
    /// The resource type in the DevTools protocol: `Document`, `Script`, `Fetch`, …; `Window` for an opened window.
    pub kind: String,
    /// The status of the response, once it has arrived.
    pub status: Option<u16>,
    /// The reason why the request failed.
    pub failure: Option<String>,
}

impl Request {
    /// Returns `true` if the request is to `origin`, such as `http://127.0.0.1:8080`, or needs no network.
    pub fn is_local_to(&self, origin: &str) -> bool {
        let origin = origin.trim_end_matches('/');
        let rest = self.url.strip_prefix(origin);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?', '#']))
            || self.url.starts_with("data:")
            || self.url.strip_prefix("blob:").is_some_and(|inner| inner.starts_with(origin))
            || self.url == "about:blank"
            || self.url == "about:srcdoc"
    }
}

/// The events of one page.
#[derive(Default)]
pub(super) struct PageEvents {
    /// Errors and policy violations, as text.
    pub(super) errors: Vec<String>,
    pub(super) dialogs: Vec<String>,
    pub(super) requests: Vec<Request>,
    /// The index in `requests` of the last request with an id.
    request_idx: HashMap<String, usize>,
    /// The loader ids of completely loaded documents.
    pub(super) loaded: HashSet<String>,
}

impl PageEvents {
    /// Adds an event.
    pub(super) fn add(&mut self, method: &str, params: &Value) {
        match method {
            "Runtime.exceptionThrown" => {
                self.add_error("uncaught", &exception_text(&params["exceptionDetails"]));
            }
            "Runtime.consoleAPICalled" if matches!(text(&params["type"]), "error" | "assert") => {
                self.add_error("console", &console_text(&params["args"]));
            }
            "Runtime.bindingCalled" if params["name"] == BINDING => {
                self.add_error("policy", text(&params["payload"]));
            }
            "Log.entryAdded" => self.add_log_entry(&params["entry"]),
            "Page.javascriptDialogOpening" => {
                self.dialogs.push(format!("{}: {}", text(&params["type"]), text(&params["message"])));
            }
            "Page.windowOpen" => self.push_request(text(&params["url"]), "GET", "Window"),
            "Page.lifecycleEvent" if params["name"] == "load" => {
                self.loaded.insert(text(&params["loaderId"]).to_owned());
            }
            "Network.webSocketCreated" => self.push_request(text(&params["url"]), "GET", "WebSocket"),
            "Network.requestWillBeSent" => self.add_request(params),
            "Network.responseReceived" => {
                let status = response_status(&params["response"]);
                self.update_request(params, |request| request.status = status);
            }
            // A request that the page cancelled, by navigating or by closing a stream, did not fail.
            "Network.loadingFailed" if params["canceled"] != true || params["blockedReason"].is_string() => {
                let reason =
                    params["blockedReason"].as_str().unwrap_or(text(&params["errorText"])).to_owned();
                self.update_request(params, |request| request.failure = Some(reason));
            }
            _ => {}
        }
    }

    fn add_error(&mut self, kind: &str, message: &str) {
        self.errors.push(format!("{kind}: {message}"));
    }

    /// Adds an entry of the browser log. Failed requests are skipped: `requests` contains them.
    fn add_log_entry(&mut self, entry: &Value) {
        let source = text(&entry["source"]);
        let is_error = source == "security" || (entry["level"] == "error" && source != "network");
        if is_error {
            self.add_error(source, text(&entry["text"]));
        }
    }

    fn push_request(&mut self, url: &str, method: &str, kind: &str) {
        let (url, method, kind) = (url.to_owned(), method.to_owned(), kind.to_owned());
        self.requests.push(Request { url, method, kind, status: None, failure: None });
    }

    /// Adds a request. A redirected request is reported again with the same id.
    fn add_request(&mut self, params: &Value) {
        if params["redirectResponse"].is_object() {
            let status = response_status(&params["redirectResponse"]);
            self.update_request(params, |request| request.status = status);
        }
        let request = &params["request"];
        self.request_idx.insert(text(&params["requestId"]).to_owned(), self.requests.len());
        self.push_request(text(&request["url"]), text(&request["method"]), text(&params["type"]));
    }

    fn update_request(&mut self, params: &Value, change: impl FnOnce(&mut Request)) {
        let idx = self.request_idx.get(text(&params["requestId"])).copied();
        if let Some(request) = idx.and_then(|idx| self.requests.get_mut(idx)) {
            change(request);
        }
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn response_status(response: &Value) -> Option<u16> {
    response["status"].as_u64().and_then(|status| u16::try_from(status).ok())
}

/// Returns the text of an exception and the line that threw it.
pub(super) fn exception_text(details: &Value) -> String {
    let description = details["exception"]["description"].as_str();
    let value = &details["exception"]["value"];
    let message = match description {
        Some(description) => description.to_owned(),
        None if value.is_null() => text(&details["text"]).to_owned(),
        None => value.to_string(),
    };
    let line = details["lineNumber"].as_u64().unwrap_or_default() + 1;
    format!("{message} ({}:{line})", details["url"].as_str().unwrap_or("script"))
}

/// Returns the arguments of a console call as text.
fn console_text(args: &Value) -> String {
    let args = args.as_array().map(Vec::as_slice).unwrap_or_default();
    let arg_text = |arg: &Value| match (&arg["value"], arg["description"].as_str()) {
        (Value::String(string), _) => string.clone(),
        (_, Some(description)) => description.to_owned(),
        (value, None) => value.to_string(),
    };
    args.iter().map(arg_text).collect::<Vec<_>>().join(" ")
}
