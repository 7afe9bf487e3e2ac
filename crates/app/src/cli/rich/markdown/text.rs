//! The text that is being read: lines with styles, printed at the end of their block.

use anstyle::Style;

use super::MarkdownRenderer;
use crate::cli::clean;
use crate::cli::error::CliError;
use crate::cli::rich::styled::{StyledText, overlay};
use crate::cli::style::{PLAIN, QUIET};

impl MarkdownRenderer<'_, '_, '_> {
    /// Returns the current style.
    pub(super) fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    pub(super) fn push_style(&mut self, style: impl Into<Style>) {
        self.styles.push(overlay(self.style(), style));
    }

    /// Adds text to the current line. A line break in it begins a new one.
    pub(super) fn push_text(&mut self, style: impl Into<Style>, text: &str) {
        let style = style.into();
        for (idx, part) in clean::text(text).split('\n').enumerate() {
            if idx > 0 {
                self.lines.push(StyledText::default());
            }
            if let Some(line) = self.lines.last_mut() {
                line.push(style, part);
            }
        }
    }

    /// Shows the source up to `end` as it is written, if the parser omitted words of it.
    pub(super) fn show_uncovered(&mut self, end: usize) -> Result<(), CliError> {
        let from = self.covered;
        if end <= from || self.code_block.is_some() {
            return Ok(());
        }
        self.covered = end;
        let Some(omitted) = self.source.get(from..end).filter(|text| text.contains(char::is_alphanumeric))
        else {
            return Ok(());
        };
        if self.table.is_some() || self.lines.iter().any(|line| !line.text().is_empty()) {
            self.push_text(QUIET, omitted.trim());
            return Ok(());
        }
        self.begin_block()?;
        for line in omitted.trim().lines() {
            self.page.print_prose(&StyledText::new(QUIET, line.trim()))?;
        }
        self.needs_blank = true;
        Ok(())
    }

    /// Prints text that is not printed yet, and the empty line before a block.
    pub(super) fn begin_block(&mut self) -> Result<(), CliError> {
        self.print_text()?;
        if std::mem::take(&mut self.needs_blank) {
            self.page.print_blank()?;
        }
        Ok(())
    }

    /// Prints the text of a block. An empty line follows.
    pub(super) fn end_block(&mut self) -> Result<(), CliError> {
        self.print_text()?;
        self.needs_blank = true;
        Ok(())
    }

    /// Prints the lines that were read, if there are any.
    pub(super) fn print_text(&mut self) -> Result<(), CliError> {
        while self.lines.last().is_some_and(|line| line.text().trim().is_empty()) {
            self.lines.pop();
        }
        let lines = std::mem::replace(&mut self.lines, vec![StyledText::default()]);
        if !lines.is_empty() && std::mem::take(&mut self.needs_blank) {
            self.page.print_blank()?;
        }
        lines.iter().try_for_each(|line| self.page.print_prose(line))
    }

    /// Takes the text that was read, on one line.
    pub(super) fn take_line(&mut self) -> StyledText {
        let lines = std::mem::replace(&mut self.lines, vec![StyledText::default()]);
        let mut all = StyledText::default();
        for (idx, line) in lines.iter().enumerate() {
            if idx > 0 {
                all.push(PLAIN, " ");
            }
            all.append(line);
        }
        all
    }
}
