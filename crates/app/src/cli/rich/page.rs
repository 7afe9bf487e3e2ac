//! Prints lines within margins.

use std::ops::Range;

use super::styled::StyledText;
use super::wrap::{wrap_columns, wrap_words};
use crate::cli::error::CliError;

/// Maximum number of columns of prose. Wider text is hard to read.
const MAX_PROSE_WIDTH: usize = 100;

/// Minimum number of columns of text. Margins that leave less are omitted.
const MIN_TEXT_WIDTH: usize = 20;

/// The text to the left of a container's lines, such as a list marker.
#[derive(Debug, Clone)]
pub(crate) struct Margin {
    /// The margin of the first line, until it is printed.
    first: Option<StyledText>,
    /// The margin of the other lines.
    rest: StyledText,
}

impl Margin {
    /// Creates a margin that is the same on each line.
    pub(crate) fn new(text: StyledText) -> Margin {
        Margin { first: None, rest: text }
    }

    /// Creates a margin with a mark on its first line. The other lines have spaces instead.
    pub(crate) fn with_mark(mark: StyledText) -> Margin {
        let rest = StyledText::new(anstyle::Style::new(), &" ".repeat(mark.width()));
        Margin { first: Some(mark), rest }
    }
}

/// Prints lines within margins.
pub(crate) struct Page<'a> {
    /// Receives each line with its escape codes.
    emit: &'a mut dyn FnMut(&str) -> Result<(), CliError>,
    width: usize,
    margins: Vec<Margin>,
    /// For each margin that was added, whether it is shown.
    shown: Vec<bool>,
}

impl<'a> Page<'a> {
    /// Creates a page with a number of columns and a margin. `emit` prints a line.
    pub(crate) fn new(
        width: usize,
        margin: Margin,
        emit: &'a mut dyn FnMut(&str) -> Result<(), CliError>,
    ) -> Page<'a> {
        Page { emit, width, margins: vec![margin], shown: Vec::new() }
    }

    fn margin_width(&self) -> usize {
        self.margins.iter().map(|margin| margin.rest.width()).sum()
    }

    /// Returns the number of columns of the margins within the first.
    pub(super) fn inner_margin_width(&self) -> usize {
        self.margins.iter().skip(1).map(|margin| margin.rest.width()).sum()
    }

    /// Returns the number of columns between the margins, for code and tables.
    pub(super) fn text_width(&self) -> usize {
        self.width.saturating_sub(self.margin_width()).max(MIN_TEXT_WIDTH)
    }

    /// Returns the number of columns of prose.
    pub(super) fn prose_width(&self) -> usize {
        self.width.min(MAX_PROSE_WIDTH).saturating_sub(self.margin_width()).max(MIN_TEXT_WIDTH)
    }

    /// Adds a margin within the others. Returns `false` if it is omitted, because too few columns would remain.
    pub(super) fn push_margin(&mut self, margin: Margin) -> bool {
        let fits = self.margin_width() + margin.rest.width() + MIN_TEXT_WIDTH <= self.width;
        if fits {
            self.margins.push(margin);
        }
        self.shown.push(fits);
        fits
    }

    /// Replaces the mark of the innermost margin, if it is not printed yet. The widths must be equal.
    pub(super) fn replace_mark(&mut self, mark: StyledText) -> bool {
        let innermost = self.margins.last_mut().filter(|_| self.shown.last() == Some(&true));
        let first = innermost.and_then(|margin| margin.first.as_mut());
        let is_replaced = first.is_some();
        if let Some(first) = first {
            *first = mark;
        }
        is_replaced
    }

    /// Removes the innermost margin. Prints its mark if no line did.
    pub(super) fn pop_margin(&mut self) -> Result<(), CliError> {
        if self.shown.pop() == Some(true) {
            if self.margins.last().is_some_and(|margin| margin.first.is_some()) {
                self.print_line(&StyledText::default())?;
            }
            self.margins.pop();
        }
        Ok(())
    }

    /// Prints a line of prose, wrapped between words.
    pub(super) fn print_prose(&mut self, line: &StyledText) -> Result<(), CliError> {
        let ranges = wrap_words(line.text(), self.prose_width());
        self.print_ranges(line, ranges)
    }

    /// Prints a preformatted line, broken only at the width.
    pub(super) fn print_block(&mut self, line: &StyledText) -> Result<(), CliError> {
        let ranges = wrap_columns(line.text(), self.text_width());
        self.print_ranges(line, ranges)
    }

    fn print_ranges(&mut self, line: &StyledText, ranges: Vec<Range<usize>>) -> Result<(), CliError> {
        let mut next = 0;
        ranges.into_iter().try_for_each(|range| self.print_range(line, range, &mut next))
    }

    /// Prints the margins and a line that fits between them.
    pub(super) fn print_line(&mut self, line: &StyledText) -> Result<(), CliError> {
        self.print_range(line, 0..line.text().len(), &mut 0)
    }

    /// Prints the margins and a range of a line, without the spaces at its end.
    fn print_range(
        &mut self,
        line: &StyledText,
        range: Range<usize>,
        next: &mut usize,
    ) -> Result<(), CliError> {
        let mut margin = StyledText::default();
        for part in &mut self.margins {
            let mark = part.first.take();
            margin.append(mark.as_ref().unwrap_or(&part.rest));
        }
        let end = range.start + line.text()[range.clone()].trim_end_matches(' ').len();
        if end == range.start {
            return (self.emit)(&margin.paint_trimmed());
        }
        (self.emit)(&(margin.paint_all() + &line.paint(range.start..end, next)))
    }

    /// Prints the margins of an empty line. Marks are kept for the next line.
    pub(super) fn print_blank(&mut self) -> Result<(), CliError> {
        let mut margin = StyledText::default();
        self.margins.iter().for_each(|part| margin.append(&part.rest));
        (self.emit)(&margin.paint_trimmed())
    }
}
