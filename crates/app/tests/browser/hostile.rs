//! Nothing in a session runs: every page is opened, everything is unfolded, and it is all text.

use std::time::{Duration, Instant};

use rethread_testkit::browser::{Browser, Page};

use crate::client::Site;
use crate::home::Home;
use crate::hostile_session;
use crate::server_page::Visit;

/// Loads and unfolds some more of a session, and says whether all of it is there.
const ROUND: &str = "(async () => {
    for (const leaf of [...document.querySelectorAll('.leaf-later')].slice(0, 5)) await rethread.load(leaf);
    const folded = [...document.querySelectorAll('main details:not([open], .menu)')].slice(0, 20);
    for (const one of folded) one.open = true;
    for (const image of document.querySelectorAll('img')) image.loading = 'eager';
    await new Promise(done => requestAnimationFrame(() => setTimeout(done, 20)));
    return !folded.length && !document.querySelector('.leaf-later, [data-loading], details[open] > [data-src]');
})()";

/// Loads all of a session and unfolds everything, until nothing more comes.
#[track_caller]
fn unfold(page: &Page, what: &str) {
    let end = Instant::now() + Duration::from_secs(120);
    while page.eval(ROUND) != true {
        assert!(Instant::now() < end, "{what} unfolds without end");
    }
}

/// Moves over everything and presses every key that does no more than show.
const STROKE: &str = "(() => {
    for (const one of document.querySelectorAll('main *')) {
        one.dispatchEvent(new MouseEvent('mouseover', { bubbles: true }));
        one.dispatchEvent(new FocusEvent('focus'));
    }
})()";

/// Lists what no text of a session may become: elements and attributes that run or load. What an export keeps packed is no
/// script; how far a presentation has come and how high the place of a leaf is are set by ours.
const BAD: &str = "(() => {
    const bad = [];
    for (const one of document.querySelectorAll('body *')) {
        if (one.matches('script.packed[type=\"text/plain\"], .present-bar > div')) continue;
        if (one.matches('script, iframe, object, embed, style, base, link, meta')) bad.push(one.outerHTML.slice(0, 80));
        for (const { name, value } of one.attributes) {
            const runs = name.startsWith('on') || name === 'style' && !/^height: [0-9.]+px;$/.test(value) || name === 'srcdoc' || /^\\s*(javascript|vbscript|data:text)/i.test(value) && /href|src|action/.test(name);
            const foreign = one.matches('img') && name === 'src' && !/^(\\/s\\/|data:image\\/(png|jpeg|gif|webp))/.test(value);
            if (runs || foreign) bad.push(`${one.localName} ${name}=${value.slice(0, 60)}`);
        }
    }
    return bad;
})()";

#[track_caller]
fn judge(visit: &Visit<'_>, what: &str) {
    visit.eval(STROKE);
    let bad = visit.eval(BAD);
    assert_eq!(bad, serde_json::json!([]), "{what}");
    assert_eq!(visit.eval("typeof window.pwned"), "undefined", "{what}");
    let text = visit.eval("document.body.textContent");
    let text = text.as_str().unwrap_or_default();
    for bad in ['\u{1b}', '\u{202e}', '\u{2066}', '\0'] {
        assert!(!text.contains(bad), "{bad:?} on {what}");
    }
    visit.assert_quiet(&visit.origin());
}

#[test]
fn nothing_in_a_session_runs() {
    let home = Home::new();
    let tale = hostile_session::write(&home);
    let site = Site::of(home);
    let Some(mut visit) = Visit::new(&site) else { return };
    // A call whose subagent was not kept, and pictures that are none, are asked for in vain.
    visit.expect_status(404);
    visit.expect_status(415);
    let base = tale.address();
    let targets = [
        "/".to_owned(),
        "/home/figures".to_owned(),
        "/sessions?all=1".to_owned(),
        "/sessions?title=POISON%3Cscript%3E&repo=%22%3E".to_owned(),
        "/search?q=POISON".to_owned(),
        "/search?q=%3Cscript%3E".to_owned(),
        "/search/hits?q=POISON".to_owned(),
        base.clone(),
        format!("{base}?view=all"),
        format!("{base}/agents"),
        format!("{base}/agent/a6666666"),
        format!("{base}/preview"),
        format!("{base}/find?q=POISON"),
        format!("{base}/branches"),
        format!("{base}/tree"),
        format!("{base}/act/goto?at=t2"),
        format!("{base}/act/fork?at=t2"),
        format!("{base}/act/rename"),
        format!("{base}/act/clone"),
        format!("{base}/act/repair"),
        "/log".to_owned(),
    ];
    for target in &targets {
        visit.open(target);
        unfold(&visit, target);
        // Pieces may be asked for in vain, the page itself may not: one that is missing would hold nothing to judge.
        let mut pages =
            visit.requests().into_iter().filter(|one| one.kind == "Document" && one.url.ends_with(target));
        assert_eq!(pages.next_back().and_then(|one| one.status), Some(200), "{target}");
        judge(&visit, target);
    }
    visit.open(&base);
    unfold(&visit, &base);
    let said =
        visit.eval("document.querySelector('main').textContent.split('<script>window.pwned=1').length");
    assert!(said.as_u64() > Some(150), "the text is there to be read: {said}");
    visit.press("P");
    visit.wait_shown(".present");
    for _ in 0..20 {
        // What is higher than the screen is gone through before the next part comes.
        let far = visit.eval("document.querySelector('.present-bar > div').style.width");
        let on = format!("document.querySelector('.present-bar > div').style.width !== {far}");
        for _ in 0..200 {
            visit.press("ArrowRight");
            visit.settle();
            if visit.eval(&on) == true {
                break;
            }
        }
        visit.wait_for(&on);
    }
    judge(&visit, "the presentation");
    visit.press("Escape");
    visit.press("f");
    visit.type_text("POISON<scr");
    visit.wait_said(".find-at", " of ");
    judge(&visit, "the find box");
}

#[test]
fn a_hostile_session_can_be_read_by_everybody() {
    let home = Home::new();
    let tale = hostile_session::write(&home);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    for target in ["/", "/sessions?all=1", "/search?q=POISON", &tale.address()] {
        visit.open(target);
        visit.check();
    }
}

#[test]
fn nothing_in_an_exported_page_runs() {
    let home = Home::new();
    let tale = hostile_session::write(&home);
    let site = Site::of(home);
    let Some(browser) = Browser::shared() else { return };
    let text = site.page(&format!("{}/export?format=html&detail=everything&view=all", tale.address()));
    let file = site.home().write("taken-along.html", text);
    let page = browser.page();
    page.goto(&format!("file://{}", file.display()));
    unfold(&page, "the export");
    page.eval(STROKE);
    assert_eq!(page.eval(BAD), serde_json::json!([]));
    assert_eq!(page.eval("typeof window.pwned"), "undefined");
    assert!(page.text("body").contains("<script>window.pwned=1"), "the text is there to be read");
    page.assert_quiet("file://");
}
