//! The only way to the terminal: data to stdout, all else to stderr, nothing without the last fence.

use std::io::{self, IsTerminal, Write};

use anstream::adapter::strip_str;
use anstream::{AutoStream, ColorChoice};
use serde::Serialize;

use super::clean;
use super::error::CliError;
use super::pager::PagedStdout;
use crate::env;

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless the environment says otherwise
    Auto,
    /// Also in files and pipes
    Always,
    /// Nowhere
    Never,
}

/// How to print.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutputOptions {
    /// JSON Lines instead of text.
    pub(crate) json: bool,
    /// When to use colours.
    pub(crate) color: Color,
    /// Whether a pager may be started.
    pub(crate) pager: bool,
}

/// Stdout and stderr.
pub(crate) struct Out {
    screen: PagedStdout,
    colored: bool,
    notes: AutoStream<io::Stderr>,
    /// Notes that wait for the end of the output.
    pending: Vec<String>,
    manner: OutputOptions,
    width: usize,
    terminal: bool,
}

impl Out {
    /// Opens stdout and stderr.
    pub(crate) fn new(manner: OutputOptions) -> Out {
        let terminal = io::stdout().is_terminal();
        let size = terminal_size::terminal_size();
        let width = env::columns().or(size.map(|(width, _)| usize::from(width.0))).unwrap_or(100);
        let height = size.map_or(usize::MAX, |(_, height)| usize::from(height.0));
        let wanted = |terminal: bool| match manner.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => env::color().unwrap_or(terminal),
        };
        let colored = wanted(terminal);
        let choice =
            if wanted(io::stderr().is_terminal()) { ColorChoice::Always } else { ColorChoice::Never };
        let notes = AutoStream::new(io::stderr(), choice);
        Out {
            screen: PagedStdout::new(height),
            colored,
            notes,
            pending: Vec::new(),
            manner,
            width: width.clamp(40, 400),
            terminal,
        }
    }

    /// Returns how many columns there are.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Whether JSON is wanted.
    pub(crate) fn is_json(&self) -> bool {
        self.manner.json
    }

    /// Lets output that is longer than the screen go through a pager.
    pub(crate) fn may_page(&mut self) {
        if self.terminal && self.manner.pager && !self.manner.json {
            self.screen.may_page();
        }
    }

    /// Prints a line of data.
    pub(crate) fn line(&mut self, line: &str) -> Result<(), CliError> {
        let safe = clean::guard(line);
        let safe = safe.trim_end_matches(' ');
        if self.colored {
            writeln!(self.screen, "{safe}")?;
        } else {
            writeln!(self.screen, "{}", strip_str(safe).to_string().trim_end_matches(' '))?;
        }
        Ok(())
    }

    /// Prints an object on a line of its own.
    pub(crate) fn json(&mut self, object: &impl Serialize) -> Result<(), CliError> {
        Ok(self.screen.write_all(&crate::json::line(object)?)?)
    }

    /// Prints bytes of a session file: as they are, but cleaned where a person looks at them.
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        if self.terminal {
            let text = String::from_utf8_lossy(bytes);
            return self.line(&clean::text(&text));
        }
        self.screen.write_all(bytes)?;
        Ok(self.screen.write_all(b"\n")?)
    }

    /// Prints bytes that were made to be shown: all text of a session in them was cleaned then.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.screen.write_all(bytes)
    }

    /// Prints a line to stderr, which never fails a command; behind the output where a pager may have it.
    pub(crate) fn note(&mut self, line: &str) {
        let line = clean::guard(line).into_owned();
        if self.screen.is_busy() {
            self.pending.push(line);
            return;
        }
        // What was printed before the note should also be seen before it.
        let _ = self.screen.flush();
        let _ = writeln!(self.notes, "{line}");
    }

    /// Hands what was printed so far to the terminal.
    pub(crate) fn flush(&mut self) -> Result<(), CliError> {
        Ok(self.screen.flush()?)
    }

    /// Ends the output.
    pub(crate) fn finish(&mut self) -> Result<(), CliError> {
        let finished = self.screen.finish();
        for line in std::mem::take(&mut self.pending) {
            self.note(&line);
        }
        Ok(finished?)
    }
}
