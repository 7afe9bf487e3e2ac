//! Reports the progress of walks over folders to the process.

use std::sync::OnceLock;

/// How often a walk reports its progress, in folders.
const REPORT_INTERVAL: u64 = 64;

/// The progress of a walk that looks for sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WalkProgress {
    /// The number of folders that were visited so far.
    pub folders: u64,
    /// Whether the walk has ended.
    pub is_done: bool,
}

/// A function that receives the progress of walks, from any thread.
type WalkObserver = Box<dyn Fn(WalkProgress) + Send + Sync>;

static OBSERVER: OnceLock<WalkObserver> = OnceLock::new();

/// Sets the function that receives the progress of every walk in this process. Only the first call has an effect.
///
/// A walk is part of most operations, so a parameter for it would be in every one of them.
pub fn set_walk_observer(observer: impl Fn(WalkProgress) + Send + Sync + 'static) {
    let _ = OBSERVER.set(Box::new(observer));
}

/// Counts the folders of a walk. Reports its end when it is dropped.
#[derive(Debug, Default)]
pub(super) struct WalkReporter {
    folders: u64,
}

impl WalkReporter {
    /// Counts a folder, and reports the progress at regular intervals.
    pub(super) fn count_folder(&mut self) {
        self.folders += 1;
        if self.folders.is_multiple_of(REPORT_INTERVAL)
            && let Some(observer) = OBSERVER.get()
        {
            observer(WalkProgress { folders: self.folders, is_done: false });
        }
    }
}

impl Drop for WalkReporter {
    fn drop(&mut self) {
        if self.folders >= REPORT_INTERVAL
            && let Some(observer) = OBSERVER.get()
        {
            observer(WalkProgress { folders: self.folders, is_done: true });
        }
    }
}
