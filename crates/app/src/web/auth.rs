//! Who may come in: whoever knows the key of this run, under one of our own names.

use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::Response;

use super::response;
use super::server::Server;

/// What pages may load and run: our own script and style sheet, pictures of sessions, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The names and keys of this run.
#[derive(Debug)]
pub(crate) struct Auth {
    port: u16,
    key: String,
    seal: String,
    /// A key that lets in once, while it was not used.
    once: Mutex<Option<String>>,
}

/// Makes a secret that nobody can guess.
fn random() -> String {
    format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple())
}

impl Auth {
    /// Makes new keys for a server at `port`.
    pub(crate) fn new(port: u16) -> Auth {
        Auth { port, key: random(), seal: random(), once: Mutex::default() }
    }

    /// Returns the address that lets a browser in.
    pub(crate) fn address(&self) -> String {
        self.address_with(&self.key)
    }

    /// Returns an address that lets a browser in once: what starts a browser is seen by everybody on the machine.
    pub(crate) fn address_for_once(&self) -> String {
        let once = random();
        let address = self.address_with(&once);
        *self.once.lock().unwrap_or_else(PoisonError::into_inner) = Some(once);
        address
    }

    fn address_with(&self, key: &str) -> String {
        format!("http://127.0.0.1:{}/?key={key}", self.port)
    }

    /// Whether a key lets in; one that does so once is used up by it.
    fn opens(&self, key: &str) -> bool {
        let mut once = self.once.lock().unwrap_or_else(PoisonError::into_inner);
        let used = once.take_if(|once| same(key, once)).is_some();
        used || same(key, &self.key)
    }

    /// Returns what every form that writes must bring along.
    pub(crate) fn csrf_token(&self) -> &str {
        &self.seal
    }

    /// Whether a form was made by one of our own pages.
    pub(crate) fn is_sealed(&self, seal: &str) -> bool {
        same(seal, &self.seal)
    }

    /// Whether a name is one of ours.
    fn is_ours(&self, name: &str) -> bool {
        let host = name.strip_suffix(&format!(":{}", self.port));
        matches!(host, Some("127.0.0.1" | "localhost"))
    }

    /// Whether the request came to us by one of our names, and from a page of ours if it says from where.
    fn is_addressed(&self, headers: &HeaderMap) -> bool {
        let all = |name: HeaderName| {
            headers.get_all(name).into_iter().map(|value| value.to_str().unwrap_or_default())
        };
        let is_page = |origin: &str| origin.strip_prefix("http://").is_some_and(|host| self.is_ours(host));
        // Of two names, who knows which one somebody else goes by.
        all(header::HOST).count() == 1
            && all(header::HOST).all(|host| self.is_ours(host))
            && all(header::ORIGIN).all(is_page)
    }

    fn cookie(&self) -> String {
        format!("rethread-{}", self.port)
    }

    /// Whether the browser was let in before.
    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let name = self.cookie();
        cookies
            .flat_map(|line| line.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .any(|(known, value)| known == name && same(value, &self.key))
    }

    /// Reads the key out of an address; returns the address without it.
    fn key_in(&self, uri: &Uri) -> Option<String> {
        let pairs = uri.query()?.split('&');
        let (keys, rest): (Vec<&str>, Vec<&str>) = pairs.partition(|pair| pair.starts_with("key="));
        let known = keys.iter().any(|pair| self.opens(&pair["key=".len()..]));
        let query = if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) };
        // Two slashes at the beginning would name another host, and browsers read a backslash as one.
        known.then(|| format!("/{}{query}", uri.path().trim_start_matches(['/', '\\'])))
    }
}

/// Compares without telling by the time it takes how much was right.
fn same(given: &str, wanted: &str) -> bool {
    let differs = given.bytes().zip(wanted.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    given.len() == wanted.len() && differs == 0
}

/// Lets requests in, and says to every answer what the browser may do with it.
pub(crate) async fn check(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    let gate = &server.gate;
    let (headers, uri) = (request.headers(), request.uri());
    let mut response = if !gate.is_addressed(headers) {
        response::refused("this request was not made by a page of this server")
    } else if request.method() == Method::GET
        && let Some(address) = gate.key_in(uri)
    {
        enter(gate, &address)
    } else if !gate.has_cookie(headers) {
        response::refused("open the address that `rethread serve` printed: it holds the key")
    } else if !is_text(uri.path()) {
        response::missing("there is no such page")
    } else {
        next.run(request).await
    };
    fence(response.headers_mut());
    response
}

/// Whether a path is text once its `%` are read.
fn is_text(path: &str) -> bool {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, behind @ ..] = rest {
        let written = match (first, behind) {
            (b'%', [a, b, ..]) => {
                std::str::from_utf8(&[*a, *b]).ok().and_then(|hex| u8::from_str_radix(hex, 16).ok())
            }
            _ => None,
        };
        bytes.push(written.unwrap_or(*first));
        rest = if written.is_some() { &behind[2..] } else { behind };
    }
    std::str::from_utf8(&bytes).is_ok()
}

