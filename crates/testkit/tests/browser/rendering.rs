//! What a page is told of where it is shown, and pictures of it.

use rethread_testkit::browser::{Area, Browser, EmulatedMedia};
use serde_json::json;

use crate::server::Site;

/// Returns width and height of a PNG.
fn size(png: &[u8]) -> (u32, u32) {
    assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes([png[at], png[at + 1], png[at + 2], png[at + 3]]);
    (number(16), number(20))
}

#[test]
fn the_media_are_as_told() {
    let Some(browser) = Browser::shared() else { return };
    let page = browser.page();
    let asked = "['(prefers-color-scheme: dark)', '(prefers-reduced-motion: reduce)', 'print'].map(query => matchMedia(query).matches)";
    for (dark, reduced_motion, print) in
        [(false, false, false), (true, false, false), (false, true, false), (true, true, true)]
    {
        page.emulate(EmulatedMedia { dark, reduced_motion, print });
        assert_eq!(page.eval(asked), json!([dark, reduced_motion, print]));
    }
}

#[test]
fn a_picture_has_the_size_of_the_window_or_of_the_whole() {
    let Some(browser) = Browser::shared() else { return };
    let site = Site::of("<style>body { margin: 0 } p { height: 3000px; margin: 0 }</style><p>long</p>");
    let page = browser.page();
    page.goto(&site.url("/"));
    for (width, height, mobile) in [(800, 600, false), (360, 740, true)] {
        page.resize(width, height, mobile);
        assert_eq!(page.eval("[innerWidth, innerHeight]"), json!([width, height]));
        assert_eq!(page.eval("matchMedia('(pointer: coarse)').matches"), mobile);
        assert_eq!(size(&page.picture(Area::Window)), (width, height));
        let whole = size(&page.picture(Area::Whole));
        assert!(whole.0 == width && whole.1 > 3000, "{whole:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.png");
    page.screenshot(&path, Area::Window);
    assert_eq!(size(&std::fs::read(&path).unwrap()), (360, 740));
}

#[test]
fn times_and_frames_are_measured() {
    let Some(browser) = Browser::shared() else { return };
    let site = Site::of("<style>p { height: 5000px }</style><p>long</p>");
    let page = browser.page();
    page.goto(&site.url("/"));
    let times = page.paint_times();
    for time in [times.answered, times.parsed, times.loaded, times.first, times.content, times.largest] {
        assert!(time.is_some_and(|time| time > 0.0), "{times:?}");
    }
    let scroll = page.frames_while("for (let y = 0; y < 2000; y += 100) { scrollTo(0, y); await frame(); }");
    assert!(scroll.count >= 20 && scroll.longest > 0.0, "{scroll:?}");
    assert_eq!(page.eval("scrollY"), 1900);
    // A script that holds the page for a while makes a gap of at least that length.
    let stuck = page.frames_while(
        "await frame(); const end = performance.now() + 300; while (performance.now() < end); await frame();",
    );
    assert!(stuck.longest >= 300.0, "{stuck:?}");
}
