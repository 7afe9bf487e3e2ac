//! Screenshots for the documentation: `UPDATE_DOCS=1 cargo test -p rethread screenshots` writes them.
//!
//! The demo sessions end a fixed time before the present, so that two runs differ only in displayed times. Without the variable
//! every screenshot is taken and checked, but not written.
#![expect(clippy::disallowed_methods, reason = "the environment requests that the screenshots are written")]

use std::path::Path;

use rethread_testkit::browser::{Browser, EmulatedMedia, Page, ScreenshotArea};
use rethread_testkit::web_server::WebServer;

use crate::new_home;
use crate::server_page::{CONFIRM_BUTTON, NARROW, ServerPage};

/// The folder of the screenshots.
const SCREENSHOT_FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/screens");
/// The maximum size of all screenshots together.
const MAX_TOTAL_BYTES: usize = 4_000_000;

/// A demo session with calls of many kinds.
const VARIED_SESSION: &str = "/s/5f0c2a1e-7b3d-4c58-9a61-0e4d2f8b6c13";
/// A demo session with two branches.
const FORKED_SESSION: &str = "/s/b27e94d0-1c6f-4f0a-8d35-9b1a7e02c4f8";

/// A screenshot: its name, its URL, and the actions before it is taken.
type ScreenshotCase = (&'static str, String, fn(&ServerPage<'_>));

fn screenshot_cases() -> [ScreenshotCase; 13] {
    [
        ("home", "/".to_owned(), |page| page.wait_visible(".heatmap")),
        ("list", "/sessions".to_owned(), |page| page.press("j")),
        ("search", "/search?q=high%20water".to_owned(), |page| page.wait_visible("a.result-link")),
        ("session", format!("{VARIED_SESSION}#t1"), open_edit_and_bash_calls),
        ("fork", FORKED_SESSION.to_owned(), wait_for_map),
        ("subagent", VARIED_SESSION.to_owned(), open_first_subagent),
        ("goto", VARIED_SESSION.to_owned(), open_goto_preview),
        ("branches", format!("{FORKED_SESSION}/branches"), |_| {}),
        ("diff", format!("{FORKED_SESSION}/branches"), compare_branches),
        ("tree", format!("{FORKED_SESSION}/tree"), |_| {}),
        ("sql", "/sql?example=cost-by-project".to_owned(), |page| page.wait_visible(".sql-chart")),
        ("log", "/log".to_owned(), |_| {}),
        ("presentation", VARIED_SESSION.to_owned(), present_first_turn),
    ]
}

/// Opens the calls of `Edit` and `Bash` and scrolls to a patch.
fn open_edit_and_bash_calls(page: &ServerPage<'_>) {
    page.wait_in_view("#t1");
    page.eval(
        "for (const call of document.querySelectorAll('#t1 .tool')) {
            if (/^\\s*(Edit|Bash)/.test(call.innerText)) call.open = true;
        }",
    );
    page.wait_visible("#t1 .patch");
    page.eval("document.querySelector('#t1 .patch').closest('.tool').scrollIntoView({ block: 'center' })");
}

/// Waits until the map is filled. It is not visible in narrow windows.
fn wait_for_map(page: &ServerPage<'_>) {
    page.wait_for("document.querySelector('#map > ol')");
}

/// Opens the page of the first subagent.
fn open_first_subagent(page: &ServerPage<'_>) {
    page.click_and_wait("[data-command=agents]", "#agents a");
    page.click("#agents a");
    page.wait_for("location.pathname.includes('/agent/') && document.readyState === 'complete'");
}

/// Opens the preview of `goto` for the first turn.
fn open_goto_preview(page: &ServerPage<'_>) {
    page.open_goto_dialog("#t1");
}

/// Compares two branches.
fn compare_branches(page: &ServerPage<'_>) {
    page.click("a[href*='/diff?']");
    page.wait_for("location.pathname.endsWith('/diff') && document.readyState === 'complete'");
}

/// Executes an action and undoes it, so that the log has entries.
fn execute_and_undo(page: &ServerPage<'_>) {
    page.open(&format!("{FORKED_SESSION}/branches"));
    page.click_and_wait("[data-action=goto]", CONFIRM_BUTTON);
    page.confirm_action();
    page.undo_action();
}

/// Presents six parts of the first turn.
fn present_first_turn(page: &ServerPage<'_>) {
    page.press_and_wait("P", ".present");
    for part_count in 2..=6 {
        page.press("ArrowRight");
        page.wait_for(&format!("document.querySelectorAll('.present-page > *').length === {part_count}"));
    }
}

/// Takes a screenshot, writes it if `UPDATE_DOCS` is set, and returns its size.
#[track_caller]
fn take_screenshot(page: &Page, name: &str, variant: &str, blank_bytes: usize) -> usize {
    page.wait_for_paint();
    let png = page.screenshot(ScreenshotArea::Viewport);
    assert!(png.len() > blank_bytes * 3, "{name} is blank, {variant}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(SCREENSHOT_FOLDER).unwrap();
        std::fs::write(Path::new(SCREENSHOT_FOLDER).join(format!("{name}-{variant}.png")), &png).unwrap();
    }
    png.len()
}

#[test]
fn screenshots_of_every_page_are_not_blank() {
    let server = WebServer::start_demo(new_home());
    let Some(page) = ServerPage::new(&server) else { return };
    let Some(browser) = Browser::shared() else { return };
    let export = server.get_body(&format!("{VARIED_SESSION}/export?format=html"));
    let export = format!("file://{}", server.home().write("export.html", export).display());
    let export_page = browser.open_page();
    execute_and_undo(&page);
    let mut total_bytes = 0;
    for (width, size_name) in [(1280, "wide"), (NARROW, "narrow")] {
        for (dark, theme) in [(false, "light"), (true, "dark")] {
            let variant = format!("{size_name}-{theme}");
            for target in [&*page, &export_page] {
                target.resize(width, 760, width == NARROW);
                target.emulate(EmulatedMedia { dark, reduced_motion: true, ..EmulatedMedia::default() });
            }
            page.goto("about:blank");
            let blank_bytes = page.screenshot(ScreenshotArea::Viewport).len();
            for (name, target, prepare) in screenshot_cases() {
                page.open(&target);
                prepare(&page);
                total_bytes += take_screenshot(&page, name, &variant, blank_bytes);
            }
            export_page.goto(&export);
            total_bytes += take_screenshot(&export_page, "export", &variant, blank_bytes);
        }
    }
    assert!(total_bytes < MAX_TOTAL_BYTES, "the screenshots have {total_bytes} bytes");
    page.assert_problem_free();
    export_page.assert_no_problems("file://");
}
