//! Stdout, or a pager if the output is longer than the screen.

use std::io::{self, BufWriter, Stdout, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::env;

/// Stdout with an optional pager.
pub(crate) struct PagedStdout {
    stdout: BufWriter<Stdout>,
    /// Output buffered until it is known whether it fits the screen.
    buffered: Option<Vec<u8>>,
    height: usize,
    pager: Option<(Child, BufWriter<ChildStdin>)>,
}

impl PagedStdout {
    /// Creates a writer to stdout. `height` is the number of lines of the screen.
    pub(crate) fn new(height: usize) -> PagedStdout {
        PagedStdout { stdout: BufWriter::new(io::stdout()), buffered: None, height, pager: None }
    }

    /// Buffers the output from now on, and starts a pager as soon as it exceeds one screen.
    pub(crate) fn allow_pager(&mut self) {
        self.buffered = Some(Vec::new());
    }

    /// Returns `true` if output is buffered or in a pager, so that stderr must not be written.
    pub(crate) fn is_busy(&self) -> bool {
        self.buffered.is_some() || self.pager.is_some()
    }

    /// Starts the pager and writes the buffered output to it, or to stdout if no pager can be started.
    fn start_pager(&mut self) -> io::Result<()> {
        let buffered = self.buffered.take().unwrap_or_default();
        let command_line = env::pager();
        if let Some((name, rest)) = command_line.split_first() {
            let mut command = Command::new(name);
            command.args(rest).stdin(Stdio::piped());
            if !env::is_less_set() {
                // K: an interrupt ends the pager together with rethread.
                command.env("LESS", "RFXK");
            }
            // If the pager cannot be started, print directly.
            if let Ok(mut child) = command.spawn()
                && let Some(stdin) = child.stdin.take()
            {
                self.pager = Some((child, BufWriter::new(stdin)));
            }
        }
        self.write_all(&buffered)
    }

    /// Writes buffered output and waits for the pager to exit.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        if let Some(buffered) = self.buffered.take() {
            self.write_all(&buffered)?;
        }
        let flushed = self.flush();
        if let Some((mut child, stdin)) = self.pager.take() {
            drop(stdin);
            child.wait()?;
        }
        flushed
    }
}

impl Write for PagedStdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(buffered) = &mut self.buffered {
            buffered.extend_from_slice(bytes);
            if buffered.iter().filter(|b| **b == b'\n').count() >= self.height {
                self.start_pager()?;
            }
            return Ok(bytes.len());
        }
        match &mut self.pager {
            Some((_, stdin)) => stdin.write(bytes),
            None => self.stdout.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.pager {
            Some((_, stdin)) => stdin.flush(),
            None => self.stdout.flush(),
        }
    }
}
