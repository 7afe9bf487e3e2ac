//! Emulated media, screenshots and paint times.

use rethread_testkit::browser::{Browser, EmulatedMedia, ScreenshotArea};
use serde_json::json;

use crate::server::TestServer;

/// Returns the width and the height of a PNG.
fn png_size(png: &[u8]) -> (u32, u32) {
    assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes([png[at], png[at + 1], png[at + 2], png[at + 3]]);
    (number(16), number(20))
}

#[test]
fn emulated_media_match_media_queries() {
    let Some(browser) = Browser::shared() else { return };
    let page = browser.open_page();
    let queries = "['(prefers-color-scheme: dark)', '(prefers-reduced-motion: reduce)', 'print'].map(query => matchMedia(query).matches)";
    for (dark, reduced_motion, print) in
        [(false, false, false), (true, false, false), (false, true, false), (true, true, true)]
    {
        page.emulate(EmulatedMedia { dark, reduced_motion, print });
        assert_eq!(page.eval(queries), json!([dark, reduced_motion, print]));
    }
}

#[test]
fn screenshots_have_the_size_of_the_viewport_or_of_the_page() {
    let Some(browser) = Browser::shared() else { return };
    let server =
        TestServer::with_body("<style>body { margin: 0 } p { height: 3000px; margin: 0 }</style><p>long</p>");
    let page = browser.open_page();
    page.goto(&server.url("/"));
    for (width, height, mobile) in [(800, 600, false), (360, 740, true)] {
        page.resize(width, height, mobile);
        assert_eq!(page.eval("[innerWidth, innerHeight]"), json!([width, height]));
        assert_eq!(page.eval("matchMedia('(pointer: coarse)').matches"), mobile);
        assert_eq!(png_size(&page.screenshot(ScreenshotArea::Viewport)), (width, height));
        let full_size = png_size(&page.screenshot(ScreenshotArea::FullPage));
        assert!(full_size.0 == width && full_size.1 > 3000, "{full_size:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.png");
    page.save_screenshot(&path, ScreenshotArea::Viewport);
    assert_eq!(png_size(&std::fs::read(&path).unwrap()), (360, 740));
}

#[test]
fn paint_times_and_frames_are_measured() {
    let Some(browser) = Browser::shared() else { return };
    let server = TestServer::with_body("<style>p { height: 5000px }</style><p>long</p>");
    let page = browser.open_page();
    page.goto(&server.url("/"));
    let times = page.paint_times();
    for time in [
        times.first_byte,
        times.dom_content_loaded,
        times.loaded,
        times.first_paint,
        times.first_contentful_paint,
        times.largest_contentful_paint,
    ] {
        assert!(time.is_some_and(|time| time > 0.0), "{times:?}");
    }
    let scroll =
        page.measure_frames("for (let y = 0; y < 2000; y += 100) { scrollTo(0, y); await frame(); }");
    assert!(scroll.count >= 20 && scroll.longest_gap > 0.0, "{scroll:?}");
    assert_eq!(page.eval("scrollY"), 1900);
    // A script that blocks the page for 300 ms causes a gap of at least that length.
    let blocked = page.measure_frames(
        "await frame(); const end = performance.now() + 300; while (performance.now() < end); await frame();",
    );
    assert!(blocked.longest_gap >= 300.0, "{blocked:?}");
}
