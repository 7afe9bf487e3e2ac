//! Nothing in a session runs: the tests open every page with all its parts and find only text.

use rethread_testkit::browser::{Browser, Page};
use rethread_testkit::web_server::WebServer;

use crate::hostile_session;
use crate::new_home;
use crate::server_page::ServerPage;

/// Loads and opens more parts of a session. Returns `true` if everything is loaded and open.
const LOAD_MORE: &str = "(async () => {
    for (const chunk of [...document.querySelectorAll('.chunk-pending')].slice(0, 5)) await rethread.load(chunk);
    const closed = [...document.querySelectorAll('main details:not([open], .menu)')].slice(0, 20);
    for (const details of closed) details.open = true;
    for (const image of document.querySelectorAll('img')) image.loading = 'eager';
    await new Promise(done => requestAnimationFrame(() => setTimeout(done, 20)));
    return !closed.length && !document.querySelector('.chunk-pending, [data-loading], details[open] > [data-src]');
})()";

/// The number of rounds after which a page that still loads something is considered endless. Large pages need hundreds.
const MAX_LOAD_ROUNDS: usize = 5_000;

/// Loads all chunks and opens all parts of a page.
#[track_caller]
fn load_everything(page: &Page, name: &str) {
    let is_loaded = (0..MAX_LOAD_ROUNDS).any(|_| page.eval(LOAD_MORE) == true);
    assert!(is_loaded, "{name} never stops loading");
}

/// Sends a mouse and a focus event to every element.
const HOVER_AND_FOCUS: &str = "(() => {
    for (const element of document.querySelectorAll('main *')) {
        element.dispatchEvent(new MouseEvent('mouseover', { bubbles: true }));
        element.dispatchEvent(new FocusEvent('focus'));
    }
})()";

/// Lists elements and attributes that run code or load resources. Exceptions are our own: the packed parts of an export, the
/// progress bar of the presentation, and the height of a placeholder.
const FIND_ACTIVE_CONTENT: &str = "(() => {
    const found = [];
    for (const element of document.querySelectorAll('body *')) {
        if (element.matches('script.packed[type=\"text/plain\"], .present-bar > div')) continue;
        if (element.matches('script, iframe, object, embed, style, base, link, meta')) found.push(element.outerHTML.slice(0, 80));
        for (const { name, value } of element.attributes) {
            const runs = name.startsWith('on') || name === 'style' && !/^height: [0-9.]+px;$/.test(value) || name === 'srcdoc' || /^\\s*(javascript|vbscript|data:text)/i.test(value) && /href|src|action/.test(name);
            const foreign = element.matches('img') && name === 'src' && !/^(\\/[0-9a-f]{32}\\/s\\/|data:image\\/(png|jpeg|gif|webp))/.test(value);
            if (runs || foreign) found.push(`${element.localName} ${name}=${value.slice(0, 60)}`);
        }
    }
    return found;
})()";

#[track_caller]
fn assert_harmless(page: &ServerPage<'_>, name: &str) {
    page.eval(HOVER_AND_FOCUS);
    let found = page.eval(FIND_ACTIVE_CONTENT);
    assert_eq!(found, serde_json::json!([]), "{name}");
    assert_eq!(page.eval("typeof window.pwned"), "undefined", "{name}");
    let text = page.eval("document.body.textContent");
    let text = text.as_str().unwrap_or_default();
    for control in ['\u{1b}', '\u{202e}', '\u{2066}', '\0'] {
        assert!(!text.contains(control), "{control:?} on {name}");
    }
    page.assert_problem_free();
}

#[test]
fn nothing_in_a_session_runs() {
    let home = new_home();
    let session = hostile_session::write(&home);
    let server = WebServer::start(home);
    let Some(mut page) = ServerPage::new(&server) else { return };
    // The subagents of some calls do not exist, and some images are invalid.
    page.expect_status(404);
    page.expect_status(415);
    // A fragment names no icon, so the browser requests `/favicon.ico`, which is outside of the prefix.
    page.expect_status(403);
    let base = session.url_path();
    let targets = [
        "/".to_owned(),
        "/home/figures".to_owned(),
        "/sessions?all=1".to_owned(),
        "/sessions?title=HOSTILE%3Cscript%3E&repo=%22%3E".to_owned(),
        "/search?q=HOSTILE".to_owned(),
        "/search?q=%3Cscript%3E".to_owned(),
        "/search/hits?q=HOSTILE".to_owned(),
        base.clone(),
        format!("{base}?view=all"),
        format!("{base}/agents"),
        format!("{base}/agent/a6666666"),
        format!("{base}/preview"),
        format!("{base}/find?q=HOSTILE"),
        format!("{base}/branches"),
        format!("{base}/tree"),
        format!("{base}/action/goto?at=t2"),
        format!("{base}/action/fork?at=t2"),
        format!("{base}/action/rename"),
        format!("{base}/action/clone"),
        format!("{base}/action/repair"),
        "/sql?q=SELECT+text,+line+FROM+texts".to_owned(),
        "/sql?q=SELECT+%3Cscript%3E".to_owned(),
        "/log".to_owned(),
    ];
    for target in &targets {
        page.open(target);
        load_everything(&page, target);
        // Parts may be missing, but not the page itself: an error page would pass the checks below.
        let mut pages = page
            .requests()
            .into_iter()
            .filter(|request| request.kind == "Document" && request.url.ends_with(target));
        assert_eq!(pages.next_back().and_then(|request| request.status), Some(200), "{target}");
        assert_harmless(&page, target);
    }
    page.open(&base);
    load_everything(&page, &base);
    let occurrences =
        page.eval("document.querySelector('main').textContent.split('<script>window.pwned=1').length");
    assert!(occurrences.as_u64() > Some(150), "the text is displayed: {occurrences}");
    page.press_and_wait("P", ".present");
    for _ in 0..20 {
        // A part that is taller than the screen is scrolled through before the next one appears.
        let width = page.eval("document.querySelector('.present-bar > div').style.width");
        let has_advanced = format!("document.querySelector('.present-bar > div').style.width !== {width}");
        for _ in 0..200 {
            page.press("ArrowRight");
            page.wait_for_paint();
            if page.eval(&has_advanced) == true {
                break;
            }
        }
        page.wait_for(&has_advanced);
    }
    assert_harmless(&page, "the presentation");
    page.press("Escape");
    page.press("f");
    page.type_text("HOSTILE<scr");
    page.wait_for_text(".find-position", " of ");
    assert_harmless(&page, "the find box");
}

#[test]
fn pages_of_a_hostile_session_are_accessible() {
    let home = new_home();
    let session = hostile_session::write(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::new(&server) else { return };
    for target in ["/", "/sessions?all=1", "/search?q=HOSTILE", &session.url_path()] {
        page.open(target);
        page.assert_usable();
    }
}

#[test]
fn nothing_in_an_exported_page_runs() {
    let home = new_home();
    let session = hostile_session::write(&home);
    let server = WebServer::start(home);
    let Some(browser) = Browser::shared() else { return };
    let text =
        server.get_body(&format!("{}/export?format=html&detail=everything&view=all", session.url_path()));
    let file = server.home().write("export.html", text);
    let page = browser.open_page();
    page.goto(&format!("file://{}", file.display()));
    load_everything(&page, "the export");
    page.eval(HOVER_AND_FOCUS);
    assert_eq!(page.eval(FIND_ACTIVE_CONTENT), serde_json::json!([]));
    assert_eq!(page.eval("typeof window.pwned"), "undefined");
    assert!(page.text("body").contains("<script>window.pwned=1"), "the text is displayed");
    page.assert_no_problems("file://");
}
