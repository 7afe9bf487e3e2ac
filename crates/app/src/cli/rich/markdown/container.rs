//! Lists and quotes.

use super::MarkdownRenderer;
use crate::cli::error::CliError;
use crate::cli::rich::page::Margin;
use crate::cli::rich::styled::StyledText;
use crate::cli::style::QUIET;

/// The marks of lists, by depth.
const BULLETS: [&str; 3] = ["•", "◦", "▪"];

/// A block that is open and contains other blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Container {
    /// A list. It is loose if empty lines separate its items.
    List {
        is_ordered: bool,
        is_loose: bool,
    },
    Item,
    Quote,
}

impl MarkdownRenderer<'_, '_, '_> {
    /// Begins a list item whose marker is at the offset `at`.
    pub(super) fn start_item(&mut self, at: usize) -> Result<(), CliError> {
        self.begin_block()?;
        let is_ordered = matches!(self.containers.last(), Some(Container::List { is_ordered: true, .. }));
        let rest = self.source.get(at..).unwrap_or_default().trim_start();
        let number = &rest[..rest.bytes().take_while(u8::is_ascii_digit).count()];
        let text = rest[number.len()..].trim_start_matches(['-', '*', '+', '.', ')']).trim_start();
        // The parser reports a task marker without its position.
        let is_task = ["[x]", "[X]"].iter().any(|mark| text.starts_with(mark))
            && !text[3..].starts_with(|c: char| !c.is_whitespace());
        let text = if is_task { &text[3..] } else { text };
        self.covered = self.covered.max(self.source.len() - text.len());
        let mark = if is_ordered {
            format!("{number}. ")
        } else {
            let depth = self
                .containers
                .iter()
                .filter(|container| matches!(container, Container::List { .. }))
                .take(BULLETS.len())
                .count();
            format!("{} ", BULLETS[depth.saturating_sub(1)])
        };
        if !self.open_container(Container::Item, Margin::with_mark(StyledText::new(QUIET, &mark))) {
            self.push_text(QUIET, &mark);
        }
        Ok(())
    }

    /// Opens a container. Returns `false` if its margin is omitted, because too few columns would remain.
    pub(super) fn open_container(&mut self, container: Container, margin: Margin) -> bool {
        self.containers.push(container);
        self.page.push_margin(margin)
    }
}
