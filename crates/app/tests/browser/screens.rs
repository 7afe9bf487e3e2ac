//! Pictures of the pages, for the documentation: `UPDATE_DOCS=1 cargo test -p rethread screens` draws them anew.
//!
//! The invented sessions end a while before the present, so that two runs differ in their times and in nothing else. Without
//! the variable every screen is drawn, and only looked at.
#![expect(clippy::disallowed_methods, reason = "the test is told by the environment to write the pictures")]

use std::path::Path;

use rethread_testkit::browser::{Area, Media};

use crate::client::Site;
use crate::visit::{NARROW, Visit};

/// Where the pictures stand.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/screens");
/// What all pictures may weigh.
const MOST: usize = 2_000_000;

/// A session with calls of many kinds, and one with two branches.
const VARIED: &str = "/s/5f0c2a1e-7b3d-4c58-9a61-0e4d2f8b6c13";
const FORKED: &str = "/s/b27e94d0-1c6f-4f0a-8d35-9b1a7e02c4f8";

/// A screen: its name, its address, and what is done there before it is drawn.
type Screen = (&'static str, String, fn(&Visit<'_>));

fn screens() -> [Screen; 6] {
    [
        ("home", "/".to_owned(), |visit| visit.wait_shown(".heat")),
        ("list", "/sessions".to_owned(), |visit| visit.press("j")),
        ("search", "/search?q=high%20water".to_owned(), |visit| visit.wait_shown("a.found-link")),
        ("session", format!("{VARIED}#t1"), unfolded),
        ("branches", format!("{FORKED}/branches"), |_| {}),
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

/// Shows the first turn to others.
fn presented(visit: &Visit<'_>) {
    visit.press("P");
    visit.wait_shown(".present");
    for shown in 2..=6 {
        visit.press("ArrowRight");
        visit.wait_for(&format!("document.querySelectorAll('.present-page > *').length === {shown}"));
    }
}

#[test]
fn screens_show_every_page() {
    let site = Site::demo();
    let Some(visit) = Visit::new(&site) else { return };
    let wanted = std::env::var_os("UPDATE_DOCS").is_some();
    if wanted {
        std::fs::create_dir_all(FOLDER).unwrap();
    }
    let mut weight = 0;
    for (width, size) in [(1280, "wide"), (NARROW, "narrow")] {
        for (dark, theme) in [(false, "light"), (true, "dark")] {
            visit.resize(width, 760, width == NARROW);
            visit.emulate(Media { dark, reduced_motion: true, ..Media::default() });
            visit.goto("about:blank");
            let blank = visit.picture(Area::Window).len();
            for (name, target, act) in screens() {
                visit.open(&target);
                act(&visit);
                visit.settle();
                let picture = visit.picture(Area::Window);
                assert!(picture.len() > blank * 3, "{name} is blank, {size} and {theme}");
                weight += picture.len();
                if wanted {
                    let path = Path::new(FOLDER).join(format!("{name}-{size}-{theme}.png"));
                    std::fs::write(path, picture).unwrap();
                }
            }
        }
    }
    assert!(weight < MOST, "the pictures weigh {weight} bytes");
    visit.assert_quiet(&visit.origin());
}
