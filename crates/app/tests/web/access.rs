//! Only who knows the key comes in, only by our own name, and never out of the store.

use serde_json::json;

use crate::client::Site;
use crate::fixtures::{self, Session};

/// What every answer says a browser may do with it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Every address that the server knows, with the method it is asked by; `KEY` stands for a session.
const ROUTES: [(&str, &str); 30] = [
    ("GET", "/"),
    ("GET", "/home/figures"),
    ("GET", "/sessions"),
    ("GET", "/sessions/rows"),
    ("GET", "/search?q=kraken"),
    ("GET", "/search/hits?q=kraken"),
    ("GET", "/log"),
    ("POST", "/undo"),
    ("GET", "/assets/x"),
    ("GET", "/s/KEY"),
    ("GET", "/s/KEY/preview"),
    ("GET", "/s/KEY/act/goto?at=t1"),
    ("POST", "/s/KEY/act/rename"),
    ("GET", "/s/KEY/branches"),
    ("GET", "/s/KEY/tree"),
    ("GET", "/s/KEY/diff"),
    ("GET", "/s/KEY/leaf?no=0"),
    ("GET", "/s/KEY/part?line=1"),
    ("GET", "/s/KEY/picture?line=1"),
    ("GET", "/s/KEY/raw?line=1"),
    ("GET", "/s/KEY/kept?name=x"),
    ("GET", "/s/KEY/find?q=kraken"),
    ("GET", "/s/KEY/copy?turn=1"),
    ("GET", "/s/KEY/export"),
    ("GET", "/s/KEY/events"),
    ("GET", "/s/KEY/agents"),
    ("GET", "/s/KEY/call?call=x"),
    ("GET", "/s/KEY/agent/x"),
    ("GET", "/s/KEY/agent/x/leaf?no=0"),
    ("GET", "/nowhere"),
];

#[test]
fn without_the_key_nobody_comes_in() {
    let site = Site::of(fixtures::small());
    let cookie = format!("rethread-{}={}", site.port(), site.key());
    let wrong = format!("rethread-{}={}", site.port(), "0".repeat(site.key().len()));
    let port = site.port();
    let own = format!("http://127.0.0.1:{port}");
    for (method, route) in ROUTES {
        let target = route.replace("KEY", &Session::default().key());
        for (cookie, origin) in [
            ("", &*own),
            ("rethread=1", &own),
            (&wrong, &own),
            (&cookie, "http://evil.example"),
            (&cookie, "null"),
        ] {
            let form = if method == "POST" { "seal=1&title=kraken&op=1" } else { "" };
            let headers = [
                ("Cookie", cookie),
                ("Origin", origin),
                ("Content-Type", "application/x-www-form-urlencoded"),
            ];
            let answer = site.ask(method, &target, &headers, form);
            assert_eq!(answer.status, 403, "{method} {target} {cookie} {origin}");
            assert_eq!(answer.header("content-security-policy"), Some(POLICY), "{target}");
            assert!(!answer.body.contains("kraken") && !answer.body.contains(site.key()), "{target}");
        }
    }
    let ours = format!("127.0.0.1:{port}");
    for (host, origin) in [
        ("evil.example", ""),
        ("127.0.0.1", ""),
        (ours.as_str(), "http://evil.example"),
        (ours.as_str(), "null"),
    ] {
        let headers = [("Host", host), ("Origin", origin), ("Cookie", cookie.as_str())];
        assert_eq!(site.get_with("/", &headers).status, 403, "{host} {origin}");
    }
    let foreign = [("Origin", "http://evil.example")];
    assert_eq!(site.ask("POST", "/sessions", &foreign, "a=1").status, 403);
    assert_eq!(site.post("/sessions", "a=1").status, 405, "nothing is written there");
    assert_eq!(site.get_with("/", &[("Origin", own.as_str())]).status, 200);
}

#[test]
fn the_key_of_the_address_becomes_a_cookie() {
    let site = Site::of(fixtures::small());
    let answer = site.get_with(&format!("/sessions?title=a&key={}", site.key()), &[("Cookie", "")]);
    assert_eq!((answer.status, answer.header("location")), (303, Some("/sessions?title=a")));
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    assert_eq!(site.get_with("/?key=0", &[("Cookie", "")]).status, 403);
}

#[test]
fn every_answer_says_what_the_browser_may_do() {
    let home = fixtures::small();
    let picture = "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==";
    let shown = json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": picture } });
    let key = Session { id: "0007", ..Session::default() }.key();
    let line = json!({
        "type": "user", "uuid": "u1", "parentUuid": null, "sessionId": key, "timestamp": "2026-01-01T10:00:00.000Z",
        "message": { "role": "user", "content": [{ "type": "text", "text": "a chart" }, shown] },
    });
    home.write_old(&format!(".claude/projects/-code/{key}.jsonl"), format!("{line}\n"));
    let site = Site::of(home);
    let base = format!("/s/{key}");
    let (leaf, picture) = (format!("{base}/leaf?no=0"), format!("{base}/picture?line=1&no=0"));
    for (target, status, kind) in [
        ("/", 200, "text/html; charset=utf-8"),
        ("/sessions", 200, "text/html; charset=utf-8"),
        ("/search/hits?q=kraken", 200, "text/html; charset=utf-8"),
        ("/nowhere", 404, "text/html; charset=utf-8"),
        (&base, 200, "text/html; charset=utf-8"),
        (&leaf, 200, "text/html; charset=utf-8"),
        (&picture, 200, "image/png"),
    ] {
        let answer = site.get(target);
        assert_eq!((answer.status, answer.header("content-type")), (status, Some(kind)), "{target}");
        for (name, value) in [
            ("content-security-policy", POLICY),
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "same-origin"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{target}");
        }
    }
}

#[test]
fn no_trick_leads_out_of_the_store() {
    let site = Site::of(fixtures::small());
    site.home().write("secret.txt", "the secret");
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
        let answer = site.get(target);
        assert_eq!(answer.status, 404, "{target}: {}", answer.body);
        assert!(!answer.body.contains("the secret"), "{target}");
    }
}
