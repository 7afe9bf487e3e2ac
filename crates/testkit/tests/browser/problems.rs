//! Problems of a page are reported.

use rethread_testkit::browser::Browser;

use crate::panic_message;
use crate::server::{TestServer, valid_page};

const POLICY: &str = "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; \
                      img-src 'self' data:; connect-src 'self'\r\n";

#[test]
fn page_with_local_requests_has_no_problems() {
    let Some(browser) = Browser::shared() else { return };
    let script = "console.log('fine'); console.warn('fine'); const image = new Image(); \
                  image.src = URL.createObjectURL(new Blob(['<svg xmlns=\"http://www.w3.org/2000/svg\"/>'], \
                  { type: 'image/svg+xml' })); fetch('/data').then(() => { document.title = 'fetched'; });";
    let body = "<img alt='' src='data:image/gif;base64,R0lGODlhAQABAAAAACw='><script src=/a.js></script>\
                <link rel=stylesheet href=/a.css>";
    let server = TestServer::new(vec![
        ("/", "Content-Security-Policy: default-src 'self'; img-src data: blob:\r\n", valid_page(body)),
        ("/a.js", "", script.to_owned()),
        ("/a.css", "", "body { margin: 0 }".to_owned()),
        ("/data", "", "{}".to_owned()),
    ]);
    let page = browser.open_page();
    page.goto(&server.url("/"));
    page.wait_for("document.title === 'fetched'");
    page.assert_no_problems(&server.origin);
    let requests: Vec<_> =
        page.requests().into_iter().map(|request| (request.kind, request.status)).collect();
    for kind in ["Document", "Script", "Stylesheet", "Fetch"] {
        assert!(requests.contains(&(kind.to_owned(), Some(200))), "{kind} is in {requests:?}");
    }
    // With another expected origin, the same requests are problems.
    let message = panic_message(|| page.assert_no_problems("http://127.0.0.1:1"));
    assert!(message.contains("foreign origin: GET http://127.0.0.1:"), "{message}");
}

#[test]
fn every_kind_of_problem_is_reported() {
    let Some(browser) = Browser::shared() else { return };
    let cases = [
        ("", "<script>console.error('boom', 7)</script>", "console: boom 7"),
        ("", "<script>console.assert(false, 'untrue')</script>", "console: untrue"),
        ("", "<script>throw new Error('thrown')</script>", "uncaught: Error: thrown"),
        ("", "<script>Promise.reject('rejected')</script>", "uncaught: \"rejected\""),
        ("", "<script>alert('hello')</script>", "dialog: alert: hello"),
        ("", "<script>confirm('sure?')</script>", "dialog: confirm: sure?"),
        (POLICY, "<script>1</script>", "policy: script-src-elem forbids inline"),
        (POLICY, "<p style='color: red'>red</p>", "policy: style-src-attr forbids inline"),
        (POLICY, "<p onclick='1'>click</p>", "security: "),
        (
            POLICY,
            "<img alt='' src='http://elsewhere.invalid/x.png'>",
            "policy: img-src forbids http://elsewhere",
        ),
        (
            "",
            "<img alt='' src='http://elsewhere.invalid/x.png'>",
            "foreign origin: GET http://elsewhere.invalid/x.png",
        ),
        ("", "<img alt='' src='http://elsewhere.invalid/x.png'>", "(Image): net::ERR_NAME_NOT_RESOLVED"),
        (
            "",
            "<link rel=stylesheet href='//elsewhere.invalid/x.css'>",
            "foreign origin: GET http://elsewhere.invalid",
        ),
        (
            "",
            "<iframe title=t src='http://elsewhere.invalid/'></iframe>",
            "foreign origin: GET http://elsewhere.invalid",
        ),
        (
            "",
            "<script>new WebSocket('ws://127.0.0.1:1/')</script>",
            "foreign origin: GET ws://127.0.0.1:1/ (WebSocket)",
        ),
        (
            "",
            "<script>open('http://elsewhere.invalid/')</script>",
            "foreign origin: GET http://elsewhere.invalid/ (Window)",
        ),
        ("", "<img alt='' src='/none.png'>", "status 404: GET http://127.0.0.1:"),
    ];
    for (headers, body, expected) in cases {
        let server = TestServer::new(vec![("/", headers, valid_page(body))]);
        let page = browser.open_page();
        page.goto(&server.url("/"));
        let message = panic_message(|| page.assert_no_problems(&server.origin));
        assert!(message.contains(expected), "{body}\nexpected: {expected}\nactual: {message}");
    }
}

#[test]
fn dialogs_are_closed_and_do_not_block() {
    let Some(browser) = Browser::shared() else { return };
    let server = TestServer::with_body(
        "<button>stay</button><script>onbeforeunload = event => event.preventDefault()</script>",
    );
    let page = browser.open_page();
    page.goto(&server.url("/"));
    assert_eq!(page.eval("[confirm('sure?'), prompt('name?')]"), serde_json::json!([false, null]));
    page.click("button");
    page.goto(&server.url("/?next"));
    assert_eq!(page.dialogs(), ["confirm: sure?", "prompt: name?", "beforeunload: "]);
}

#[test]
fn expected_status_is_not_a_problem() {
    let Some(browser) = Browser::shared() else { return };
    let server = TestServer::with_body("");
    let mut page = browser.open_page();
    page.goto(&server.url("/none"));
    assert!(panic_message(|| page.assert_no_problems(&server.origin)).contains("status 404"));
    page.expect_status(404);
    page.assert_no_problems(&server.origin);
}

#[test]
fn every_step_of_a_redirect_is_a_request() {
    let Some(browser) = Browser::shared() else { return };
    let foreign_image = "<img alt='' src=/away>";
    let server = TestServer::new(vec![
        ("/", "Location: /next\r\n", String::new()),
        ("/next", "", valid_page("<p>here</p>")),
        ("/foreign", "", valid_page(foreign_image)),
        ("/away", "Location: http://elsewhere.invalid/\r\n", String::new()),
    ]);
    let page = browser.open_page();
    page.goto(&server.url("/"));
    assert_eq!(page.text("p"), "here");
    let statuses: Vec<_> = page.requests().into_iter().map(|request| request.status).collect();
    assert_eq!(statuses, [Some(303), Some(200)]);
    page.assert_no_problems(&server.origin);
    page.goto(&server.url("/foreign"));
    let message = panic_message(|| page.assert_no_problems(&server.origin));
    assert!(message.contains("foreign origin: GET http://elsewhere.invalid/ (Image)"), "{message}");
}

#[test]
fn prefix_of_an_origin_is_another_origin() {
    let Some(browser) = Browser::shared() else { return };
    let server = TestServer::with_body("<p>text</p>");
    let page = browser.open_page();
    page.goto(&server.url("/?a#b"));
    page.assert_no_problems(&format!("{}/", server.origin));
    let request = page.requests().remove(0);
    let prefix = &server.origin[..server.origin.len() - 1];
    assert!(request.is_local_to(&server.origin) && !request.is_local_to(prefix));
}
