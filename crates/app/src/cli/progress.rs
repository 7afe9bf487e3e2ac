//! A progress bar on stderr, shown on terminals only.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use super::figures::{draw_bar, format_percent, format_size};

/// The width of the bar, in columns.
const WIDTH: usize = 30;

/// A progress bar. It shows numbers only, so that it cannot contain session text.
pub(crate) struct ProgressBar {
    label: &'static str,
    is_visible: bool,
    /// The last drawn share, in thousandths.
    drawn: AtomicU64,
}

impl ProgressBar {
    /// Creates a bar, which is drawn on a terminal only.
    pub(crate) fn new(label: &'static str) -> ProgressBar {
        ProgressBar { label, is_visible: io::stderr().is_terminal(), drawn: AtomicU64::new(u64::MAX) }
    }

    /// Draws `done` of `total` bytes. Draws only if the share changed by 0.1 %. Can be called from any thread.
    pub(crate) fn show(&self, done: u64, total: u64) {
        let share = done.min(total) * 1000 / total.max(1);
        if !self.is_visible || self.drawn.swap(share, Ordering::Relaxed) == share {
            return;
        }
        let line = format!(
            "{}  {:<WIDTH$} {:>4}  {} of {}",
            self.label,
            draw_bar(done.min(total), total, WIDTH),
            format_percent(done.min(total) as f64, total as f64),
            format_size(done),
            format_size(total)
        );
        let _ = write!(io::stderr().lock(), "\r{line}\u{1b}[K");
    }
}

impl Drop for ProgressBar {
    fn drop(&mut self) {
        if self.is_visible && self.drawn.load(Ordering::Relaxed) != u64::MAX {
            let _ = write!(io::stderr().lock(), "\r\u{1b}[K");
        }
    }
}
