//! Where output goes: straight to stdout, or through a pager once it is longer than the screen.

use std::io::{self, BufWriter, Stdout, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::env;

/// Stdout with, perhaps, a pager before it.
pub(crate) struct PagedStdout {
    stdout: BufWriter<Stdout>,
    /// Held back until it is known whether it fits the screen.
    held: Option<Vec<u8>>,
    height: usize,
    pager: Option<(Child, BufWriter<ChildStdin>)>,
}

impl PagedStdout {
    /// Writes to stdout.
    pub(crate) fn new(height: usize) -> PagedStdout {
        PagedStdout { stdout: BufWriter::new(io::stdout()), held: None, height, pager: None }
    }

    /// Starts a pager as soon as there is more than one screen.
    pub(crate) fn may_page(&mut self) {
        self.held = Some(Vec::new());
    }

    /// Whether output is held back or in a pager, so that nothing else should be written to the terminal.
    pub(crate) fn is_busy(&self) -> bool {
        self.held.is_some() || self.pager.is_some()
    }

    fn start_pager(&mut self) -> io::Result<()> {
        let held = self.held.take().unwrap_or_default();
        let words = env::pager();
        if let Some((name, rest)) = words.split_first() {
            let mut command = Command::new(name);
            command.args(rest).stdin(Stdio::piped());
            if !env::less_env_is_set() {
                // K: an interrupt ends the pager together with us.
                command.env("LESS", "RFXK");
            }
            // Without a pager the output is simply printed.
            if let Ok(mut child) = command.spawn()
                && let Some(stdin) = child.stdin.take()
            {
                self.pager = Some((child, BufWriter::new(stdin)));
            }
        }
        self.write_all(&held)
    }

    /// Writes what is held back and waits for the pager to be closed.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        if let Some(held) = self.held.take() {
            self.write_all(&held)?;
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
        if let Some(held) = &mut self.held {
            held.extend_from_slice(bytes);
            if held.iter().filter(|b| **b == b'\n').count() >= self.height {
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
