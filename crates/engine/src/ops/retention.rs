//! The retention time of sessions. The client deletes session files by modification time.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rethread_core::entry::members;

use crate::disk::{Roots, read_small_file};

/// The retention setting of a `.claude` folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Retention {
    /// Not set: the client uses its default.
    Unset,
    /// A number of days.
    Days(u64),
    /// Not a number of days, or the settings cannot be read.
    Unreadable,
}

/// The number of days that a client keeps sessions by default.
pub(super) const DEFAULT_DAYS: u64 = 30;
/// The number of days before the deletion of a session at which a warning starts.
pub(super) const WARNING_DAYS: u64 = 7;
/// The number of days before the deletion of a session that is not archived at which it is an error.
pub(super) const ERROR_DAYS: u64 = 3;

const SECONDS_PER_DAY: u64 = 86_400;

impl Retention {
    /// Reads `cleanupPeriodDays` in the settings of a `.claude` folder. The managed settings of the machine have precedence,
    /// then `settings.local.json`.
    pub(super) fn read(client_dir: &Path, managed: Option<&Path>) -> Retention {
        Retention::read_key("cleanupPeriodDays", client_dir, managed)
    }

    /// Reads the same for sessions of the desktop application. If it is not set or 0, they are kept.
    pub(super) fn read_desktop(client_dir: &Path, managed: Option<&Path>) -> Retention {
        Retention::read_key("desktopSessionCleanupPeriodDays", client_dir, managed)
    }

    fn read_key(key: &str, client_dir: &Path, managed: Option<&Path>) -> Retention {
        let files = ["settings.local.json", "settings.json"].map(|name| client_dir.join(name));
        let files = managed.map(Path::to_owned).into_iter().chain(files);
        let settings = files.filter(|file| file.exists()).map(|file| read_setting(&file, key));
        settings.into_iter().find(|setting| *setting != Retention::Unset).unwrap_or(Retention::Unset)
    }

    /// Returns the number of days that sessions are kept. Returns `None` if the setting is unreadable.
    pub(super) fn days(self) -> Option<u64> {
        match self {
            Retention::Unset => Some(DEFAULT_DAYS),
            Retention::Days(days) => Some(days),
            Retention::Unreadable => None,
        }
    }
}

/// Reads a number of days from a settings file, rounded down to whole days.
fn read_setting(file: &Path, key: &str) -> Retention {
    let Some(bytes) = read_small_file(file) else {
        return Retention::Unreadable;
    };
    let trimmed = bytes.trim_ascii();
    if !trimmed.starts_with(b"{") || !trimmed.ends_with(b"}") {
        return Retention::Unreadable;
    }
    let value = members(trimmed).filter(|(name, _)| name.equals(key)).last();
    let Some((_, value)) = value else {
        return Retention::Unset;
    };
    let days = std::str::from_utf8(value).ok().and_then(|text| text.parse::<f64>().ok());
    match days {
        Some(days) if days >= 0.0 => Retention::Days(days as u64),
        _ => Retention::Unreadable,
    }
}

/// Returns the time at which the client may delete a file. `retention_days` is the retention setting. Returns `None` on
/// overflow.
pub(super) fn deletion_time(modified: SystemTime, retention_days: u64) -> Option<SystemTime> {
    modified.checked_add(Duration::from_secs(retention_days.checked_mul(SECONDS_PER_DAY)?))
}

/// Returns a number of days as a duration.
pub(super) const fn to_duration(days: u64) -> Duration {
    Duration::from_secs(days * SECONDS_PER_DAY)
}

/// Returns the `.claude` folders of the roots: a root that contains `projects`, or the parent of a root of that name.
pub(super) fn find_client_dirs(roots: &Roots) -> Vec<PathBuf> {
    let find_dir = |root: &PathBuf| {
        if root.join("projects").is_dir() {
            return Some(root.clone());
        }
        let is_projects = root.file_name().is_some_and(|name| name == "projects");
        root.parent().filter(|_| is_projects).map(Path::to_owned)
    };
    roots.paths.iter().filter_map(find_dir).collect()
}
