//! A server with one session, and requests to its actions: forms with a CSRF token, fragments as the script fetches them.

use rethread_testkit::home::{Home, Snapshot};
use rethread_testkit::script;
use rethread_testkit::web_server::{HttpResponse, WebServer};

use crate::new_home;

/// The id of the session, which is also its key in URLs.
pub(crate) const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000001";

/// A running server with one session.
pub(crate) struct ActionServer {
    server: WebServer,
}

/// The header by which the script of a page requests a fragment.
const FRAGMENT: (&str, &str) = ("x-rethread", "fragment");
const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");

fn session_path() -> String {
    format!(".claude/projects/-home-ann-garden/{SESSION}.jsonl")
}

impl ActionServer {
    /// Starts a server with a session that a script describes. The file is an hour old.
    pub(crate) fn new(text: &str) -> ActionServer {
        ActionServer::with_home(text, |_| {})
    }

    /// Starts a server like [`ActionServer::new`]; `prepare` may add files to the home.
    pub(crate) fn with_home(text: &str, prepare: impl FnOnce(&Home)) -> ActionServer {
        let home = new_home();
        home.write_old(&session_path(), script::bytes(text));
        prepare(&home);
        ActionServer { server: WebServer::start(home) }
    }

    /// Appends entries to the session. The file is an hour old again.
    pub(crate) fn append(&self, text: &str) {
        let bytes = [self.read_session(), script::bytes(text)].concat();
        self.server.home().write_old(&session_path(), bytes);
    }

    /// Returns the home of the server.
    pub(crate) fn home(&self) -> &Home {
        self.server.home()
    }

    /// Reads the session file.
    pub(crate) fn read_session(&self) -> Vec<u8> {
        std::fs::read(self.server.home().path().join(session_path())).unwrap()
    }

    /// Reads everything below `.claude`.
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.server.home().snapshot()
    }

    /// Requests a fragment of a page, as the script does.
    pub(crate) fn get_fragment(&self, path: &str) -> HttpResponse {
        self.server.get_with_headers(path, &[FRAGMENT])
    }

    /// Requests a whole page.
    pub(crate) fn get_page(&self, path: &str) -> HttpResponse {
        self.server.get(path)
    }

    /// Sends a form with the CSRF token of this server, as the script does.
    pub(crate) fn post(&self, path: &str, fields: &[(&str, &str)]) -> HttpResponse {
        let csrf_token = self.csrf_token();
        let fields: Vec<(&str, &str)> =
            [("csrf", csrf_token.as_str())].into_iter().chain(fields.iter().copied()).collect();
        self.post_with_headers(path, &fields, &[FRAGMENT])
    }

    /// Sends a form without adding a token; see [`WebServer::request`] for the headers.
    pub(crate) fn post_with_headers(
        &self,
        path: &str,
        fields: &[(&str, &str)],
        headers: &[(&str, &str)],
    ) -> HttpResponse {
        let body: Vec<String> = fields
            .iter()
            .map(|(name, value)| format!("{}={}", url_encode(name), url_encode(value)))
            .collect();
        let has_type = headers.iter().any(|(name, _)| *name == FORM.0);
        let default_type = if has_type { None } else { Some(FORM) };
        let headers: Vec<(&str, &str)> = default_type.into_iter().chain(headers.iter().copied()).collect();
        self.server.request("POST", path, &headers, &body.join("&"))
    }

    /// Reads the CSRF token from a form.
    pub(crate) fn csrf_token(&self) -> String {
        let form = self.get_fragment(&format!("/s/{SESSION}/action/rename"));
        between(&form.body, "name=\"csrf\" value=\"", "\"").expect("forms have a CSRF token").to_owned()
    }
}

/// Returns the text between `from` and the next `to`. Returns `None` if either is missing.
pub(crate) fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    Some(text.split_once(from)?.1.split_once(to)?.0)
}

/// Percent-encodes every byte but ASCII letters and digits.
pub(crate) fn url_encode(value: &str) -> String {
    value
        .bytes()
        .map(|b| if b.is_ascii_alphanumeric() { (b as char).to_string() } else { format!("%{b:02X}") })
        .collect()
}
