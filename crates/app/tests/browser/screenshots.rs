//! Pictures of the pages, for the documentation: `UPDATE_DOCS=1 cargo test -p rethread screens` draws them anew.
//!
//! The invented sessions end a while before the present, so that two runs differ in their times and in nothing else. Without
//! the variable every screen is drawn, and only looked at.
#![expect(clippy::disallowed_methods, reason = "the test is told by the environment to write the pictures")]

use std::path::Path;

use rethread_testkit::browser::{Area, Browser, EmulatedMedia, Page};

use crate::client::Site;
use crate::server_page::{NARROW, Visit};

/// Where the pictures stand.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/screens");
/// What all pictures may weigh.
const MOST: usize = 4_000_000;

/// A session with calls of many kinds, and one with two branches.
const VARIED: &str = "/s/5f0c2a1e-7b3d-4c58-9a61-0e4d2f8b6c13";
const FORKED: &str = "/s/b27e94d0-1c6f-4f0a-8d35-9b1a7e02c4f8";

/// A screen: its name, its address, and what is done there before it is drawn.
type Screen = (&'static str, String, fn(&Visit<'_>));

fn screens() -> [Screen; 12] {
    [
        ("home", "/".to_owned(), |visit| visit.wait_shown(".heat")),
        ("list", "/sessions".to_owned(), |visit| visit.press("j")),
        ("search", "/search?q=high%20water".to_owned(), |visit| visit.wait_shown("a.found-link")),
        ("session", format!("{VARIED}#t1"), unfolded),
        ("fork", FORKED.to_owned(), mapped),
        ("subagent", VARIED.to_owned(), sent),
        ("act", VARIED.to_owned(), planned),
        ("branches", format!("{FORKED}/branches"), |_| {}),
        ("diff", format!("{FORKED}/branches"), compared),
        ("tree", format!("{FORKED}/tree"), |_| {}),
        ("log", "/log".to_owned(), |_| {}),
        ("presentation", VARIED.to_owned(), presented),
    ]
}

/// Unfolds what a change and a run of a program did, and goes there.
fn unfolded(visit: &Visit<'_>) {
    visit.wait_seen("#t1");
    visit.eval(
        "for (const call of document.querySelectorAll('#t1 .tool')) {
            if (/^\\s*(Edit|Bash)/.test(call.innerText)) call.open = true;
        }",
    );
    visit.wait_shown("#t1 .patch");
    visit.eval("document.querySelector('#t1 .patch').closest('.tool').scrollIntoView({ block: 'center' })");
}

/// Waits for the map, which narrow windows have no room for.
fn mapped(visit: &Visit<'_>) {
    visit.wait_for("document.querySelector('#map > ol')");
}

/// Goes to the page of the first subagent.
fn sent(visit: &Visit<'_>) {
    visit.click("[data-do=agents]");
    visit.wait_shown("#agents a");
    visit.click("#agents a");
    visit.wait_for("location.pathname.includes('/agent/') && document.readyState === 'complete'");
}

/// Asks what going on from the first turn would do.
fn planned(visit: &Visit<'_>) {
    visit.click("#t1 .menu > summary");
    visit.click("#t1 [data-act=goto]");
    visit.wait_shown("#act .act-form button[value=do]");
}

/// Compares two branches.
fn compared(visit: &Visit<'_>) {
    visit.click("a[href*='/diff?']");
    visit.wait_for("location.pathname.endsWith('/diff') && document.readyState === 'complete'");
}

/// Does something and takes it back, so that there is something to tell of.
fn done(visit: &Visit<'_>) {
    visit.open(&format!("{FORKED}/branches"));
    visit.click("[data-act=goto]");
    visit.wait_shown("#act .act-form button[value=do]");
    visit.click("#act .act-form button[value=do]");
    visit.wait_shown("#act form.act-undo button");
    visit.click("#act form.act-undo button");
    visit.wait_said("#act .act-title", "undone");
}

/// Shows the first turn to others.
fn presented(visit: &Visit<'_>) {
    visit.press("P");
    visit.wait_shown(".present");
    for shown in 2..=6 {
        visit.press("ArrowRight");
        visit.wait_for(&format!("document.querySelectorAll('.present-page > *').length === {shown}"));
    }
}

/// Draws a page, keeps the picture where that is wanted, and returns what it weighs.
#[track_caller]
fn drawn(page: &Page, name: &str, kind: &str, blank: usize) -> usize {
    page.settle();
    let picture = page.picture(Area::Window);
    assert!(picture.len() > blank * 3, "{name} is blank, {kind}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(FOLDER).unwrap();
        std::fs::write(Path::new(FOLDER).join(format!("{name}-{kind}.png")), &picture).unwrap();
    }
    picture.len()
}

#[test]
fn screens_show_every_page() {
    let site = Site::demo();
    let Some(visit) = Visit::new(&site) else { return };
    let Some(browser) = Browser::shared() else { return };
    let export = site.page(&format!("{VARIED}/export?format=html"));
    let export = format!("file://{}", site.home().write("export.html", export).display());
    let taken = browser.page();
    done(&visit);
    let mut weight = 0;
    for (width, size) in [(1280, "wide"), (NARROW, "narrow")] {
        for (dark, theme) in [(false, "light"), (true, "dark")] {
            let kind = format!("{size}-{theme}");
            for page in [&*visit, &taken] {
                page.resize(width, 760, width == NARROW);
                page.emulate(EmulatedMedia { dark, reduced_motion: true, ..EmulatedMedia::default() });
            }
            visit.goto("about:blank");
            let blank = visit.picture(Area::Window).len();
            for (name, target, act) in screens() {
                visit.open(&target);
                act(&visit);
                weight += drawn(&visit, name, &kind, blank);
            }
            taken.goto(&export);
            weight += drawn(&taken, "export", &kind, blank);
        }
    }
    assert!(weight < MOST, "the pictures weigh {weight} bytes");
    visit.assert_quiet(&visit.origin());
    taken.assert_quiet("file://");
}
