//! Authentication: a request needs the key of this run and one of our own host names.

use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::Response;

use super::cached::lock;
use super::connections::Connection;
use super::response;
use super::server::Server;

/// The content policy: pages load our own script and style sheet, images of sessions, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The port of this server and the secrets of this run.
#[derive(Debug)]
pub(crate) struct Auth {
    port: u16,
    /// The secret in the address that the user opens, and then in the cookie.
    key: String,
    /// The secret in every form that writes.
    csrf_token: String,
    /// A key that works once. `None` if there is none or it was used.
    one_time_key: Mutex<Option<String>>,
}

/// Returns an unguessable secret of 64 hexadecimal digits.
fn generate_key() -> String {
    format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple())
}

impl Auth {
    /// Creates new secrets for a server at `port`.
    pub(crate) fn new(port: u16) -> Auth {
        Auth { port, key: generate_key(), csrf_token: generate_key(), one_time_key: Mutex::default() }
    }

    /// Returns the address of the home page with the key, which stays valid until the server ends.
    pub(crate) fn address(&self) -> String {
        self.address_with(&self.key)
    }

    /// Creates a one-time key, which replaces an unused one, and returns the address with it. That address is passed
    /// on a command line, which other users of the machine can read.
    pub(crate) fn create_one_time_address(&self) -> String {
        let key = generate_key();
        let address = self.address_with(&key);
        *lock(&self.one_time_key) = Some(key);
        address
    }

    fn address_with(&self, key: &str) -> String {
        format!("http://127.0.0.1:{}/?key={key}", self.port)
    }

    /// Returns `true` if a key is the key of this run or the one-time key. Uses up the one-time key.
    fn accept_key(&self, key: &str) -> bool {
        let mut one_time_key = lock(&self.one_time_key);
        let is_one_time_key = one_time_key.take_if(|known| is_equal(key, known)).is_some();
        is_one_time_key || is_equal(key, &self.key)
    }

    /// Returns the token that every form that writes must contain.
    pub(crate) fn csrf_token(&self) -> &str {
        &self.csrf_token
    }

    /// Returns `true` if `token` is the CSRF token of our own pages.
    pub(crate) fn is_csrf_token(&self, token: &str) -> bool {
        is_equal(token, &self.csrf_token)
    }

    /// Returns `true` if `name` is `127.0.0.1` or `localhost` with our port.
    fn is_own_host(&self, name: &str) -> bool {
        let host = name.strip_suffix(&format!(":{}", self.port));
        matches!(host, Some("127.0.0.1" | "localhost"))
    }

    /// Returns `true` if there is exactly one Host header that names us, and Origin, if present, is one of our pages.
    fn has_own_origin(&self, headers: &HeaderMap) -> bool {
        let values_of = |name: HeaderName| {
            headers.get_all(name).into_iter().map(|value| value.to_str().unwrap_or_default())
        };
        let is_own_page =
            |origin: &str| origin.strip_prefix("http://").is_some_and(|host| self.is_own_host(host));
        // With two Host headers, another program might use the other one.
        values_of(header::HOST).count() == 1
            && values_of(header::HOST).all(|host| self.is_own_host(host))
            && values_of(header::ORIGIN).all(is_own_page)
    }

    fn cookie_name(&self) -> String {
        format!("rethread-{}", self.port)
    }

    /// Returns `true` if a request has our cookie with the key of this run.
    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let name = self.cookie_name();
        cookies
            .flat_map(|line| line.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .any(|(known, value)| known == name && is_equal(value, &self.key))
    }

    /// Returns the path and query of an address without the key, for a redirect. Returns `None` if it has no valid
    /// key.
    fn strip_key(&self, uri: &Uri) -> Option<String> {
        let pairs = uri.query()?.split('&');
        let (keys, rest): (Vec<&str>, Vec<&str>) = pairs.partition(|pair| pair.starts_with("key="));
        let is_valid = keys.iter().any(|pair| self.accept_key(&pair["key=".len()..]));
        let query = if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) };
        // Two slashes at the beginning would name another host, and browsers read a backslash as one.
        is_valid.then(|| format!("/{}{query}", uri.path().trim_start_matches(['/', '\\'])))
    }
}

/// Compares two secrets in constant time, so that the time does not reveal how much matched.
fn is_equal(given: &str, expected: &str) -> bool {
    let differs = given.bytes().zip(expected.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    given.len() == expected.len() && differs == 0
}

/// Checks the origin and the key of every request before `next` handles it, and adds security headers to every
/// response. An address with a valid key is redirected to the same address without it.
pub(crate) async fn check_request(
    State(server): State<Arc<Server>>,
    ConnectInfo(connection): ConnectInfo<Connection>,
    request: Request,
    next: Next,
) -> Response {
    let auth = &server.auth;
    let (headers, uri) = (request.headers(), request.uri());
    let mut response = if !auth.has_own_origin(headers) {
        response::forbidden("this request was not made by a page of this server")
    } else if request.method() == Method::GET
        && let Some(address) = auth.strip_key(uri)
    {
        connection.mark_signed_in();
        redirect_with_cookie(auth, &address)
    } else if !auth.has_cookie(headers) {
        response::forbidden("open the address that `rethread serve` printed: it contains the key")
    } else {
        connection.mark_signed_in();
        match is_valid_utf8(uri.path()) {
            true => next.run(request).await,
            false => response::not_found("there is no such page"),
        }
    };
    add_security_headers(response.headers_mut());
    response
}

/// Returns `true` if a path is valid UTF-8 after percent-decoding.
fn is_valid_utf8(path: &str) -> bool {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, tail @ ..] = rest {
        let decoded = match (first, tail) {
            (b'%', [a, b, ..]) => {
                std::str::from_utf8(&[*a, *b]).ok().and_then(|hex| u8::from_str_radix(hex, 16).ok())
            }
            _ => None,
        };
        bytes.push(decoded.unwrap_or(*first));
        rest = if decoded.is_some() { &tail[2..] } else { tail };
    }
    std::str::from_utf8(&bytes).is_ok()
}

