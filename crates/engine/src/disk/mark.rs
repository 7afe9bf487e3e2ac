//! What the system says of a file without opening it: whether it may be taken for unchanged.

use std::fs::Metadata;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rethread_core::entry::Moment;
use rethread_core::pack_fields;

const TICK: Duration = Duration::from_millis(20);
const COARSE_TICK: Duration = Duration::from_secs(3);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) len: u64,
    mtime: (i64, u32),
    ctime: (i64, u32),
    pub(super) real: Option<(u64, u64)>,
}

pack_fields!(Mark { len, mtime, ctime, real });

impl Mark {
    #[cfg(unix)]
    pub(crate) fn of(meta: &Metadata) -> Mark {
        use std::os::unix::fs::MetadataExt;
        let nanos = |nanos: i64| u32::try_from(nanos).unwrap_or_default();
        Mark {
            len: meta.len(),
            mtime: (meta.mtime(), nanos(meta.mtime_nsec())),
            ctime: (meta.ctime(), nanos(meta.ctime_nsec())),
            real: Some((meta.dev(), meta.ino())),
        }
    }

    pub(crate) fn is_settled(&self, now: SystemTime) -> bool {
        let (seconds, nanos) = self.ctime;
        let whole = nanos == 0 && self.mtime.1 == 0;
        let tick = if whole { COARSE_TICK } else { TICK };
        let since = Duration::new(u64::try_from(seconds).unwrap_or_default(), nanos);
        let age = UNIX_EPOCH.checked_add(since).and_then(|changed| now.duration_since(changed).ok());
        age.is_some_and(|age| age >= tick)
    }

    /// Returns when it was written.
    pub(crate) fn moment(&self) -> Moment {
        let (seconds, nanos) = self.mtime;
        Moment(seconds.saturating_mul(1000).saturating_add(i64::from(nanos / 1_000_000)))
    }

    /// Whether another mark is of the same file, as far as the system tells.
    pub(crate) fn is_same_file(&self, other: &Mark) -> bool {
        self.real == other.real
    }
}
