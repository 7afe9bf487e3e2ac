//! Nothing in a session runs: every page is opened, everything is unfolded, and it is all text.

use crate::client::Site;
use crate::home::Home;
use crate::poison;
use crate::visit::Visit;

/// Loads all of a session and unfolds everything, until nothing more comes.
const UNFOLD: &str = "(async () => {
    const wait = () => new Promise(done => requestAnimationFrame(() => setTimeout(done, 20)));
    for (let round = 0; round < 200; round += 1) {
        for (const leaf of document.querySelectorAll('.leaf-later')) await rethread.load(leaf);
        const folded = [...document.querySelectorAll('main details:not([open], .menu)')];
        for (const one of folded) one.open = true;
        for (const image of document.querySelectorAll('img')) image.loading = 'eager';
        await wait();
        const waits = document.querySelector('.leaf-later, details[open] > [data-src]');
        if (!folded.length && !waits) return document.querySelectorAll('main details').length;
    }
    return -1;
})()";

/// Moves over everything and presses every key that does no more than show.
const STROKE: &str = "(() => {
    for (const one of document.querySelectorAll('main *')) {
        one.dispatchEvent(new MouseEvent('mouseover', { bubbles: true }));
        one.dispatchEvent(new FocusEvent('focus'));
    }
})()";

/// Lists what no text of a session may become: elements and attributes that run or load. What an export keeps packed is no
/// script, and how far a presentation has come is set by ours.
const BAD: &str = "(() => {
    const bad = [];
    for (const one of document.querySelectorAll('body *')) {
        if (one.matches('script.packed[type=\"text/plain\"], .present-bar > div')) continue;
        if (one.matches('script, iframe, object, embed, style, base, link, meta')) bad.push(one.outerHTML.slice(0, 80));
        for (const { name, value } of one.attributes) {
            const runs = name.startsWith('on') || name === 'style' || name === 'srcdoc' || /^\\s*(javascript|vbscript|data:text)/i.test(value) && /href|src|action/.test(name);
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
    let tale = poison::write(&home);
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
        let folds = visit.eval(UNFOLD).as_i64();
        assert_ne!(folds, Some(-1), "{target} unfolds without end");
        // Pieces may be asked for in vain, the page itself may not: one that is missing would hold nothing to judge.
        let mut pages =
            visit.requests().into_iter().filter(|one| one.kind == "Document" && one.url.ends_with(target));
        assert_eq!(pages.next_back().and_then(|one| one.status), Some(200), "{target}");
        judge(&visit, target);
    }
    visit.open(&base);
    visit.eval(UNFOLD);
    let said =
        visit.eval("document.querySelector('main').textContent.split('<script>window.pwned=1').length");
    assert!(said.as_u64() > Some(150), "the text is there to be read: {said}");
    visit.press("P");
    visit.wait_shown(".present");
    for _ in 0..20 {
        visit.press("ArrowRight");
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
    let tale = poison::write(&home);
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
    let tale = poison::write(&home);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    let page = site.page(&format!("{}/export?format=html&detail=everything&view=all", tale.address()));
    let file = site.home().write("taken-along.html", page);
    visit.goto(&format!("file://{}", file.display()));
    visit.eval(UNFOLD);
    visit.eval(STROKE);
    assert_eq!(visit.eval(BAD), serde_json::json!([]));
    assert_eq!(visit.eval("typeof window.pwned"), "undefined");
    assert!(visit.text("body").contains("<script>window.pwned=1"), "the text is there to be read");
    let ours = [visit.origin(), "file://".to_owned()];
    let elsewhere: Vec<_> = visit
        .requests()
        .into_iter()
        .filter(|one| !ours.iter().any(|origin| one.stays_with(origin)))
        .collect();
    assert_eq!((elsewhere, visit.dialogs()), (Vec::new(), Vec::new()));
    let refused: Vec<String> =
        visit.complaints("file://").into_iter().filter(|complaint| complaint.starts_with("policy")).collect();
    assert_eq!(refused, Vec::<String>::new());
}
