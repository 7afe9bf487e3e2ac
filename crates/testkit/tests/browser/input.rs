//! Clicks, keys and scripts.

use std::time::Duration;

use rethread_testkit::browser::Browser;
use serde_json::json;

use crate::panic_message;
use crate::server::{TestServer, valid_page};

/// A page that logs every key and every click.
const LOGGING_PAGE: &str = "<div style='height: 2000px'></div><button id=b>press <b>me</b></button>\
    <p><button id=under>under</button></p><div id=cover></div><input id=field aria-label=Field>\
    <style>#cover { position: relative; top: -60px; height: 60px }</style>\
    <script>window.log = [];\
    addEventListener('click', event => log.push('click ' + event.target.closest('[id]').id + ' ' + event.isTrusted));\
    addEventListener('keydown', event => log.push([event.ctrlKey ? 'C' : '', event.shiftKey ? 'S' : '', event.key, \
    event.code].join(' ').trim()));</script>";

#[test]
fn click_is_a_trusted_event_on_the_topmost_element() {
    let Some(browser) = Browser::shared() else { return };
    let server = TestServer::with_body(LOGGING_PAGE);
    let page = browser.open_page();
    page.goto(&server.url("/"));
    page.click("#b");
    assert_eq!(page.eval("log"), json!(["click b true"]));
    assert!(
        panic_message(|| page.click("#none")).contains("`#none` cannot be clicked: there is no such element")
    );
    assert!(panic_message(|| page.click("#under")).contains("covered by <div id=\"cover\""));
    assert!(panic_message(|| page.click("title")).contains("it has no size"));
    assert_eq!(page.eval("log.length"), 1);
}

#[test]
fn keys_send_the_events_of_a_keyboard() {
    let Some(browser) = Browser::shared() else { return };
    let server = TestServer::with_body(LOGGING_PAGE);
    let page = browser.open_page();
    page.goto(&server.url("/"));
    let cases = [
        ("Enter", json!(["Enter Enter"])),
        ("Escape", json!(["Escape Escape"])),
        ("ArrowDown", json!(["ArrowDown ArrowDown"])),
        ("ArrowRight", json!(["ArrowRight ArrowRight"])),
        ("Tab", json!(["Tab Tab"])),
        ("Space", json!(["Space"])),
        ("/", json!(["/ Slash"])),
        ("?", json!(["S Shift ShiftLeft", "S ? Slash"])),
        ("Shift+/", json!(["S Shift ShiftLeft", "S ? Slash"])),
        ("g", json!(["g KeyG"])),
        ("G", json!(["S Shift ShiftLeft", "S G KeyG"])),
        ("Shift+g", json!(["S Shift ShiftLeft", "S G KeyG"])),
        ("+", json!(["S Shift ShiftLeft", "S + Equal"])),
        ("Shift+Tab", json!(["S Shift ShiftLeft", "S Tab Tab"])),
        ("Control+k", json!(["C  Control ControlLeft", "C  k KeyK"])),
    ];
    for (key, expected) in cases {
        page.eval("log = []; document.activeElement.blur()");
        page.press(key);
        // A key may click the focused element, as Enter does.
        assert_eq!(page.eval("log.filter(line => !line.startsWith('click'))"), expected, "{key}");
    }
    assert!(panic_message(|| page.press("Hyper+x")).contains("unknown key: `Hyper+x`"));
}

#[test]
fn typed_text_arrives_and_tab_moves_the_focus() {
    let Some(browser) = Browser::shared() else { return };
    let server = TestServer::with_body(
        "<form action=/next><input id=a name=q aria-label=A><textarea id=b aria-label=B></textarea></form>",
    );
    let page = browser.open_page();
    page.goto(&server.url("/"));
    page.click("#a");
    page.type_text("Is it \"so\"? Grüße, 世界 {1+1}");
    page.press("Tab");
    page.type_text("two\nlines");
    assert_eq!(page.eval("a.value"), "Is it \"so\"? Grüße, 世界 {1+1}");
    assert_eq!(page.eval("b.value"), "two\nlines");
    page.press("Shift+Tab");
    assert_eq!(page.eval("document.activeElement.id"), "a");
    page.press("Control+a");
    page.press("Backspace");
    assert_eq!(page.eval("a.value"), "");
}

#[test]
fn waiting_continues_over_a_navigation() {
    let Some(browser) = Browser::shared() else { return };
    let form = "<form action=/next><input id=a name=q aria-label=A></form>";
    let server = TestServer::new(vec![
        ("/", "", valid_page(form)),
        ("/next", "", valid_page("<p class=x>one</p><p class=x>two</p>")),
    ]);
    let page = browser.open_page();
    page.goto(&server.url("/"));
    page.click("#a");
    page.type_text("word\n");
    page.wait_for("location.pathname === '/next' && document.readyState === 'complete'");
    assert_eq!(page.eval("location.search"), "?q=word");
    assert_eq!((page.count("p.x"), page.text("p.x")), (2, "one".to_owned()));
    assert!(panic_message(|| drop(page.text("p.y"))).contains("no element matches `p.y`"));
    page.goto(&server.url("/next?q=word#part"));
    assert_eq!(page.eval("location.hash"), "#part");
}

#[test]
fn scripts_are_awaited_and_their_errors_panic() {
    let Some(browser) = Browser::shared() else { return };
    let page = browser.open_page();
    assert_eq!(
        page.eval("new Promise(done => setTimeout(() => done([1, { a: null }]), 5))"),
        json!([1, { "a": null }])
    );
    assert_eq!(page.eval("undefined"), json!(null));
    assert!(panic_message(|| drop(page.eval("nothing.here"))).contains("nothing is not defined"));
    assert!(panic_message(|| drop(page.eval("Promise.reject(new Error('late'))"))).contains("Error: late"));
    assert!(panic_message(|| page.wait_for("nothing.here")).contains("nothing is not defined"));
    let message = panic_message(|| page.wait_for_with_timeout("1 > 2", Duration::from_millis(50)));
    assert!(message.contains("`1 > 2` did not become true within 50ms: it is false"), "{message}");
    assert!(panic_message(|| page.goto("http://127.0.0.1:1/")).contains("http://127.0.0.1:1/: net::ERR_"));
}

#[test]
fn pages_share_no_cookies_and_all_have_the_focus() {
    let Some(browser) = Browser::shared() else { return };
    let server = TestServer::with_body("<p>text</p>");
    let pages = [browser.open_page(), browser.open_page()];
    for page in &pages {
        page.goto(&server.url("/"));
        page.eval("document.cookie = 'a=' + (document.cookie || 'first')");
    }
    for page in &pages {
        assert_eq!(page.eval("document.cookie"), "a=first");
        assert_eq!(page.eval("document.hasFocus() && !document.hidden"), true);
    }
}
