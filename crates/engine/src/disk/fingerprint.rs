//! The fingerprint of a file: detects changes from its metadata, without opening it.

use std::fs::Metadata;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rethread_core::entry::Timestamp;
use rethread_core::pack_fields;

use crate::archive_reader::catalog::Generation;

/// The minimum age of a change after which the next one gets another timestamp. File system clocks tick at least every
/// 10 ms.
const TICK: Duration = Duration::from_millis(20);
/// The same for file systems with timestamps of one or two seconds.
const COARSE_TICK: Duration = Duration::from_secs(3);

/// Length, times, inode and device of a file. A file with the same stable fingerprint has not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileFingerprint {
    pub(crate) len: u64,
    /// The modification time: seconds since the Unix epoch, and nanoseconds.
    mtime: (i64, u32),
    /// The time of the last change of content or metadata. Programs cannot set it. Equal to `mtime` except on Unix.
    ctime: (i64, u32),
    /// Device and inode number, which identify the file under every path. `None` except on Unix.
    pub(super) inode: Option<(u64, u64)>,
}

pack_fields!(FileFingerprint { len, mtime, ctime, inode });

impl FileFingerprint {
    /// Computes the fingerprint from the metadata of a file.
    #[cfg(unix)]
    pub(crate) fn from_metadata(meta: &Metadata) -> FileFingerprint {
        use std::os::unix::fs::MetadataExt;
        let to_nanos = |nanos: i64| u32::try_from(nanos).unwrap_or_default();
        FileFingerprint {
            len: meta.len(),
            mtime: (meta.mtime(), to_nanos(meta.mtime_nsec())),
            ctime: (meta.ctime(), to_nanos(meta.ctime_nsec())),
            inode: Some((meta.dev(), meta.ino())),
        }
    }

    /// Computes the fingerprint from the parts of the metadata. A time is seconds and nanoseconds, an inode its device and
    /// number.
    #[cfg(target_os = "linux")]
    pub(super) fn from_parts(
        len: u64,
        mtime: (i64, u32),
        ctime: (i64, u32),
        inode: (u64, u64),
    ) -> FileFingerprint {
        FileFingerprint { len, mtime, ctime, inode: Some(inode) }
    }

    /// Computes the fingerprint from the metadata of a file, without change time and inode.
    #[cfg(not(unix))]
    pub(crate) fn from_metadata(meta: &Metadata) -> FileFingerprint {
        let since_epoch = |time: SystemTime| time.duration_since(UNIX_EPOCH).unwrap_or_default();
        let mtime = meta.modified().map(since_epoch).unwrap_or_default();
        let mtime = (i64::try_from(mtime.as_secs()).unwrap_or_default(), mtime.subsec_nanos());
        FileFingerprint { len: meta.len(), mtime, ctime: mtime, inode: None }
    }

    /// Returns the fingerprint of an archived state. It depends on the time of the archive run and on the number of the
    /// generation, not on the hashes of segments, because a later run may join segments.
    pub(crate) fn from_archived(generation: &Generation) -> FileFingerprint {
        let seconds = |millis: i64| millis.div_euclid(1000);
        let nanos = |millis: i64| u32::try_from(millis.rem_euclid(1000)).unwrap_or_default() * 1_000_000;
        FileFingerprint {
            len: generation.bytes,
            mtime: (seconds(generation.modified), nanos(generation.modified)),
            ctime: (generation.archived, generation.number),
            inode: None,
        }
    }

    /// Returns the modification time, rounded down to milliseconds.
    pub(crate) fn modified_at(&self) -> Timestamp {
        let (seconds, nanos) = self.mtime;
        Timestamp(seconds.saturating_mul(1000).saturating_add(i64::from(nanos / 1_000_000)))
    }

    /// Returns `false` if the inodes prove that `other` belongs to another file. Without inodes, returns `true`.
    pub(crate) fn may_be_same_file(&self, other: &FileFingerprint) -> bool {
        self.inode == other.inode
    }

    /// Returns `true` if the inodes prove that `other` belongs to the same file. Without inodes, returns `false`.
    pub(crate) fn is_same_inode(&self, other: &FileFingerprint) -> bool {
        self.inode.is_some() && self.inode == other.inode
    }

    /// Returns `true` if a path with these fingerprints names another file or folder than before.
    pub(crate) fn has_other_inode(&self, other: &FileFingerprint) -> bool {
        self.inode != other.inode
    }

    /// Returns `true` if any later change is guaranteed to change the fingerprint. A file that was modified within one
    /// clock tick of `now` is not stable ("racy", in git's terms). `now` must have been read before the content.
    pub(crate) fn is_stable(&self, now: SystemTime) -> bool {
        let (seconds, nanos) = self.ctime;
        let has_whole_seconds = nanos == 0 && self.mtime.1 == 0;
        let tick = if has_whole_seconds { COARSE_TICK } else { TICK };
        let since_epoch = Duration::new(u64::try_from(seconds).unwrap_or_default(), nanos);
        // A fingerprint with a time in the future is not stable.
        let age = UNIX_EPOCH.checked_add(since_epoch).and_then(|changed| now.duration_since(changed).ok());
        age.is_some_and(|age| age >= tick)
    }
}

#[cfg(test)]
mod tests {
    use super::{FileFingerprint, SystemTime, UNIX_EPOCH};
    use std::time::Duration;

    fn is_stable_at(fingerprint: FileFingerprint, millis: u64) -> bool {
        let now: SystemTime = UNIX_EPOCH + Duration::from_millis(millis);
        fingerprint.is_stable(now)
    }

    #[test]
    fn only_fingerprints_of_old_changes_are_stable() {
        let fingerprint = FileFingerprint { len: 1, mtime: (5, 1), ctime: (10, 500_000_000), inode: None };
        // Only the change time counts, not the modification time, which programs can set.
        for (millis, is_stable) in
            [(0, false), (10_500, false), (10_519, false), (10_520, true), (99_000, true)]
        {
            assert_eq!(is_stable_at(fingerprint, millis), is_stable, "{millis}");
        }
        let coarse = FileFingerprint { mtime: (10, 0), ctime: (10, 0), ..fingerprint };
        for (millis, is_stable) in [(10_020, false), (12_999, false), (13_000, true)] {
            assert_eq!(is_stable_at(coarse, millis), is_stable, "{millis}");
        }
        let in_future = FileFingerprint { ctime: (i64::MAX, 999_999_999), ..fingerprint };
        assert!(!is_stable_at(in_future, u64::MAX));
    }
}
