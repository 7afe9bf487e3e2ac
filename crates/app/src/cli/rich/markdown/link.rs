//! Links and images: their text, then their address.

use pulldown_cmark::LinkType;

use super::MarkdownRenderer;
use crate::cli::clean;
use crate::cli::style::{LINK, QUIET};

/// A link or an image whose text is being read.
pub(super) struct OpenLink {
    link_type: LinkType,
    address: String,
    title: String,
    label: String,
    is_image: bool,
    /// The index of the line and the offset in it at which the text starts.
    start: (usize, usize),
}

impl MarkdownRenderer<'_, '_, '_> {
    /// Begins a link or an image. Its text follows.
    pub(super) fn open_link(
        &mut self,
        link_type: LinkType,
        [address, title, label]: [&str; 3],
        is_image: bool,
    ) {
        if is_image {
            self.push_text(QUIET, "[image: ");
        }
        let start = (self.lines.len(), self.lines.last().map_or(0, |line| line.text().len()));
        let text = |text: &str| clean::line(text);
        self.links.push(OpenLink {
            link_type,
            address: text(address),
            title: text(title),
            label: text(label),
            is_image,
            start,
        });
        self.push_style(LINK);
    }

    /// Shows the address of a link after its text, unless they are equal. The definition of a reference shows it already.
    pub(super) fn close_link(&mut self) {
        self.styles.pop();
        let Some(link) = self.links.pop() else { return };
        if link.is_image {
            self.push_text(QUIET, "]");
        }
        match link.link_type {
            LinkType::Inline => {}
            LinkType::Reference => return self.push_text(QUIET, &format!("[{}]", link.label)),
            _ => return,
        }
        let text = self.lines.last().and_then(|line| line.text().get(link.start.1..));
        let text = text.filter(|_| link.start.0 == self.lines.len()).unwrap_or_default();
        let is_equal = text == link.address || link.address.strip_prefix("mailto:") == Some(text);
        let title = if link.title.is_empty() { String::new() } else { format!(" \"{}\"", link.title) };
        let shown = match (is_equal, title.is_empty()) {
            (true, true) => return,
            (true, false) => format!(" ({})", title.trim_start()),
            (false, _) => format!(" ({}{title})", link.address),
        };
        self.push_text(QUIET, &shown);
    }
}