/// Turns the key of the address into a cookie, so that it stands in no address any more.
fn enter(gate: &Auth, address: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let cookie = format!("{}={}; Path=/; HttpOnly; SameSite=Strict", gate.cookie(), gate.key);
    let headers = response.headers_mut();
    let put = |headers: &mut HeaderMap, name, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    };
    put(headers, header::SET_COOKIE, &cookie);
    put(headers, header::LOCATION, address);
    response
}

fn fence(headers: &mut HeaderMap) {
    let all = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        // Without any, browsers do not say either from which page a form was sent.
        (header::REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in all {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, Uri, header};

    use super::{Auth, is_text};

    fn headers(pairs: &[(header::HeaderName, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
    }

    #[test]
    fn only_our_own_names_are_answered() {
        let gate = Auth::new(7333);
        let asked = |host: &str, origin: Option<&str>| {
            let mut pairs = vec![(header::HOST, host)];
            pairs.extend(origin.map(|origin| (header::ORIGIN, origin)));
            gate.is_addressed(&headers(&pairs))
        };
        assert!(asked("127.0.0.1:7333", None));
        assert!(asked("localhost:7333", Some("http://localhost:7333")));
        for host in [
            "evil.example",
            "127.0.0.1",
            "127.0.0.1:80",
            "evil.example:7333",
            "127.0.0.1:7333.evil.example",
            "",
        ] {
            assert!(!asked(host, None), "{host}");
        }
        for origin in ["null", "http://evil.example", "https://127.0.0.1:7333", "http://127.0.0.1:7334", ""] {
            assert!(!asked("127.0.0.1:7333", Some(origin)), "{origin}");
        }
        assert!(!gate.is_addressed(&HeaderMap::new()));
        for name in [header::HOST, header::ORIGIN] {
            let mut two =
                headers(&[(header::HOST, "127.0.0.1:7333"), (header::ORIGIN, "http://127.0.0.1:7333")]);
            assert!(gate.is_addressed(&two));
            two.append(name, "evil.example:7333".parse().unwrap());
            assert!(!gate.is_addressed(&two));
        }
    }

    #[test]
    fn the_key_is_taken_out_of_the_address() {
        let gate = Auth::new(1);
        let read = |address: String| gate.key_in(&address.parse::<Uri>().unwrap());
        assert_eq!(read(format!("/?key={}", gate.key)).as_deref(), Some("/"));
        assert_eq!(read(format!("/s/x?a=1&key={}&b=2", gate.key)).as_deref(), Some("/s/x?a=1&b=2"));
        assert_eq!(read(format!("//evil.example/?key={}", gate.key)).as_deref(), Some("/evil.example/"));
        for path in ["/\\evil.example/", "/\\/evil.example/", "\\evil.example/"] {
            // What reads addresses may refuse them, too.
            let Ok(uri) = format!("{path}?key={}", gate.key).parse::<Uri>() else { continue };
            assert_eq!(gate.key_in(&uri).as_deref(), Some("/evil.example/"), "{path}");
        }
        assert_eq!(read(format!("/?key={}x", gate.key)), None);
        assert_eq!(read("/?key=".to_owned()), None);
    }

    #[test]
    fn what_starts_a_browser_lets_in_once() {
        let gate = Auth::new(1);
        let address = gate.address_for_once();
        assert!(!address.contains(&gate.key), "it says nothing of the key of the run");
        let uri: Uri = address.parse().unwrap();
        assert_eq!((gate.key_in(&uri).as_deref(), gate.key_in(&uri)), (Some("/"), None));
        assert_eq!(gate.key_in(&gate.address().parse().unwrap()).as_deref(), Some("/"), "that one stays");
    }

    #[test]
    fn a_path_is_text() {
        for path in ["/s/a%20b", "/s/%C3%A4", "/", "/%", "/%zz", "/%e"] {
            assert!(is_text(path), "{path}");
        }
        for path in ["/s/%ff", "/s/%C3", "/%c3%28"] {
            assert!(!is_text(path), "{path}");
        }
    }

    #[test]
    fn only_the_whole_cookie_counts() {
        let gate = Auth::new(1);
        let has = |cookie: &str| gate.has_cookie(&headers(&[(header::COOKIE, cookie)]));
        assert!(has(&format!("a=b; rethread-1={}", gate.key)));
        assert!(!has(&format!("rethread-2={}", gate.key)));
        assert!(!has(&format!("rethread-1={}", &gate.key[1..])));
        assert!(!has("rethread-1="));
    }
}
