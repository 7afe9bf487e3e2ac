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

const SECONDS_PER_DAY: u64 = 86_400;

impl Retention {
    /// Reads the settings of a `.claude` folder. `settings.local.json` has precedence.
    pub(super) fn read(client_dir: &Path) -> Retention {
        let files = ["settings.local.json", "settings.json"].map(|name| client_dir.join(name));
        let settings = files.iter().filter(|file| file.exists()).map(|file| read_setting(file));
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

/// Reads `cleanupPeriodDays` from a settings file, rounded down to whole days.
fn read_setting(file: &Path) -> Retention {
    let Some(bytes) = read_small_file(file) else {
        return Retention::Unreadable;
    };
    let trimmed = bytes.trim_ascii();
    if !trimmed.starts_with(b"{") || !trimmed.ends_with(b"}") {
        return Retention::Unreadable;
    }
    let value = members(trimmed).filter(|(key, _)| key.equals("cleanupPeriodDays")).last();
    let Some((_, value)) = value else {
        return Retention::Unset;
    };
    let days = std::str::from_utf8(value).ok().and_then(|text| text.parse::<f64>().ok());
    match days {
        Some(days) if days >= 0.0 => Retention::Days(days as u64),
        _ => Retention::Unreadable,
    }
}

/// Returns the number of whole days until the client deletes a file, or 0 if it is due. `retention_days` is the
/// retention setting. Returns `None` on overflow.
pub(super) fn days_until_deletion(modified: SystemTime, retention_days: u64, now: SystemTime) -> Option<u64> {
    let due_time = modified.checked_add(Duration::from_secs(retention_days.checked_mul(SECONDS_PER_DAY)?))?;
    Some(due_time.duration_since(now).map_or(0, |remaining| remaining.as_secs() / SECONDS_PER_DAY))
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
