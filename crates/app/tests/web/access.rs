//! Access control: every request needs the key and our own host name, and no URL leads out of the store.

use std::collections::BTreeSet;

use rethread_testkit::home::Home;
use rethread_testkit::web_server::WebServer;
use serde_json::json;

use crate::fixtures::{self, SessionFixture};
use crate::new_home;

/// The content security policy of every response.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Every route with its method. `KEY` is replaced by the key of a session.
const ROUTES: [(&str, &str); 32] = [
    ("GET", "/"),
    ("GET", "/home/figures"),
    ("GET", "/sessions"),
    ("GET", "/sessions/rows"),
    ("GET", "/search?q=kraken"),
    ("GET", "/search/hits?q=kraken"),
    ("GET", "/sql?q=SELECT+1"),
    ("GET", "/sql/csv?q=SELECT+1"),
    ("GET", "/log"),
    ("POST", "/undo"),
    ("GET", "/assets/x"),
    ("GET", "/s/KEY"),
    ("GET", "/s/KEY/preview"),
    ("GET", "/s/KEY/action/goto?at=t1"),
    ("POST", "/s/KEY/action/rename"),
    ("GET", "/s/KEY/branches"),
    ("GET", "/s/KEY/tree"),
    ("GET", "/s/KEY/diff"),
    ("GET", "/s/KEY/chunk?number=0"),
    ("GET", "/s/KEY/part?line=1"),
    ("GET", "/s/KEY/image?line=1"),
    ("GET", "/s/KEY/raw?line=1"),
    ("GET", "/s/KEY/result-file?name=x"),
    ("GET", "/s/KEY/find?q=kraken"),
    ("GET", "/s/KEY/copy?turn=1"),
    ("GET", "/s/KEY/export"),
    ("GET", "/s/KEY/events"),
    ("GET", "/s/KEY/agents"),
    ("GET", "/s/KEY/call?call=x"),
    ("GET", "/s/KEY/agent/x"),
    ("GET", "/s/KEY/agent/x/chunk?number=0"),
    ("GET", "/nowhere"),
];

#[test]
fn requests_without_key_or_from_other_origins_are_refused() {
    let server = WebServer::start(fixtures::new_three_session_home());
    let cookie = format!("rethread-{}={}", server.port(), server.key());
    let wrong_cookie = format!("rethread-{}={}", server.port(), "0".repeat(server.key().len()));
    let port = server.port();
    let own_origin = format!("http://127.0.0.1:{port}");
    for (method, route) in ROUTES {
        let target = route.replace("KEY", &SessionFixture::default().key());
        for (cookie, origin) in [
            ("", &*own_origin),
            ("rethread=1", &own_origin),
            (&wrong_cookie, &own_origin),
            (&cookie, "http://evil.example"),
            (&cookie, "null"),
        ] {
            let form = if method == "POST" { "csrf=1&title=kraken&op=1" } else { "" };
            let headers = [
                ("Cookie", cookie),
                ("Origin", origin),
                ("Content-Type", "application/x-www-form-urlencoded"),
            ];
            let response = server.request(method, &target, &headers, form);
            assert_eq!(response.status, 403, "{method} {target} {cookie} {origin}");
            assert_eq!(response.header("content-security-policy"), Some(POLICY), "{target}");
            assert!(!response.body.contains("kraken") && !response.body.contains(server.key()), "{target}");
        }
    }
    let own_host = format!("127.0.0.1:{port}");
    for (host, origin) in [
        ("evil.example", ""),
        ("127.0.0.1", ""),
        (own_host.as_str(), "http://evil.example"),
        (own_host.as_str(), "null"),
    ] {
        let headers = [("Host", host), ("Origin", origin), ("Cookie", cookie.as_str())];
        assert_eq!(server.get_with_headers("/", &headers).status, 403, "{host} {origin}");
    }
    let foreign_origin = [("Origin", "http://evil.example")];
    assert_eq!(server.request("POST", "/sessions", &foreign_origin, "a=1").status, 403);
    assert_eq!(server.post("/sessions", "a=1").status, 405, "the route accepts no forms");
    assert_eq!(server.get_with_headers("/", &[("Origin", own_origin.as_str())]).status, 200);
}

#[test]
fn the_key_in_the_url_becomes_a_cookie() {
    let server = WebServer::start(fixtures::new_three_session_home());
    let target = server.path(&format!("/sessions?title=a&key={}", server.key()));
    let response = server.request_path("GET", &target, &[("Cookie", "")], "");
    let expected = server.path("/sessions?title=a");
    assert_eq!((response.status, response.header("location")), (303, Some(expected.as_str())));
    let cookie = response.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    assert!(cookie.contains(&format!("; Path={}/;", server.prefix())), "{cookie}");
    assert_eq!(server.get_with_headers("/?key=0", &[("Cookie", "")]).status, 403);
}

