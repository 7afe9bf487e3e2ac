//! Writes the pieces of a text: tags that are closed in order, and words in which addresses become links.

use super::link;
use crate::html::text::escape;
use crate::text::clean;

/// How many elements of one kind stand within each other; what lies deeper is drawn flat.
const DEEPEST: usize = 20;

/// What is written so far.
#[derive(Debug, Default)]
pub(super) struct Pen {
    pub(super) out: String,
    /// Text that came in pieces: an address may reach over several.
    pending: String,
    /// How each open element is closed, and whether it counts as a level.
    open: Vec<(&'static str, bool)>,
    levels: usize,
    /// How many open elements are links.
    links: usize,
    /// Whether line breaks are kept, and files marked that are mentioned.
    pub(super) typed: bool,
}

impl Pen {
    /// Begins a text.
    pub(super) fn new(typed: bool) -> Pen {
        Pen { typed, ..Pen::default() }
    }

    /// Takes words that are part of the text.
    pub(super) fn words(&mut self, text: &str) {
        self.pending.push_str(text);
    }

    /// Forgets line breaks at the end of the words that wait.
    pub(super) fn trim(&mut self) {
        self.pending.truncate(self.pending.trim_end_matches('\n').len());
    }

    /// Writes markup of our own, after the words before it.
    pub(super) fn mark(&mut self, markup: &str) {
        self.flush();
        self.out.push_str(markup);
    }

    /// Opens an element that its end will close.
    pub(super) fn open(&mut self, start: &str, end: &'static str) {
        self.mark(start);
        self.open.push((end, false));
    }

    /// Opens an element of a kind that may stand within itself; says whether it was not too deep.
    pub(super) fn level(&mut self, start: &str, end: &'static str) -> bool {
        self.levels += 1;
        let shown = self.levels <= DEEPEST;
        self.mark(if shown { start } else { "" });
        self.open.push((if shown { end } else { "" }, true));
        shown
    }

    /// Closes the element that was opened last.
    pub(super) fn close(&mut self) {
        self.flush();
        let Some((end, level)) = self.open.pop() else { return };
        self.levels -= usize::from(level);
        if end == "</a>" {
            self.links -= 1;
        }
        self.out.push_str(end);
    }

    /// Opens a link, or what shows that there is an address we do not lead to; within a link, nothing.
    pub(super) fn link(&mut self, address: &str) {
        self.flush();
        if self.links > 0 {
            self.open.push(("", false));
        } else if let Some(address) = link::safe(address) {
            self.anchor(address);
            self.open.push(("</a>", false));
            self.links += 1;
        } else {
            self.open("<span class=\"md-link\">", "</span>");
        }
    }

    fn anchor(&mut self, address: &str) {
        self.out.push_str("<a href=\"");
        escape::push(&mut self.out, address);
        self.out.push_str("\" rel=\"noopener noreferrer\" target=\"_blank\">");
    }

    /// Writes the words that wait.
    pub(super) fn flush(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let words = std::mem::take(&mut self.pending);
        let words = clean::text(&words);
        let mut rest = &*words;
        if self.links == 0 {
            while let Some((from, to)) = link::next(rest) {
                self.text(&rest[..from]);
                self.anchor(&rest[from..to]);
                escape::push(&mut self.out, &rest[from..to]);
                self.out.push_str("</a>");
                rest = &rest[to..];
            }
        }
        self.text(rest);
    }

    /// Writes words without an address.
    fn text(&mut self, text: &str) {
        let mut rest = text;
        while let Some((from, to)) = link::mention(rest).filter(|_| self.typed) {
            self.lines(&rest[..from]);
            self.out.push_str("<span class=\"md-file\">");
            escape::push(&mut self.out, &rest[from..to]);
            self.out.push_str("</span>");
            rest = &rest[to..];
        }
        self.lines(rest);
    }

    /// Writes words; line breaks within them are meant.
    fn lines(&mut self, text: &str) {
        for (no, line) in text.split('\n').enumerate() {
            if no > 0 {
                self.out.push_str("<br>");
            }
            escape::push(&mut self.out, line);
        }
    }

    /// Closes what is still open and returns all.
    pub(super) fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        self.flush();
        self.out
    }
}
