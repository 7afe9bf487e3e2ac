//! Progress on stderr, shown on terminals only.

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rethread_engine::{WorkProgress, set_work_observer};

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
        let line = describe_bytes(self.label, done.min(total), total);
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

/// The time after which work is long enough to be shown.
const WORK_DELAY: Duration = Duration::from_secs(1);
/// The minimum time between two redraws.
const REDRAW_INTERVAL: Duration = Duration::from_millis(100);

/// Shows walks over folders and reads of files that take longer than a second, if stderr is a terminal.
pub(crate) fn show_long_work() {
    if io::stderr().is_terminal() {
        let line = Mutex::new(WorkLine::default());
        set_work_observer(move |progress| {
            // Another thread that reports at the same time owns the line.
            let Ok(mut line) = line.try_lock() else { return };
            if let Some(text) = line.update(progress, Instant::now()) {
                let _ = write!(io::stderr().lock(), "\r{text}\u{1b}[K");
            }
        });
    }
}

/// A line that shows the progress of work. It contains numbers only.
#[derive(Default)]
struct WorkLine {
    /// When the work began, at the first report.
    began: Option<Instant>,
    drawn: Option<Instant>,
}

impl WorkLine {
    /// Returns the new text of the line: empty after the work, `None` if the line must not be drawn.
    fn update(&mut self, progress: WorkProgress, now: Instant) -> Option<String> {
        if progress == WorkProgress::Done {
            return std::mem::take(self).drawn.map(|_| String::new());
        }
        let began = *self.began.get_or_insert(now);
        let is_recent = self.drawn.is_some_and(|drawn| now.duration_since(drawn) < REDRAW_INTERVAL);
        if now.duration_since(began) < WORK_DELAY || is_recent {
            return None;
        }
        self.drawn = Some(now);
        Some(match progress {
            WorkProgress::Walking { folders } => {
                format!("looking for sessions in {} folders", group_digits(folders))
            }
            WorkProgress::Reading { done, total } => describe_bytes("reading", done, total),
            WorkProgress::Done => String::new(),
        })
    }
}

/// Draws `done` of `total` bytes as a bar with numbers.
fn describe_bytes(label: &str, done: u64, total: u64) -> String {
    let bar = draw_bar(done, total, WIDTH);
    let share = format_percent(done as f64, total as f64);
    format!("{label}  {bar:<WIDTH$} {share:>4}  {} of {}", format_size(done), format_size(total))
}

#[cfg(test)]
mod tests {
    use super::{Duration, Instant, WorkLine, WorkProgress};

    #[test]
    fn only_work_of_more_than_a_second_is_shown_and_erased() {
        let start = Instant::now();
        let mut line = WorkLine::default();
        let mut update = |millis: u64, progress: WorkProgress| {
            line.update(progress, start + Duration::from_millis(millis))
        };
        let walking = |folders| WorkProgress::Walking { folders };
        assert_eq!(update(0, walking(64)), None);
        assert_eq!(update(900, WorkProgress::Done), None, "nothing was drawn");
        // The next walk has a delay of its own.
        assert_eq!(update(1_000, walking(64)), None);
        assert_eq!(update(1_999, walking(640)), None);
        assert_eq!(update(2_000, walking(6_400)).as_deref(), Some("looking for sessions in 6,400 folders"));
        assert_eq!(update(2_050, walking(6_464)), None, "it was just drawn");
        assert_eq!(update(2_100, walking(7_040)).as_deref(), Some("looking for sessions in 7,040 folders"));
        assert_eq!(update(2_110, WorkProgress::Done).as_deref(), Some(""));
        assert_eq!(update(2_120, WorkProgress::Done), None, "it is erased once");
        let reading = |done: u64| WorkProgress::Reading { done: done << 20, total: 200 << 20 };
        assert_eq!(update(3_000, reading(10)), None);
        let text = update(4_000, reading(50)).unwrap();
        assert!(text.starts_with("reading  █") && text.contains(" 25%") && text.contains(" of "), "{text}");
    }
}
