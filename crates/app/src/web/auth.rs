//! Authentication: a request needs the key, the prefix of our addresses, and one of our own host names.

use std::time::Instant;

use axum::http::header::{self, HeaderName};
use axum::http::{HeaderMap, Method, Uri};

use super::keys::{AccessKeys, generate_key, is_equal};
use super::one_time_code::{CodeOutcome, OneTimeCode};
use crate::html::link::Site;

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
    /// The code in the page that a browser is started with. `None` if no browser is started.
    code: Option<OneTimeCode>,
}

/// The result of checking a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// The request is refused for this reason.
    Refused(&'static str),
    /// The address contains a valid key: the browser gets the cookie and continues at this address.
    SignedIn(String),
    /// The address contains the one-time code, which was used or expired before.
    CodeRefused(CodeOutcome),
    /// The address contains the one-time code: the browser gets the cookie.
    CodeAccepted,
    /// The request has the cookie. The value is the path below the prefix.
    Granted(String),
}

impl Auth {
    /// Creates the secrets of a server at `port`.
    pub(super) fn new(port: u16, keys: AccessKeys, code: Option<OneTimeCode>) -> Auth {
        let site = Site::new(&keys.prefix);
        Auth { port, keys, site, csrf_token: generate_key(), code }
    }

    /// Returns the one-time code, if there is one.
    pub(super) fn code(&self) -> Option<&OneTimeCode> {
        self.code.as_ref()
    }

    /// Returns the addresses of the pages.
    pub(crate) fn site(&self) -> &Site {
        &self.site
    }

    /// Returns the complete address of the home page with the key.
    pub(super) fn address(&self) -> String {
        self.home_address("key", &self.keys.key)
    }

    /// Returns the complete address of the home page with the one-time code. Returns `None` if there is no code.
    pub(super) fn one_time_address(&self) -> Option<String> {
        self.code.as_ref().map(|code| self.home_address("code", code.as_str()))
    }

    fn home_address(&self, name: &str, secret: &str) -> String {
        format!("http://127.0.0.1:{}{}", self.port, self.site.page(&format!("/?{name}={secret}")))
    }

    /// Returns the value of the `Set-Cookie` header that signs a browser in.
    pub(super) fn set_cookie(&self) -> String {
        let (name, key, path) = (self.cookie_name(), &self.keys.key, self.site.page("/"));
        format!("{name}={key}; Path={path}; HttpOnly; SameSite=Strict")
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
        let is_valid = keys.iter().any(|pair| is_equal(&pair["key=".len()..], &self.keys.key));
        let query = if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) };
        is_valid.then(|| self.site.page(&format!("{path}{query}")))
    }

    /// Presents the one-time code of a query. Returns [`CodeOutcome::Unknown`] if it has none.
    fn present_code(&self, query: &str, is_signed_in: bool) -> CodeOutcome {
        let given = query.split('&').find_map(|pair| pair.strip_prefix("code="));
        match (&self.code, given) {
            (Some(code), Some(given)) => code.present(given, Instant::now(), is_signed_in),
            _ => CodeOutcome::Unknown,
        }
    }

    /// Checks the origin, the prefix and the key of a request. Uses up the one-time code.
    pub(super) fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Access {
        if !self.has_own_origin(headers) {
            return Access::Refused("this request was not made by a page of this server");
        }
        let Some(path) = self.strip_prefix(uri.path()) else { return Access::Refused(NO_KEY) };
        let query = uri.query().filter(|_| method == Method::GET).unwrap_or_default();
        if let Some(address) = self.strip_key(path, query) {
            return Access::SignedIn(address);
        }
        let has_cookie = self.has_cookie(headers);
        match self.present_code(query, has_cookie) {
            CodeOutcome::Accepted => Access::CodeAccepted,
            _ if has_cookie => Access::Granted(path.to_owned()),
            CodeOutcome::Unknown => Access::Refused(NO_KEY),
            refused => Access::CodeRefused(refused),
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, Method, Uri, header};

    use super::{Access, Auth, NO_KEY};
    use crate::web::keys::AccessKeys;
    use crate::web::one_time_code::{CodeOutcome, OneTimeCode};

    fn new_auth(port: u16) -> Auth {
        Auth::new(port, AccessKeys::generate(), None)
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
    fn a_one_time_address_signs_in_once() {
        let auth = Auth::new(7333, AccessKeys::generate(), Some(OneTimeCode::new()));
        let address = auth.one_time_address().unwrap();
        assert!(!address.contains(&auth.keys.key), "it does not contain the key");
        let target: Uri = address.strip_prefix("http://127.0.0.1:7333").unwrap().parse().unwrap();
        let cookie = format!("rethread-7333={}", auth.keys.key);
        let check = |method: Method, cookie: &str| {
            let headers = headers(&[(header::HOST, "127.0.0.1:7333"), (header::COOKIE, cookie)]);
            auth.check(&method, &target, &headers)
        };
        assert_eq!(check(Method::POST, ""), Access::Refused(NO_KEY), "it is not used up");
        assert_eq!(check(Method::GET, ""), Access::CodeAccepted);
        assert_eq!(check(Method::GET, ""), Access::CodeRefused(CodeOutcome::AlreadyUsed));
        assert_eq!(check(Method::GET, &cookie), Access::Granted("/".to_owned()));
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
