//! Authentication: a request needs the key, the prefix of our addresses, and one of our own host names.

use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::Response;

use super::cached::lock;
use super::connections::Connection;
use super::keys::{AccessKeys, generate_key};
use super::response;
use super::server::Server;
use crate::html::link::Site;

/// The content policy: pages load our own script and style sheet, images of sessions, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The reason for refusing a request without the key. It is the same below the prefix and elsewhere.
const NO_KEY: &str = "open the address that `rethread serve` printed: it contains the key";

/// The port of this server and its secrets.
#[derive(Debug)]
pub(crate) struct Auth {
    port: u16,
    keys: AccessKeys,
    site: Site,
    /// The secret in every form that writes.
    csrf_token: String,
    /// A key that works once. `None` if there is none or it was used.
    one_time_key: Mutex<Option<String>>,
}

/// The result of checking a request.
#[derive(Debug, PartialEq, Eq)]
enum Access {
    /// The request is refused for this reason.
    Refused(&'static str),
    /// The address contains a valid key: the browser gets the cookie and continues at this address.
    SignedIn(String),
    /// The request has the cookie. The value is the path below the prefix.
    Granted(String),
}

impl Auth {
    /// Creates the secrets of a server at `port`.
    pub(crate) fn new(port: u16, keys: AccessKeys) -> Auth {
        let site = Site::new(&keys.prefix);
        Auth { port, keys, site, csrf_token: generate_key(), one_time_key: Mutex::default() }
    }

    /// Returns the addresses of the pages.
    pub(crate) fn site(&self) -> &Site {
        &self.site
    }

    /// Returns the address of the home page with the key.
    pub(crate) fn address(&self) -> String {
        self.address_with(&self.keys.key)
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
        format!("http://127.0.0.1:{}{}", self.port, self.site.page(&format!("/?key={key}")))
    }

    /// Returns `true` if a key is the key or the one-time key. Uses up the one-time key.
    fn accept_key(&self, key: &str) -> bool {
        let mut one_time_key = lock(&self.one_time_key);
        let is_one_time_key = one_time_key.take_if(|known| is_equal(key, known)).is_some();
        is_one_time_key || is_equal(key, &self.keys.key)
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

    /// Returns `true` if a request has our cookie with the key.
    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let name = self.cookie_name();
        cookies
            .flat_map(|line| line.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .any(|(known, value)| known == name && is_equal(value, &self.keys.key))
    }

    /// Returns the path below our prefix, which begins with a slash. Returns `None` if the path is elsewhere.
    fn strip_prefix<'p>(&self, path: &'p str) -> Option<&'p str> {
        let path = path.strip_prefix('/')?;
        let end = path.find('/')?;
        is_equal(&path[..end], &self.keys.prefix).then_some(&path[end..])
    }

    /// Returns the address of a page without the key. `path` is below the prefix. Returns `None` if `query` has no valid
    /// key.
    fn strip_key(&self, path: &str, query: &str) -> Option<String> {
        let (keys, rest): (Vec<&str>, Vec<&str>) =
            query.split('&').partition(|pair| pair.starts_with("key="));
        let is_valid = keys.iter().any(|pair| self.accept_key(&pair["key=".len()..]));
        let query = if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) };
        is_valid.then(|| self.site.page(&format!("{path}{query}")))
    }

    /// Checks the origin, the prefix and the key of a request.
    fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Access {
        if !self.has_own_origin(headers) {
            return Access::Refused("this request was not made by a page of this server");
        }
        let Some(path) = self.strip_prefix(uri.path()) else { return Access::Refused(NO_KEY) };
        if method == Method::GET
            && let Some(address) = self.strip_key(path, uri.query().unwrap_or_default())
        {
            return Access::SignedIn(address);
        }
        if self.has_cookie(headers) { Access::Granted(path.to_owned()) } else { Access::Refused(NO_KEY) }
    }
}

