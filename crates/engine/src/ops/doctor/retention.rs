//! How long the client keeps sessions: it deletes files by their date of change.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rethread_core::entry::members;

use crate::disk::{Roots, read_side};

/// What the settings of a `.claude` folder say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Retention {
    /// Nothing: the client's own default.
    Unset,
    /// So many days.
    Days(u64),
    /// Something that is no number of days, or settings that cannot be read.
    Unreadable,
}

/// Days that a client keeps sessions without being told.
pub(super) const DEFAULT: u64 = 30;
/// Days of warning.
pub(super) const SOON: u64 = 7;

const DAY: u64 = 86_400;

impl Retention {
    /// Reads the settings below a `.claude` folder; what is set for this machine alone counts first.
    pub(super) fn read(home: &Path) -> Retention {
        let files = ["settings.local.json", "settings.json"].map(|name| home.join(name));
        let said = files.iter().filter(|file| file.exists()).map(|file| said_in(file));
        said.into_iter().find(|said| *said != Retention::Unset).unwrap_or(Retention::Unset)
    }

    /// Returns how many days sessions are kept, where that is known.
    pub(super) fn days(self) -> Option<u64> {
        match self {
            Retention::Unset => Some(DEFAULT),
            Retention::Days(days) => Some(days),
            Retention::Unreadable => None,
        }
    }
}

fn said_in(file: &Path) -> Retention {
    let Some(bytes) = read_side(file) else {
        return Retention::Unreadable;
    };
    let trimmed = bytes.trim_ascii();
    if !trimmed.starts_with(b"{") || !trimmed.ends_with(b"}") {
        return Retention::Unreadable;
    }
    let value = members(trimmed).filter(|(key, _)| key.is("cleanupPeriodDays")).last();
    let Some((_, value)) = value else {
        return Retention::Unset;
    };
    let days = std::str::from_utf8(value).ok().and_then(|text| text.parse::<f64>().ok());
    match days {
        Some(days) if days >= 0.0 => Retention::Days(days as u64),
        _ => Retention::Unreadable,
    }
}

/// Returns how many whole days are left until a file is deleted; 0 where it is due.
pub(super) fn days_left(changed: SystemTime, days: u64, now: SystemTime) -> Option<u64> {
    let due = changed.checked_add(Duration::from_secs(days.checked_mul(DAY)?))?;
    Some(due.duration_since(now).map_or(0, |left| left.as_secs() / DAY))
}

/// Returns the `.claude` folders among the roots: those that hold, or are, a `projects` folder.
pub(super) fn homes(roots: &Roots) -> Vec<PathBuf> {
    let home = |root: &PathBuf| {
        if root.join("projects").is_dir() {
            return Some(root.clone());
        }
        let is_projects = root.file_name().is_some_and(|name| name == "projects");
        root.parent().filter(|_| is_projects).map(Path::to_owned)
    };
    roots.paths.iter().filter_map(home).collect()
}
