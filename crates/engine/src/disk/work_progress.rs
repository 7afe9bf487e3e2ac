//! Reports the progress of long work to the process: walks over folders, and reads of many files.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::find::SessionFile;

/// How often a walk reports its progress, in folders.
const REPORT_INTERVAL: u64 = 64;

/// The progress of work that may take long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkProgress {
    /// A walk looks for sessions.
    Walking {
        /// The number of folders that were visited so far.
        folders: u64,
    },
    /// Session files are being read.
    Reading {
        /// The bytes that were read so far.
        done: u64,
        /// The bytes to read.
        total: u64,
    },
    /// The work has ended.
    Done,
}

/// A function that receives the progress of work, from any thread.
type WorkObserver = Box<dyn Fn(WorkProgress) + Send + Sync>;

static OBSERVER: OnceLock<WorkObserver> = OnceLock::new();

/// Sets the function that receives the progress of all long work in this process. Only the first call has an effect.
///
/// Walks and reads are part of most operations, so a parameter for it would be in every one of them.
pub fn set_work_observer(observer: impl Fn(WorkProgress) + Send + Sync + 'static) {
    let _ = OBSERVER.set(Box::new(observer));
}

fn report(progress: WorkProgress) {
    if let Some(observer) = OBSERVER.get() {
        observer(progress);
    }
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
        if self.folders.is_multiple_of(REPORT_INTERVAL) {
            report(WorkProgress::Walking { folders: self.folders });
        }
    }
}

impl Drop for WalkReporter {
    fn drop(&mut self) {
        if self.folders >= REPORT_INTERVAL {
            report(WorkProgress::Done);
        }
    }
}

/// Counts the bytes of files that are read, from any thread. Reports the end when it is dropped.
#[derive(Debug)]
pub(crate) struct ReadReporter {
    done: AtomicU64,
    total: u64,
}

impl ReadReporter {
    /// Starts to report reads of `files`.
    pub(crate) fn new<'f>(files: impl IntoIterator<Item = &'f SessionFile>) -> ReadReporter {
        ReadReporter { done: AtomicU64::new(0), total: files.into_iter().map(|file| file.len).sum() }
    }

    /// Calls `read` with a file and then counts its bytes.
    pub(crate) fn count<'f, T>(&self, file: &'f SessionFile, read: impl FnOnce(&'f SessionFile) -> T) -> T {
        let value = read(file);
        let done = self.done.fetch_add(file.len, Ordering::Relaxed) + file.len;
        report(WorkProgress::Reading { done: done.min(self.total), total: self.total });
        value
    }
}

impl Drop for ReadReporter {
    fn drop(&mut self) {
        if *self.done.get_mut() > 0 {
            report(WorkProgress::Done);
        }
    }
}
