//! A page of a site, and the questions that every page must answer.

use std::ops::{Deref, DerefMut};

use rethread_testkit::browser::{Browser, EmulatedMedia, Page};
use serde_json::json;

use crate::client::Site;

/// A narrow telephone.
pub(crate) const NARROW: u32 = 360;

/// Somebody who reads a site in a page of their own.
pub(crate) struct Visit<'s> {
    page: Page,
    site: &'s Site,
}

impl Deref for Visit<'_> {
    type Target = Page;

    fn deref(&self) -> &Page {
        &self.page
    }
}

impl DerefMut for Visit<'_> {
    fn deref_mut(&mut self) -> &mut Page {
        &mut self.page
    }
}

impl<'s> Visit<'s> {
    /// Comes in by the key of the run; nothing where there is no browser.
    #[track_caller]
    pub(crate) fn new(site: &'s Site) -> Option<Visit<'s>> {
        let page = Browser::shared()?.page();
        let visit = Visit { page, site };
        visit.emulate(EmulatedMedia { reduced_motion: true, ..EmulatedMedia::default() });
        visit.goto(&format!("{}/?key={}", visit.origin(), site.key()));
        Some(visit)
    }

    /// Returns the origin of the site.
    pub(crate) fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.site.port())
    }

    /// Opens a page of the site, and waits until it is drawn: before, turns know no text that can be seen.
    #[track_caller]
    pub(crate) fn open(&self, target: &str) {
        // A change of the fragment alone would not load anything.
        self.goto("about:blank");
        self.goto(&format!("{}{target}", self.origin()));
        self.settle();
    }

    /// Waits until an element is there that one can see.
    #[track_caller]
    pub(crate) fn wait_shown(&self, selector: &str) {
        self.wait_for(&format!("document.querySelector({})?.checkVisibility()", json!(selector)));
    }

    /// Waits until an element stands in the window.
    #[track_caller]
    pub(crate) fn wait_seen(&self, selector: &str) {
        self.wait_for(&format!(
            "(box => box && box.height > 0 && box.bottom > 0 && box.top < innerHeight)\
             (document.querySelector({})?.getBoundingClientRect())",
            json!(selector)
        ));
    }

    /// Waits until an element says some words.
    #[track_caller]
    pub(crate) fn wait_said(&self, selector: &str, words: &str) {
        self.wait_for(&format!(
            "[...document.querySelectorAll({})].some(one => one.textContent.includes({}))",
            json!(selector),
            json!(words)
        ));
    }

    /// Returns where an element begins in the window.
    #[track_caller]
    pub(crate) fn top(&self, selector: &str) -> f64 {
        let top =
            self.eval(&format!("document.querySelector({}).getBoundingClientRect().top", json!(selector)));
        top.as_f64().unwrap_or(f64::NAN)
    }

    /// Opens a fold and all others that a selector finds.
    #[track_caller]
    pub(crate) fn unfold(&self, selector: &str) {
        self.eval(&format!(
            "document.querySelectorAll({}).forEach(one => {{ one.open = true; }})",
            json!(selector)
        ));
    }

    /// Asks what every page must answer: it is quiet, and everybody can use it, light and dark, wide and narrow.
    #[track_caller]
    pub(crate) fn check(&self) {
        for (width, dark) in [(1280, false), (1280, true), (NARROW, true), (NARROW, false)] {
            self.resize(width, 800, width == NARROW);
            self.emulate(EmulatedMedia { dark, reduced_motion: true, ..EmulatedMedia::default() });
            self.settle();
            self.assert_accessible();
            self.assert_fits(width);
        }
        self.resize(1280, 800, false);
        self.settle();
        self.assert_quiet(&self.origin());
    }

    /// Panics where the page is wider than its window.
    #[track_caller]
    fn assert_fits(&self, width: u32) {
        let wide = self.eval("document.scrollingElement.scrollWidth").as_u64();
        assert!(wide <= Some(width.into()), "the page scrolls sideways: {wide:?} in a window of {width}");
    }
}