/// Compares two secrets in constant time, so that the time does not reveal how much matched.
fn is_equal(given: &str, expected: &str) -> bool {
    let differs = given.bytes().zip(expected.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    given.len() == expected.len() && differs == 0
}

/// Checks every request before `next` handles it, and adds security headers to every response. An address with a valid
/// key is redirected to the same address without it. `next` gets the path below the prefix.
pub(crate) async fn check_request(
    State(server): State<Arc<Server>>,
    ConnectInfo(connection): ConnectInfo<Connection>,
    mut request: Request,
    next: Next,
) -> Response {
    let access = server.auth.check(request.method(), request.uri(), request.headers());
    if !matches!(access, Access::Refused(_)) {
        connection.mark_signed_in();
    }
    let mut response = match access {
        Access::Refused(reason) => response::forbidden(reason),
        Access::SignedIn(address) => redirect_with_cookie(&server.auth, &address),
        Access::Granted(path) => match replace_path(request.uri(), &path).filter(|_| is_valid_utf8(&path)) {
            Some(uri) => {
                *request.uri_mut() = uri;
                next.run(request).await
            }
            None => response::not_found("there is no such page"),
        },
    };
    response::render_error_page(&mut response, &server);
    add_security_headers(response.headers_mut());
    response
}

/// Returns an address with another path and the same query. Returns `None` if the path is invalid.
fn replace_path(uri: &Uri, path: &str) -> Option<Uri> {
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    format!("{path}{query}").parse().ok()
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
    let path = auth.site.page("/");
    let cookie = format!("{}={}; Path={path}; HttpOnly; SameSite=Strict", auth.cookie_name(), auth.keys.key);
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
        // The prefix must not leak to other origins. With `no-referrer`, browsers omit Origin on forms too.
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
    use axum::http::{HeaderMap, Method, Uri, header};

    use super::{Access, Auth, NO_KEY, is_valid_utf8};
    use crate::web::keys::AccessKeys;

    fn new_auth(port: u16) -> Auth {
        Auth::new(port, AccessKeys::generate())
    }

    fn headers(pairs: &[(header::HeaderName, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
    }

    #[test]
    fn other_hosts_and_origins_are_rejected() {
        let auth = new_auth(7333);
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
        let auth = new_auth(1);
        let key = auth.keys.key.clone();
        let strip = |path: &str, query: String| auth.strip_key(path, &query);
        assert_eq!(strip("/", format!("key={key}")), Some(auth.site.page("/")));
        assert_eq!(strip("/s/x", format!("a=1&key={key}&b=2")), Some(auth.site.page("/s/x?a=1&b=2")));
        assert_eq!(strip("/", format!("key={key}x")), None);
        assert_eq!(strip("/", "key=".to_owned()), None);
        assert_eq!(strip("/", String::new()), None);
    }

    #[test]
    fn only_paths_below_the_prefix_are_ours() {
        let auth = new_auth(1);
        let prefix = auth.keys.prefix.clone();
        let strip = |path: String| auth.strip_prefix(&path).map(str::to_owned);
        assert_eq!(strip(format!("/{prefix}/")).as_deref(), Some("/"));
        assert_eq!(strip(format!("/{prefix}/s/x")).as_deref(), Some("/s/x"));
        for path in [
            format!("/{prefix}"),
            format!("//{prefix}/"),
            format!("/{prefix}x/"),
            format!("/{}/", &prefix[1..]),
            format!("/x/{prefix}/"),
            "/".to_owned(),
            "*".to_owned(),
            String::new(),
        ] {
            assert_eq!(strip(path.clone()), None, "{path}");
        }
    }

    #[test]
    fn a_request_needs_host_prefix_and_cookie() {
        let auth = new_auth(7333);
        let (prefix, key) = (&auth.keys.prefix, &auth.keys.key);
        let check = |target: &str, host: &str, cookie: &str| {
            let headers = headers(&[(header::HOST, host), (header::COOKIE, cookie)]);
            auth.check(&Method::GET, &target.parse().unwrap(), &headers)
        };
        let (host, cookie) = ("127.0.0.1:7333", format!("rethread-7333={key}"));
        assert_eq!(check(&format!("/{prefix}/log?a=1"), host, &cookie), Access::Granted("/log".to_owned()));
        assert_eq!(check("/log", host, &cookie), Access::Refused(NO_KEY));
        assert_eq!(check(&format!("/?key={key}"), host, ""), Access::Refused(NO_KEY));
        assert_eq!(check(&format!("/{prefix}/log"), host, ""), Access::Refused(NO_KEY));
        assert!(matches!(
            check(&format!("/{prefix}/log"), "evil.example:7333", &cookie),
            Access::Refused(reason) if reason != NO_KEY
        ));
        let signed_in = check(&format!("/{prefix}/log?key={key}"), host, "");
        assert_eq!(signed_in, Access::SignedIn(format!("/{prefix}/log")));
    }

    #[test]
    fn a_one_time_address_works_once() {
        let auth = new_auth(1);
        let address = auth.create_one_time_address();
        assert!(!address.contains(&auth.keys.key), "it does not contain the key");
        let uri: Uri = address.parse().unwrap();
        let sign_in = || auth.strip_key("/", uri.query().unwrap_or_default());
        assert_eq!((sign_in(), sign_in()), (Some(auth.site.page("/")), None));
        let uri: Uri = auth.address().parse().unwrap();
        assert!(auth.strip_key("/", uri.query().unwrap_or_default()).is_some(), "the key stays valid");
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
        let auth = new_auth(1);
        let has = |cookie: &str| auth.has_cookie(&headers(&[(header::COOKIE, cookie)]));
        assert!(has(&format!("a=b; rethread-1={}", auth.keys.key)));
        assert!(!has(&format!("rethread-2={}", auth.keys.key)));
        assert!(!has(&format!("rethread-1={}", &auth.keys.key[1..])));
        assert!(!has("rethread-1="));
    }
}
