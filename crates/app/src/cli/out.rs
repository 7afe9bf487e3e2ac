//! All terminal output: data to stdout, everything else to stderr, always filtered by [`clean::filter_output`].

use std::io::{self, IsTerminal, Write};

use anstream::adapter::strip_str;
use anstream::{AutoStream, ColorChoice};
use serde::Serialize;

use super::clean;
use super::error::CliError;
use super::pager::PagedStdout;
use super::table::truncate_to_width;
use crate::config::Color;
use crate::env;

/// The output options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutputOptions {
    /// JSON Lines instead of text.
    pub(crate) json: bool,
    /// The condition for coloured output.
    pub(crate) color: Color,
    /// Whether a pager may be started.
    pub(crate) pager: bool,
    /// Whether stderr contains only errors.
    pub(crate) quiet: bool,
}

/// The writer of all output to stdout and stderr.
pub(crate) struct Out {
    screen: PagedStdout,
    colored: bool,
    notes: AutoStream<io::Stderr>,
    /// Notes to print to stderr after the pager has exited.
    pending: Vec<String>,
    options: OutputOptions,
    width: usize,
    table_width: Option<usize>,
    terminal: bool,
}

impl Out {
    /// Opens stdout and stderr. The width is `$COLUMNS`, that of the terminal or 100, limited to 40 to 400.
    pub(crate) fn new(options: OutputOptions) -> Out {
        let terminal = io::stdout().is_terminal();
        let size = terminal_size::terminal_size();
        let width = env::columns().or(size.map(|(width, _)| usize::from(width.0))).unwrap_or(100);
        let height = size.map_or(usize::MAX, |(_, height)| usize::from(height.0));
        let use_color = |terminal: bool| match options.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => env::color().map_or(terminal, |(use_color, _)| use_color),
        };
        let colored = use_color(terminal);
        let choice =
            if use_color(io::stderr().is_terminal()) { ColorChoice::Always } else { ColorChoice::Never };
        let notes = AutoStream::new(io::stderr(), choice);
        Out {
            screen: PagedStdout::new(height),
            colored,
            notes,
            pending: Vec::new(),
            options,
            width: width.clamp(40, 400),
            table_width: (terminal || env::columns().is_some()).then(|| width.clamp(40, 400)),
            terminal,
        }
    }

    /// Returns the number of columns of the screen, from 40 to 400.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Returns `true` if output is coloured, so that text is rendered instead of printed as its source.
    pub(crate) fn is_colored(&self) -> bool {
        self.colored
    }

    /// Returns the number of columns of a table. `None` is no limit, in a file or a pipe unless `$COLUMNS` is set.
    pub(crate) fn table_width(&self) -> Option<usize> {
        self.table_width
    }

    /// Truncates the text of a table cell that is wider than the screen. Most texts are far wider.
    pub(crate) fn truncate_cell(&self, text: &str) -> String {
        truncate_to_width(text, self.table_width.unwrap_or(usize::MAX))
    }

    /// Returns `true` if the command must print JSON Lines instead of text.
    pub(crate) fn is_json(&self) -> bool {
        self.options.json
    }

    /// Pipes output that is longer than the screen through a pager. Has no effect without a terminal or with `--no-pager`.
    pub(crate) fn allow_pager(&mut self) {
        if self.terminal && self.options.pager && !self.options.json {
            self.screen.allow_pager();
        }
    }

    /// Prints a line of text to stdout. Removes control sequences, trailing spaces and, if disabled, colours.
    pub(crate) fn line(&mut self, line: &str) -> Result<(), CliError> {
        let safe = clean::filter_output(line);
        let safe = safe.trim_end_matches(' ');
        if self.colored {
            writeln!(self.screen, "{safe}")?;
        } else {
            writeln!(self.screen, "{}", strip_str(safe).to_string().trim_end_matches(' '))?;
        }
        Ok(())
    }

    /// Prints an object as one line of JSON to stdout.
    pub(crate) fn json(&mut self, object: &impl Serialize) -> Result<(), CliError> {
        Ok(crate::json::write_line(&mut self.screen, object)?)
    }

    /// Prints bytes of a session file unchanged, but cleaned on a terminal.
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        if self.terminal {
            let text = String::from_utf8_lossy(bytes);
            return self.line(&clean::text(&text));
        }
        self.screen.write_all(bytes)?;
        Ok(self.screen.write_all(b"\n")?)
    }

    /// Prints rendered bytes. The caller has cleaned all session text in them.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.screen.write_all(bytes)
    }

    /// Returns `true` if stdout is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Returns `true` if stderr contains only errors.
    pub(crate) fn is_quiet(&self) -> bool {
        self.options.quiet
    }

    /// Prints a note, a hint or a warning to stderr, or nothing with `--quiet`.
    pub(crate) fn note(&mut self, line: &str) {
        if !self.options.quiet {
            self.error(line);
        }
    }

    /// Prints a line of an error to stderr, after the output if a pager may be running. Ignores write errors.
    pub(crate) fn error(&mut self, line: &str) {
        let line = clean::filter_output(line).into_owned();
        if self.screen.is_busy() {
            self.pending.push(line);
            return;
        }
        // Output printed before the note must appear before it.
        let _ = self.screen.flush();
        let _ = writeln!(self.notes, "{line}");
    }

    /// Flushes stdout. Output that is buffered for the pager stays buffered.
    pub(crate) fn flush(&mut self) -> Result<(), CliError> {
        Ok(self.screen.flush()?)
    }

    /// Prints buffered output, waits for the pager to exit, then prints pending notes.
    pub(crate) fn finish(&mut self) -> Result<(), CliError> {
        let finished = self.screen.finish();
        for line in std::mem::take(&mut self.pending) {
            self.error(&line);
        }
        Ok(finished?)
    }
}