#[test]
fn paths_outside_of_the_prefix_reveal_nothing() {
    let server = WebServer::start(fixtures::new_three_session_home());
    let key = server.key();
    let other_prefix = format!("/{}", "0".repeat(server.prefix().len() - 1));
    let refused = server.request_path("GET", "/", &[("Cookie", "")], "");
    for (method, route) in ROUTES {
        let target = route.replace("KEY", &SessionFixture::default().key());
        for path in
            [target.clone(), format!("{other_prefix}{target}"), format!("/x{}{target}", server.prefix())]
        {
            // The cookie is valid, and the address contains the key.
            for path in
                [path.clone(), format!("{path}{}key={key}", if path.contains('?') { "&" } else { "?" })]
            {
                let response = server.request_path(method, &path, &[], "");
                assert_eq!(response.status, 403, "{method} {path}");
                assert_eq!(response.body, refused.body, "{method} {path}");
                assert_eq!(response.header("set-cookie"), None, "{method} {path}");
            }
        }
    }
    let is_secret = |text: &str| text.contains(&server.prefix()[1..]) || text.contains(key);
    assert!(!is_secret(&refused.body) && !refused.headers.iter().any(|(_, value)| is_secret(value)));
    assert_eq!(server.request_path("GET", server.prefix(), &[], "").status, 403, "without the slash");
}

#[test]
fn every_address_in_a_page_has_the_prefix() {
    let server = WebServer::start_demo(new_home());
    let mut pending = vec![server.path("/")];
    let mut seen = BTreeSet::new();
    while let Some(path) = pending.pop() {
        if !seen.insert(path.clone()) {
            continue;
        }
        let response = server.request_path("GET", &path, &[], "");
        assert_eq!(response.status, 200, "{path}");
        for name in ["href", "src", "action", "data-src", "data-fragment", "data-base", "data-actions"] {
            for rest in response.body.split(&format!(" {name}=\"")).skip(1) {
                let value = rest.split(['"', '#']).next().unwrap_or_default().replace("&amp;", "&");
                if !value.starts_with('/') {
                    continue;
                }
                assert!(value.starts_with(&format!("{}/", server.prefix())), "{name}={value} in {path}");
                // Filters of the search combine without end.
                let is_page = matches!(name, "href" | "src" | "data-src" | "data-fragment");
                if is_page && (value.contains("/s/") || !value.contains('?')) {
                    pending.push(value);
                }
            }
        }
        let is_export = path.contains("/export?");
        assert!(!is_export || !response.body.contains(&server.prefix()[1..]), "{path}");
    }
    assert!(seen.len() > 40, "{seen:?}");
}

#[test]
fn addresses_survive_a_restart_unless_the_key_is_replaced() {
    let start = |home: Home, args: &[&str]| {
        let args: Vec<&str> = ["serve", "--port", "0", "--json"].iter().chain(args).copied().collect();
        let command = home.command(&args);
        WebServer::start_command(home, command)
    };
    let access = |server: &WebServer| (server.key().to_owned(), server.prefix().to_owned());
    let first = start(fixtures::new_three_session_home(), &[]);
    let secrets = access(&first);
    let second = start(first.into_home(), &[]);
    assert_eq!(access(&second), secrets);
    let third = start(second.into_home(), &["--new-key"]);
    let (key, prefix) = access(&third);
    assert!(key != secrets.0 && prefix != secrets.1);
    let old_cookie = format!("rethread-{}={}", third.port(), secrets.0);
    assert_eq!(third.get_with_headers("/", &[("Cookie", &old_cookie)]).status, 403);
    assert_eq!(third.get("/").status, 200);
    let fourth = start(third.into_home(), &[]);
    assert_eq!(access(&fourth), (key, prefix));
}

#[test]
fn every_response_has_the_security_headers() {
    let home = fixtures::new_three_session_home();
    let png_base64 = "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==";
    let image_block = json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": png_base64 } });
    let key = SessionFixture { id: "0007", ..SessionFixture::default() }.key();
    let line = json!({
        "type": "user", "uuid": "u1", "parentUuid": null, "sessionId": key, "timestamp": "2026-01-01T10:00:00.000Z",
        "message": { "role": "user", "content": [{ "type": "text", "text": "a chart" }, image_block] },
    });
    home.write_old(&format!(".claude/projects/-code/{key}.jsonl"), format!("{line}\n"));
    let server = WebServer::start(home);
    let base = format!("/s/{key}");
    let (chunk, image) = (format!("{base}/chunk?number=0"), format!("{base}/image?line=1&number=0"));
    for (target, status, content_type) in [
        ("/", 200, "text/html; charset=utf-8"),
        ("/sessions", 200, "text/html; charset=utf-8"),
        ("/search/hits?q=kraken", 200, "text/html; charset=utf-8"),
        ("/nowhere", 404, "text/html; charset=utf-8"),
        (&base, 200, "text/html; charset=utf-8"),
        (&chunk, 200, "text/html; charset=utf-8"),
        (&image, 200, "image/png"),
    ] {
        let response = server.get(target);
        assert_eq!(
            (response.status, response.header("content-type")),
            (status, Some(content_type)),
            "{target}"
        );
        for (name, value) in [
            ("content-security-policy", POLICY),
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "same-origin"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(response.header(name), Some(value), "{target}");
        }
    }
}

#[test]
fn path_traversal_is_not_found() {
    let server = WebServer::start(fixtures::new_three_session_home());
    server.home().write("secret.txt", "the secret");
    for target in [
        "/s/..%2f..%2fsecret.txt/preview",
        "/s/%2e%2e/preview",
        "/s/%00/preview",
        "/s/.../preview",
        "/s//preview",
        "/assets/../secret.txt",
        "/assets/..%2fsecret.txt",
        "/../secret.txt",
        "//",
        "//evil.example/",
        "/%2e%2e/%2e%2e/secret.txt",
        "/sessions/../secret.txt",
    ] {
        let response = server.get(target);
        assert_eq!(response.status, 404, "{target}: {}", response.body);
        assert!(!response.body.contains("the secret"), "{target}");
    }
}
