//! What the system says of a file without opening it: whether it may be taken for unchanged.

use std::fs::Metadata;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rethread_core::entry::Timestamp;
use rethread_core::pack_fields;

/// How old a change must be so that the next one has another time. Clocks of file systems tick every 10 ms at the most.
const TICK: Duration = Duration::from_millis(20);
/// The same where a file system knows only whole seconds, or every other of them.
const COARSE_TICK: Duration = Duration::from_secs(3);

/// Length, times and number of a file. A file whose mark is the same has not changed since it was settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileFingerprint {
    pub(crate) len: u64,
    mtime: (i64, u32),
    /// When anything about it changed, which no program can set back; elsewhere than on Unix the same as `mtime`.
    ctime: (i64, u32),
    /// What file it really is, by whatever path: device and number, where the system has them.
    pub(super) real: Option<(u64, u64)>,
}

pack_fields!(FileFingerprint { len, mtime, ctime, real });

impl FileFingerprint {
    /// Takes the mark of a file.
    #[cfg(unix)]
    pub(crate) fn of(meta: &Metadata) -> FileFingerprint {
        use std::os::unix::fs::MetadataExt;
        let nanos = |nanos: i64| u32::try_from(nanos).unwrap_or_default();
        FileFingerprint {
            len: meta.len(),
            mtime: (meta.mtime(), nanos(meta.mtime_nsec())),
            ctime: (meta.ctime(), nanos(meta.ctime_nsec())),
            real: Some((meta.dev(), meta.ino())),
        }
    }

    /// Takes the mark of a file, as far as the standard library tells.
    #[cfg(not(unix))]
    pub(crate) fn of(meta: &Metadata) -> FileFingerprint {
        let since = |time: SystemTime| time.duration_since(UNIX_EPOCH).unwrap_or_default();
        let mtime = meta.modified().map(since).unwrap_or_default();
        let mtime = (i64::try_from(mtime.as_secs()).unwrap_or_default(), mtime.subsec_nanos());
        FileFingerprint { len: meta.len(), mtime, ctime: mtime, real: None }
    }

    /// Returns when it was written.
    pub(crate) fn moment(&self) -> Timestamp {
        let (seconds, nanos) = self.mtime;
        Timestamp(seconds.saturating_mul(1000).saturating_add(i64::from(nanos / 1_000_000)))
    }

    /// Whether another mark is of the same file, as far as the system tells.
    pub(crate) fn is_same_file(&self, other: &FileFingerprint) -> bool {
        self.real == other.real
    }

    /// Whether another mark is of the same file, where the system can tell.
    pub(crate) fn is_same_inode(&self, other: &FileFingerprint) -> bool {
        self.real.is_some() && self.real == other.real
    }

    /// Whether any later change must give another mark: not where the last one was just before `now`, because the next
    /// could fall into the same tick of the clock. `now` must be from before the mark was taken.
    pub(crate) fn is_stable(&self, now: SystemTime) -> bool {
        let (seconds, nanos) = self.ctime;
        let whole = nanos == 0 && self.mtime.1 == 0;
        let tick = if whole { COARSE_TICK } else { TICK };
        let since = Duration::new(u64::try_from(seconds).unwrap_or_default(), nanos);
        // A time to come says nothing.
        let age = UNIX_EPOCH.checked_add(since).and_then(|changed| now.duration_since(changed).ok());
        age.is_some_and(|age| age >= tick)
    }
}

#[cfg(test)]
mod tests {
    use super::{FileFingerprint, SystemTime, UNIX_EPOCH};
    use std::time::Duration;

    fn at(mark: FileFingerprint, millis: u64) -> bool {
        let now: SystemTime = UNIX_EPOCH + Duration::from_millis(millis);
        mark.is_stable(now)
    }

    #[test]
    fn only_what_changed_a_while_ago_is_settled() {
        let mark = FileFingerprint { len: 1, mtime: (5, 1), ctime: (10, 500_000_000), real: None };
        // The time that a program can set says nothing; before and at the time of change anything may come.
        for (millis, settled) in
            [(0, false), (10_500, false), (10_519, false), (10_520, true), (99_000, true)]
        {
            assert_eq!(at(mark, millis), settled, "{millis}");
        }
        let coarse = FileFingerprint { mtime: (10, 0), ctime: (10, 0), ..mark };
        for (millis, settled) in [(10_020, false), (12_999, false), (13_000, true)] {
            assert_eq!(at(coarse, millis), settled, "{millis}");
        }
        let odd = FileFingerprint { ctime: (i64::MAX, 999_999_999), ..mark };
        assert!(!at(odd, u64::MAX));
    }
}
