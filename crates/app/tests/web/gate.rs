//! Only who knows the key comes in, only by our own name, and never out of the store.

use crate::client::Site;
use crate::store;

#[test]
fn without_the_key_nobody_comes_in() {
    let site = Site::of(store::small());
    let cookie = format!("rethread-{}={}", site.port(), site.key());
    let wrong = format!("rethread-{}={}", site.port(), "0".repeat(site.key().len()));
    for target in [
        "/",
        "/sessions",
        "/search?q=kraken",
        "/search/hits?q=kraken",
        "/home/figures",
        "/assets/x",
        "/nowhere",
    ] {
        for cookie in ["", "rethread=1", wrong.as_str()] {
            let answer = site.get_with(target, &[("Cookie", cookie)]);
            assert_eq!(answer.status, 403, "{target} {cookie}");
            assert!(!answer.body.contains("kraken") && !answer.body.contains(site.key()), "{target}");
        }
    }
    let port = site.port();
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
    let own = format!("http://127.0.0.1:{port}");
    assert_eq!(site.get_with("/", &[("Origin", own.as_str())]).status, 200);
}

#[test]
fn the_key_of_the_address_becomes_a_cookie() {
    let site = Site::of(store::small());
    let answer = site.get_with(&format!("/sessions?title=a&key={}", site.key()), &[("Cookie", "")]);
    assert_eq!((answer.status, answer.header("location")), (303, Some("/sessions?title=a")));
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    assert_eq!(site.get_with("/?key=0", &[("Cookie", "")]).status, 403);
}

#[test]
fn every_answer_says_what_the_browser_may_do() {
    let site = Site::of(store::small());
    for target in ["/", "/sessions", "/search/hits?q=kraken", "/nowhere"] {
        let answer = site.get(target);
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{target}: {policy}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{target}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{target}");
    }
}

#[test]
fn no_trick_leads_out_of_the_store() {
    let site = Site::of(store::small());
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
