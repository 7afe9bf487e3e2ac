//! Clicks, keys and scripts do what a hand would do.

use std::time::Duration;

use rethread_testkit::browser::Browser;
use serde_json::json;

use crate::server::{Site, good};
use crate::words_of_panic;

/// A page that writes down every key, every click and every input.
const DIARY: &str = "<div style='height: 2000px'></div><button id=b>press <b>me</b></button>\
    <p><button id=under>under</button></p><div id=lid></div><input id=field aria-label=Field>\
    <style>#lid { position: relative; top: -60px; height: 60px }</style>\
    <script>window.diary = [];\
    addEventListener('click', event => diary.push('click ' + event.target.closest('[id]').id + ' ' + event.isTrusted));\
    addEventListener('keydown', event => diary.push([event.ctrlKey ? 'C' : '', event.shiftKey ? 'S' : '', event.key, \
    event.code].join(' ').trim()));</script>";

#[test]
fn a_click_is_a_real_one_on_what_is_on_top() {
    let Some(browser) = Browser::shared() else { return };
    let site = Site::of(DIARY);
    let page = browser.page();
    page.goto(&site.url("/"));
    page.click("#b");
    assert_eq!(page.eval("diary"), json!(["click b true"]));
    assert!(
        words_of_panic(|| page.click("#none"))
            .contains("`#none` cannot be clicked: there is no such element")
    );
    assert!(words_of_panic(|| page.click("#under")).contains("covered by <div id=\"lid\""));
    assert!(words_of_panic(|| page.click("title")).contains("it has no size"));
    assert_eq!(page.eval("diary.length"), 1);
}

#[test]
fn keys_are_what_a_keyboard_sends() {
    let Some(browser) = Browser::shared() else { return };
    let site = Site::of(DIARY);
    let page = browser.page();
    page.goto(&site.url("/"));
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
        page.eval("diary = []; document.activeElement.blur()");
        page.press(key);
        // A key may click on what has the focus, as Enter does.
        assert_eq!(page.eval("diary.filter(line => !line.startsWith('click'))"), expected, "{key}");
    }
    assert!(words_of_panic(|| page.press("Hyper+x")).contains("no key is called `Hyper+x`"));
}

#[test]
fn what_is_typed_arrives_and_the_focus_moves() {
    let Some(browser) = Browser::shared() else { return };
    let site = Site::of(
        "<form action=/next><input id=a name=q aria-label=A><textarea id=b aria-label=B></textarea></form>",
    );
    let page = browser.page();
    page.goto(&site.url("/"));
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
fn waiting_outlasts_a_change_of_the_page() {
    let Some(browser) = Browser::shared() else { return };
    let form = "<form action=/next><input id=a name=q aria-label=A></form>";
    let site =
        Site::new(vec![("/", "", good(form)), ("/next", "", good("<p class=x>one</p><p class=x>two</p>"))]);
    let page = browser.page();
    page.goto(&site.url("/"));
    page.click("#a");
    page.type_text("word\n");
    page.wait_for("location.pathname === '/next' && document.readyState === 'complete'");
    assert_eq!(page.eval("location.search"), "?q=word");
    assert_eq!((page.count("p.x"), page.text("p.x")), (2, "one".to_owned()));
    assert!(words_of_panic(|| drop(page.text("p.y"))).contains("there is no `p.y`"));
    page.goto(&site.url("/next?q=word#part"));
    assert_eq!(page.eval("location.hash"), "#part");
}

#[test]
fn scripts_are_awaited_and_their_errors_told() {
    let Some(browser) = Browser::shared() else { return };
    let page = browser.page();
    assert_eq!(
        page.eval("new Promise(done => setTimeout(() => done([1, { a: null }]), 5))"),
        json!([1, { "a": null }])
    );
    assert_eq!(page.eval("undefined"), json!(null));
    assert!(words_of_panic(|| drop(page.eval("nothing.here"))).contains("nothing is not defined"));
    assert!(words_of_panic(|| drop(page.eval("Promise.reject(new Error('late'))"))).contains("Error: late"));
    assert!(words_of_panic(|| page.wait_for("nothing.here")).contains("nothing is not defined"));
    let words = words_of_panic(|| page.wait_within("1 > 2", Duration::from_millis(50)));
    assert!(words.contains("`1 > 2` did not come true within 50ms: it is false"), "{words}");
    assert!(words_of_panic(|| page.goto("http://127.0.0.1:1/")).contains("http://127.0.0.1:1/: net::ERR_"));
}

#[test]
fn pages_share_no_cookies_and_all_have_the_focus() {
    let Some(browser) = Browser::shared() else { return };
    let site = Site::of("<p>text</p>");
    let pages = [browser.page(), browser.page()];
    for page in &pages {
        page.goto(&site.url("/"));
        page.eval("document.cookie = 'a=' + (document.cookie || 'first')");
    }
    for page in &pages {
        assert_eq!(page.eval("document.cookie"), "a=first");
        assert_eq!(page.eval("document.hasFocus() && !document.hidden"), true);
    }
}
