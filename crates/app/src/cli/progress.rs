//! A bar on stderr for work that takes a while, where somebody sees it.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use super::figures::{bar, size};

/// How wide the bar is.
const WIDTH: usize = 30;

/// Shows how far some work is; of nothing but numbers, so that no session text can be in it.
pub(crate) struct Bar {
    what: &'static str,
    seen: bool,
    /// The last share that was drawn, in thousandths.
    drawn: AtomicU64,
}

impl Bar {
    /// Makes a bar; it is drawn on a terminal only.
    pub(crate) fn new(what: &'static str) -> Bar {
        Bar { what, seen: io::stderr().is_terminal(), drawn: AtomicU64::new(u64::MAX) }
    }

    /// Draws how many bytes are done with; from any thread.
    pub(crate) fn show(&self, done: u64, of: u64) {
        let share = done.min(of) * 1000 / of.max(1);
        if !self.seen || self.drawn.swap(share, Ordering::Relaxed) == share {
            return;
        }
        let line = format!(
            "{}  {:<WIDTH$} {:>3}%  {} of {}",
            self.what,
            bar(done.min(of), of, WIDTH),
            share / 10,
            size(done),
            size(of)
        );
        let _ = write!(io::stderr().lock(), "\r{line}\u{1b}[K");
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if self.seen && self.drawn.load(Ordering::Relaxed) != u64::MAX {
            let _ = write!(io::stderr().lock(), "\r\u{1b}[K");
        }
    }
}
