//! The first handler of every request: refuses requests without access, signs browsers in, adds security headers.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::Response;

use super::auth::{Access, Auth};
use super::connections::Connection;
use super::one_time_code::CodeOutcome;
use super::response;
use super::server::Server;
use crate::html::sign_in::{render_redirect, render_refusal};

/// The content policy: pages load our own script and style sheet, images of sessions, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Checks every request before `next` handles it, and adds security headers to every response. An address with a valid
/// key is redirected to the same address without it. `next` gets the path below the prefix.
pub(crate) async fn check_request(
    State(server): State<Arc<Server>>,
    ConnectInfo(connection): ConnectInfo<Connection>,
    mut request: Request,
    next: Next,
) -> Response {
    let access = server.auth.check(request.method(), request.uri(), request.headers());
    if matches!(access, Access::SignedIn(_) | Access::CodeAccepted | Access::Granted(_)) {
        connection.mark_signed_in();
    }
    let mut response = match access {
        Access::Refused(reason) => response::forbidden(reason),
        Access::SignedIn(address) => redirect_with_cookie(&server.auth, &address),
        Access::CodeAccepted => respond_to_code(&server.auth),
        Access::CodeRefused(outcome) => refuse_code(outcome),
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
    insert_header(&mut response, header::SET_COOKIE, &auth.set_cookie());
    insert_header(&mut response, header::LOCATION, address);
    response
}

/// Sets the cookie with the key and leads to the home page.
///
/// A redirect would not work: it continues the navigation that a file began, and browsers do not send a strict cookie
/// with a navigation from another site. The page begins a navigation of its own.
fn respond_to_code(auth: &Auth) -> Response {
    let mut response = response::ok(render_redirect(&auth.site().page("/")));
    insert_header(&mut response, header::SET_COOKIE, &auth.set_cookie());
    response
}

/// Builds the page for a visitor whose one-time code is not valid any more, with the next steps.
fn refuse_code(outcome: CodeOutcome) -> Response {
    const OPEN_PRINTED: &str = "Open the address that `rethread serve` printed in its terminal.";
    let page = match outcome {
        CodeOutcome::Expired => {
            render_refusal("This address has expired", &["It was valid for 30 seconds.", OPEN_PRINTED])
        }
        _ => render_refusal(
            "This address was used before",
            &[
                "It signs in one browser, once.",
                OPEN_PRINTED,
                "If you did not open this address before, another program did, and can read your sessions: stop the \
                 server, and start it with `--new-key`.",
            ],
        ),
    };
    response::markup(StatusCode::FORBIDDEN, page)
}

fn insert_header(response: &mut Response, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
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
    use super::is_valid_utf8;

    #[test]
    fn a_path_is_valid_utf8() {
        for path in ["/s/a%20b", "/s/%C3%A4", "/", "/%", "/%zz", "/%e"] {
            assert!(is_valid_utf8(path), "{path}");
        }
        for path in ["/s/%ff", "/s/%C3", "/%c3%28"] {
            assert!(!is_valid_utf8(path), "{path}");
        }
    }
}
