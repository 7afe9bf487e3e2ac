//! Progress on stderr, shown on terminals only.

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rethread_engine::{WalkProgress, set_walk_observer};

use super::figures::{draw_bar, format_percent, format_size, group_digits};
use super::out::Out;

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
    /// Creates a bar, which is drawn on a terminal only, and not with `--quiet`.
    pub(crate) fn new(label: &'static str, out: &Out) -> ProgressBar {
        let is_visible = !out.is_quiet() && io::stderr().is_terminal();
        ProgressBar { label, is_visible, drawn: AtomicU64::new(u64::MAX) }
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

/// The time after which a walk is long enough to be shown.
const WALK_DELAY: Duration = Duration::from_secs(1);
/// The minimum time between two redraws of a walk.
const WALK_REDRAW: Duration = Duration::from_millis(100);

/// Shows walks over folders that take longer than a second, if stderr is a terminal.
pub(crate) fn show_long_walks() {
    if io::stderr().is_terminal() {
        let line = Mutex::new(WalkLine::default());
        set_walk_observer(move |progress| {
            // Another thread that walks at the same time owns the line.
            let Ok(mut line) = line.try_lock() else { return };
            if let Some(text) = line.update(progress, Instant::now()) {
                let _ = write!(io::stderr().lock(), "\r{text}\u{1b}[K");
            }
        });
    }
}

/// A line that shows the progress of a walk. It contains numbers only.
#[derive(Default)]
struct WalkLine {
    /// When the walk began, at the first report.
    began: Option<Instant>,
    drawn: Option<Instant>,
}

impl WalkLine {
    /// Returns the new text of the line: empty after the walk, `None` if the line must not be drawn.
    fn update(&mut self, progress: WalkProgress, now: Instant) -> Option<String> {
        if progress.is_done {
            return std::mem::take(self).drawn.map(|_| String::new());
        }
        let began = *self.began.get_or_insert(now);
        let is_recent = self.drawn.is_some_and(|drawn| now.duration_since(drawn) < WALK_REDRAW);
        if now.duration_since(began) < WALK_DELAY || is_recent {
            return None;
        }
        self.drawn = Some(now);
        Some(format!("looking for sessions in {} folders", group_digits(progress.folders)))
    }
}

#[cfg(test)]
mod tests {
    use super::{Duration, Instant, WalkLine, WalkProgress};

    #[test]
    fn only_walks_of_more_than_a_second_are_shown_and_erased() {
        let start = Instant::now();
        let mut line = WalkLine::default();
        let mut update = |millis: u64, folders: u64, is_done: bool| {
            line.update(WalkProgress { folders, is_done }, start + Duration::from_millis(millis))
        };
        assert_eq!(update(0, 64, false), None);
        assert_eq!(update(900, 128, true), None, "nothing was drawn");
        // The next walk has a delay of its own.
        assert_eq!(update(1_000, 64, false), None);
        assert_eq!(update(1_999, 640, false), None);
        assert_eq!(update(2_000, 6_400, false).as_deref(), Some("looking for sessions in 6,400 folders"));
        assert_eq!(update(2_050, 6_464, false), None, "it was just drawn");
        assert_eq!(update(2_100, 7_040, false).as_deref(), Some("looking for sessions in 7,040 folders"));
        assert_eq!(update(2_110, 7_050, true).as_deref(), Some(""));
        assert_eq!(update(2_120, 7_060, true), None, "it is erased once");
    }
}