/// Redirects to `address` and sets the cookie with the key.
fn redirect_with_cookie(auth: &Auth, address: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let cookie = format!("{}={}; Path=/; HttpOnly; SameSite=Strict", auth.cookie_name(), auth.key);
    let headers = response.headers_mut();
    let insert = |headers: &mut HeaderMap, name, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    };
    insert(headers, header::SET_COOKIE, &cookie);
    insert(headers, header::LOCATION, address);
    response
}

/// Adds the security headers to a response. Forbids caching unless the response has set `Cache-Control`.
fn add_security_headers(headers: &mut HeaderMap) {
    let all = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        // With `no-referrer`, browsers omit Origin on forms too.
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

    use super::{Auth, is_valid_utf8};

    fn headers(pairs: &[(header::HeaderName, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
    }

    #[test]
    fn other_hosts_and_origins_are_rejected() {
        let auth = Auth::new(7333);
        let accepts = |host: &str, origin: Option<&str>| {
            let mut pairs = vec![(header::HOST, host)];
            pairs.extend(origin.map(|origin| (header::ORIGIN, origin)));
            auth.has_own_origin(&headers(&pairs))
        };
        assert!(accepts("127.0.0.1:7333", None));
        assert!(accepts("localhost:7333", Some("http://localhost:7333")));
        for host in [
            "evil.example",
            "127.0.0.1",
            "127.0.0.1:80",
            "evil.example:7333",
            "127.0.0.1:7333.evil.example",
            "",
        ] {
            assert!(!accepts(host, None), "{host}");
        }
        for origin in ["null", "http://evil.example", "https://127.0.0.1:7333", "http://127.0.0.1:7334", ""] {
            assert!(!accepts("127.0.0.1:7333", Some(origin)), "{origin}");
        }
        assert!(!auth.has_own_origin(&HeaderMap::new()));
        for name in [header::HOST, header::ORIGIN] {
            let mut two =
                headers(&[(header::HOST, "127.0.0.1:7333"), (header::ORIGIN, "http://127.0.0.1:7333")]);
            assert!(auth.has_own_origin(&two));
            two.append(name, "evil.example:7333".parse().unwrap());
            assert!(!auth.has_own_origin(&two));
        }
    }

    #[test]
    fn the_key_is_removed_from_the_address() {
        let auth = Auth::new(1);
        let strip = |address: String| auth.strip_key(&address.parse::<Uri>().unwrap());
        assert_eq!(strip(format!("/?key={}", auth.key)).as_deref(), Some("/"));
        assert_eq!(strip(format!("/s/x?a=1&key={}&b=2", auth.key)).as_deref(), Some("/s/x?a=1&b=2"));
        assert_eq!(strip(format!("//evil.example/?key={}", auth.key)).as_deref(), Some("/evil.example/"));
        for path in ["/\\evil.example/", "/\\/evil.example/", "\\evil.example/"] {
            // The parser may reject them too.
            let Ok(uri) = format!("{path}?key={}", auth.key).parse::<Uri>() else { continue };
            assert_eq!(auth.strip_key(&uri).as_deref(), Some("/evil.example/"), "{path}");
        }
        assert_eq!(strip(format!("/?key={}x", auth.key)), None);
        assert_eq!(strip("/?key=".to_owned()), None);
    }

    #[test]
    fn a_one_time_address_works_once() {
        let auth = Auth::new(1);
        let address = auth.create_one_time_address();
        assert!(!address.contains(&auth.key), "it does not contain the key");
        let uri: Uri = address.parse().unwrap();
        assert_eq!((auth.strip_key(&uri).as_deref(), auth.strip_key(&uri)), (Some("/"), None));
        assert_eq!(
            auth.strip_key(&auth.address().parse().unwrap()).as_deref(),
            Some("/"),
            "the key stays valid"
        );
    }

    #[test]
    fn a_path_is_valid_utf8() {
        for path in ["/s/a%20b", "/s/%C3%A4", "/", "/%", "/%zz", "/%e"] {
            assert!(is_valid_utf8(path), "{path}");
        }
        for path in ["/s/%ff", "/s/%C3", "/%c3%28"] {
            assert!(!is_valid_utf8(path), "{path}");
        }
    }

    #[test]
    fn only_the_complete_cookie_is_accepted() {
        let auth = Auth::new(1);
        let has = |cookie: &str| auth.has_cookie(&headers(&[(header::COOKIE, cookie)]));
        assert!(has(&format!("a=b; rethread-1={}", auth.key)));
        assert!(!has(&format!("rethread-2={}", auth.key)));
        assert!(!has(&format!("rethread-1={}", &auth.key[1..])));
        assert!(!has("rethread-1="));
    }
}
