//! What a page must not do is heard.

use rethread_testkit::browser::Browser;

use crate::server::{Site, good};
use crate::words_of_panic;

const POLICY: &str = "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; \
                      img-src 'self' data:; connect-src 'self'\r\n";

#[test]
fn a_page_that_keeps_to_itself_is_quiet() {
    let Some(browser) = Browser::shared() else { return };
    let script = "console.log('fine'); console.warn('fine'); const picture = new Image(); \
                  picture.src = URL.createObjectURL(new Blob(['<svg xmlns=\"http://www.w3.org/2000/svg\"/>'], \
                  { type: 'image/svg+xml' })); fetch('/data').then(() => { document.title = 'fetched'; });";
    let body = "<img alt='' src='data:image/gif;base64,R0lGODlhAQABAAAAACw='><script src=/a.js></script>\
                <link rel=stylesheet href=/a.css>";
    let site = Site::new(vec![
        ("/", "Content-Security-Policy: default-src 'self'; img-src data: blob:\r\n", good(body)),
        ("/a.js", "", script.to_owned()),
        ("/a.css", "", "body { margin: 0 }".to_owned()),
        ("/data", "", "{}".to_owned()),
    ]);
    let page = browser.page();
    page.goto(&site.url("/"));
    page.wait_for("document.title === 'fetched'");
    page.assert_quiet(&site.origin);
    let asked: Vec<_> = page.requests().into_iter().map(|request| (request.kind, request.status)).collect();
    for kind in ["Document", "Script", "Stylesheet", "Fetch"] {
        assert!(asked.contains(&(kind.to_owned(), Some(200))), "{kind} is among {asked:?}");
    }
    // The same page is not quiet for somebody who expects it elsewhere.
    let words = words_of_panic(|| page.assert_quiet("http://127.0.0.1:1"));
    assert!(words.contains("elsewhere: GET http://127.0.0.1:"), "{words}");
}

#[test]
fn whatever_is_wrong_is_told() {
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
            "elsewhere: GET http://elsewhere.invalid/x.png",
        ),
        ("", "<img alt='' src='http://elsewhere.invalid/x.png'>", "(Image): net::ERR_NAME_NOT_RESOLVED"),
        (
            "",
            "<link rel=stylesheet href='//elsewhere.invalid/x.css'>",
            "elsewhere: GET http://elsewhere.invalid",
        ),
        (
            "",
            "<iframe title=t src='http://elsewhere.invalid/'></iframe>",
            "elsewhere: GET http://elsewhere.invalid",
        ),
        (
            "",
            "<script>new WebSocket('ws://127.0.0.1:1/')</script>",
            "elsewhere: GET ws://127.0.0.1:1/ (WebSocket)",
        ),
        (
            "",
            "<script>open('http://elsewhere.invalid/')</script>",
            "elsewhere: GET http://elsewhere.invalid/ (Window)",
        ),
        ("", "<img alt='' src='/none.png'>", "status 404: GET http://127.0.0.1:"),
    ];
    for (headers, body, expected) in cases {
        let site = Site::new(vec![("/", headers, good(body))]);
        let page = browser.page();
        page.goto(&site.url("/"));
        let words = words_of_panic(|| page.assert_quiet(&site.origin));
        assert!(words.contains(expected), "{body}\nshould give: {expected}\nbut gives: {words}");
    }
}

#[test]
fn dialogs_are_answered_and_hold_nobody_up() {
    let Some(browser) = Browser::shared() else { return };
    let site =
        Site::of("<button>stay</button><script>onbeforeunload = event => event.preventDefault()</script>");
    let page = browser.page();
    page.goto(&site.url("/"));
    assert_eq!(page.eval("[confirm('sure?'), prompt('name?')]"), serde_json::json!([false, null]));
    page.click("button");
    page.goto(&site.url("/?next"));
    assert_eq!(page.dialogs(), ["confirm: sure?", "prompt: name?", "beforeunload: "]);
}

#[test]
fn an_expected_status_is_no_complaint() {
    let Some(browser) = Browser::shared() else { return };
    let site = Site::of("");
    let mut page = browser.page();
    page.goto(&site.url("/none"));
    assert!(words_of_panic(|| page.assert_quiet(&site.origin)).contains("status 404"));
    page.expect_status(404);
    page.assert_quiet(&site.origin);
}

#[test]
fn every_step_of_a_redirection_is_a_request() {
    let Some(browser) = Browser::shared() else { return };
    let foreign = "<img alt='' src=/away>";
    let site = Site::new(vec![
        ("/", "Location: /next\r\n", String::new()),
        ("/next", "", good("<p>here</p>")),
        ("/foreign", "", good(foreign)),
        ("/away", "Location: http://elsewhere.invalid/\r\n", String::new()),
    ]);
    let page = browser.page();
    page.goto(&site.url("/"));
    assert_eq!(page.text("p"), "here");
    let statuses: Vec<_> = page.requests().into_iter().map(|request| request.status).collect();
    assert_eq!(statuses, [Some(303), Some(200)]);
    page.assert_quiet(&site.origin);
    page.goto(&site.url("/foreign"));
    let words = words_of_panic(|| page.assert_quiet(&site.origin));
    assert!(words.contains("elsewhere: GET http://elsewhere.invalid/ (Image)"), "{words}");
}

#[test]
fn an_origin_is_not_the_beginning_of_another() {
    let Some(browser) = Browser::shared() else { return };
    let site = Site::of("<p>text</p>");
    let page = browser.page();
    page.goto(&site.url("/?a#b"));
    page.assert_quiet(&format!("{}/", site.origin));
    let request = page.requests().remove(0);
    let shorter = &site.origin[..site.origin.len() - 1];
    assert!(request.stays_with(&site.origin) && !request.stays_with(shorter));
}
