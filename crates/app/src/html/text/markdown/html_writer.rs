//! Writes elements that are closed in order, and text in which URLs become links.

use crate::content::markdown::{MAX_DEPTH, find_mention, find_url, safe_url};
use crate::html::text::escape;
use crate::text::clean;

/// Writes markup, and makes links of URLs in its text.
#[derive(Debug, Default)]
pub(super) struct HtmlWriter {
    /// The markup written so far.
    pub(super) out: String,
    /// Text that is not written yet: a URL may span several text events.
    pending: String,
    /// The end tag of each open element, and whether it counts towards the depth.
    open: Vec<(&'static str, bool)>,
    /// The number of open elements that count towards [`MAX_DEPTH`].
    depth: usize,
    /// The number of open links.
    links: usize,
    /// `true` if line breaks are kept and file mentions are marked.
    pub(super) is_prompt: bool,
}

impl HtmlWriter {
    /// Creates an empty writer.
    pub(super) fn new(is_prompt: bool) -> HtmlWriter {
        HtmlWriter { is_prompt, ..HtmlWriter::default() }
    }

    /// Adds text to the pending text.
    pub(super) fn push_text(&mut self, text: &str) {
        self.pending.push_str(text);
    }

    /// Removes line breaks from the end of the pending text.
    pub(super) fn trim_line_breaks(&mut self) {
        self.pending.truncate(self.pending.trim_end_matches('\n').len());
    }

    /// Writes the pending text, then markup.
    pub(super) fn push_markup(&mut self, markup: &str) {
        self.flush();
        self.out.push_str(markup);
    }

    /// Opens an element with this start tag. `end` is its end tag.
    pub(super) fn open(&mut self, start: &str, end: &'static str) {
        self.push_markup(start);
        self.open.push((end, false));
    }

    /// Opens an element that can be nested. Returns `false` if its tags are omitted because it is nested too deeply.
    pub(super) fn open_nested(&mut self, start: &str, end: &'static str) -> bool {
        self.depth += 1;
        let is_written = self.depth <= MAX_DEPTH;
        self.push_markup(if is_written { start } else { "" });
        self.open.push((if is_written { end } else { "" }, true));
        is_written
    }

    /// Closes the element that was opened last.
    pub(super) fn close(&mut self) {
        self.flush();
        let Some((end, is_nested)) = self.open.pop() else { return };
        self.depth -= usize::from(is_nested);
        if end == "</a>" {
            self.links -= 1;
        }
        self.out.push_str(end);
    }

    /// Opens a link, or a marked span if the URL is not safe. Writes no tag within another link.
    pub(super) fn open_link(&mut self, url: &str) {
        self.flush();
        if self.links > 0 {
            self.open.push(("", false));
        } else if let Some(url) = safe_url(url) {
            self.write_anchor(url);
            self.open.push(("</a>", false));
            self.links += 1;
        } else {
            self.open("<span class=\"md-link\">", "</span>");
        }
    }

    fn write_anchor(&mut self, url: &str) {
        self.out.push_str("<a href=\"");
        escape::push_escaped(&mut self.out, url);
        self.out.push_str("\" rel=\"noopener noreferrer\" target=\"_blank\">");
    }

    /// Writes the pending text, with URLs as links unless a link is open.
    pub(super) fn flush(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let text = std::mem::take(&mut self.pending);
        let text = clean::text(&text);
        let mut rest = &*text;
        if self.links == 0 {
            while let Some((from, to)) = find_url(rest) {
                self.write_text(&rest[..from]);
                self.write_anchor(&rest[from..to]);
                escape::push_escaped(&mut self.out, &rest[from..to]);
                self.out.push_str("</a>");
                rest = &rest[to..];
            }
        }
        self.write_text(rest);
    }

    /// Writes text that contains no URL. Marks file mentions in prompts.
    fn write_text(&mut self, text: &str) {
        let mut rest = text;
        while let Some((from, to)) = find_mention(rest).filter(|_| self.is_prompt) {
            self.write_lines(&rest[..from]);
            self.out.push_str("<span class=\"md-file\">");
            escape::push_escaped(&mut self.out, &rest[from..to]);
            self.out.push_str("</span>");
            rest = &rest[to..];
        }
        self.write_lines(rest);
    }

    /// Writes escaped text with `<br>` for each line break.
    fn write_lines(&mut self, text: &str) {
        for (idx, line) in text.split('\n').enumerate() {
            if idx > 0 {
                self.out.push_str("<br>");
            }
            escape::push_escaped(&mut self.out, line);
        }
    }

    /// Closes all open elements and returns the markup.
    pub(super) fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        self.flush();
        self.out
    }
}
