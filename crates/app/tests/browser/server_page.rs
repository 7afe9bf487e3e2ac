//! A browser page on a running server, and the checks that every page must pass.

use std::ops::{Deref, DerefMut};

use rethread_testkit::browser::{Browser, EmulatedMedia, Page};
use rethread_testkit::web_server::WebServer;
use serde_json::json;

/// The width of a narrow phone.
pub(crate) const NARROW: u32 = 360;

/// The button that executes an action after its preview.
pub(crate) const CONFIRM_BUTTON: &str = "#action-dialog .action-form button[value=do]";
/// The button that undoes the action that was just executed.
pub(crate) const UNDO_BUTTON: &str = "#action-dialog form.action-undo button";

/// A browser page that is signed in to a server.
pub(crate) struct ServerPage<'s> {
    page: Page,
    server: &'s WebServer,
}

impl Deref for ServerPage<'_> {
    type Target = Page;

    fn deref(&self) -> &Page {
        &self.page
    }
}

impl DerefMut for ServerPage<'_> {
    fn deref_mut(&mut self) -> &mut Page {
        &mut self.page
    }
}

impl<'s> ServerPage<'s> {
    /// Opens a page and signs in with the key of the server. Returns `None` if there is no browser.
    #[track_caller]
    pub(crate) fn new(server: &'s WebServer) -> Option<ServerPage<'s>> {
        let page = ServerPage { page: Browser::shared()?.open_page(), server };
        page.emulate(EmulatedMedia { reduced_motion: true, ..EmulatedMedia::default() });
        page.goto(&page.address(&format!("/?key={}", server.key())));
        Some(page)
    }

    /// Signs in and opens `target`. Returns `None` if there is no browser.
    #[track_caller]
    pub(crate) fn open_at(server: &'s WebServer, target: &str) -> Option<ServerPage<'s>> {
        let page = ServerPage::new(server)?;
        page.open(target);
        Some(page)
    }

    /// Returns the origin of the server.
    pub(crate) fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.server.port())
    }

    /// Returns the complete address of a page of the server.
    pub(crate) fn address(&self, target: &str) -> String {
        format!("{}{}", self.origin(), self.server.path(target))
    }

    /// Returns a JavaScript expression: whether the browser shows this page. The query and the fragment are ignored.
    pub(crate) fn is_at(&self, target: &str) -> String {
        format!("location.pathname === {}", json!(self.server.path(target)))
    }

    /// Opens a page of the server and waits until it is painted: before that, turns have no visible text.
    #[track_caller]
    pub(crate) fn open(&self, target: &str) {
        // A change of the fragment alone would not load the page.
        self.goto("about:blank");
        self.goto(&self.address(target));
        self.wait_for_paint();
    }

    /// Waits until an element exists and is visible.
    #[track_caller]
    pub(crate) fn wait_visible(&self, selector: &str) {
        self.wait_for(&format!("document.querySelector({})?.checkVisibility()", json!(selector)));
    }

    /// Waits until an element is inside the viewport.
    #[track_caller]
    pub(crate) fn wait_in_view(&self, selector: &str) {
        self.wait_for(&format!(
            "(box => box && box.height > 0 && box.bottom > 0 && box.top < innerHeight)\
             (document.querySelector({})?.getBoundingClientRect())",
            json!(selector)
        ));
    }

    /// Waits until the page has a turn with this number.
    #[track_caller]
    pub(crate) fn wait_for_turn(&self, turn: u32) {
        self.wait_for(&format!("document.getElementById('t{turn}')"));
    }

    /// Waits until an element contains `text`.
    #[track_caller]
    pub(crate) fn wait_for_text(&self, selector: &str, text: &str) {
        self.wait_for(&format!(
            "[...document.querySelectorAll({})].some(element => element.textContent.includes({}))",
            json!(selector),
            json!(text)
        ));
    }

    /// Clicks an element and waits until another one is visible.
    #[track_caller]
    pub(crate) fn click_and_wait(&self, selector: &str, visible_selector: &str) {
        self.click(selector);
        self.wait_visible(visible_selector);
    }

    /// Presses a key and waits until an element is visible.
    #[track_caller]
    pub(crate) fn press_and_wait(&self, key: &str, visible_selector: &str) {
        self.press(key);
        self.wait_visible(visible_selector);
    }

    /// Opens the menu of a turn, chooses `goto`, and waits for the preview in the dialog.
    #[track_caller]
    pub(crate) fn open_goto_dialog(&self, turn: &str) {
        self.click(&format!("{turn} .menu > summary"));
        self.click_and_wait(&format!("{turn} [data-action=goto]"), CONFIRM_BUTTON);
    }

    /// Executes the previewed action and waits for its result.
    #[track_caller]
    pub(crate) fn confirm_action(&self) {
        self.click_and_wait(CONFIRM_BUTTON, UNDO_BUTTON);
    }

    /// Undoes the action that was just executed and waits for the result.
    #[track_caller]
    pub(crate) fn undo_action(&self) {
        self.click(UNDO_BUTTON);
        self.wait_for_text("#action-dialog .action-title", "undone");
    }

    /// Presses Escape and waits until a dialog, named by its id, is closed.
    #[track_caller]
    pub(crate) fn close_dialog(&self, id: &str) {
        self.press("Escape");
        self.wait_for(&format!("!document.getElementById({}).open", json!(id)));
    }

    /// Returns the y coordinate of the top of an element in the viewport.
    #[track_caller]
    pub(crate) fn top_of(&self, selector: &str) -> f64 {
        let top =
            self.eval(&format!("document.querySelector({}).getBoundingClientRect().top", json!(selector)));
        top.as_f64().unwrap_or(f64::NAN)
    }

    /// Opens every `details` element that matches the selector.
    #[track_caller]
    pub(crate) fn open_details(&self, selector: &str) {
        self.eval(&format!(
            "document.querySelectorAll({}).forEach(details => {{ details.open = true; }})",
            json!(selector)
        ));
    }

    /// Panics if the page has problems, is not accessible or scrolls sideways: light and dark, wide and narrow.
    #[track_caller]
    pub(crate) fn assert_usable(&self) {
        for (width, dark) in [(1280, false), (1280, true), (NARROW, true), (NARROW, false)] {
            self.resize(width, 800, width == NARROW);
            self.emulate(EmulatedMedia { dark, reduced_motion: true, ..EmulatedMedia::default() });
            self.wait_for_paint();
            self.assert_accessible();
            self.assert_fits(width);
        }
        self.resize(1280, 800, false);
        self.wait_for_paint();
        self.assert_problem_free();
    }

    /// Panics if the page reported an error or sent a request to another origin.
    #[track_caller]
    pub(crate) fn assert_problem_free(&self) {
        self.assert_no_problems(&self.origin());
    }

    /// Panics if the page is wider than its viewport.
    #[track_caller]
    fn assert_fits(&self, width: u32) {
        let page_width = self.eval("document.scrollingElement.scrollWidth").as_u64();
        assert!(
            page_width <= Some(width.into()),
            "the page scrolls sideways: {page_width:?} in a viewport of {width}"
        );
    }
}
