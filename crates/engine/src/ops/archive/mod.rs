//! `archive`: keeps copies of all session files, so that conversations outlive their files.

mod restore;
mod status;

use std::path::{Path, PathBuf};

use rethread_core::entry::Timestamp;

pub use self::restore::{ArchiveRestoreOutcome, ArchiveRestoreRequest, restore_from_archive};
pub(crate) use self::restore::{COMMAND as RESTORE_COMMAND, find_archived_path};
pub use self::status::{ArchiveStatus, ArchivedSession, archive_status};
pub use crate::archive::{ArchiveDamage, ArchiveLocation, CopiedFiles, DamageKind, GenerationCause};
use crate::archive::{ArchiveWriter, sync_archives, verify_archive};
use crate::disk::Roots;
use crate::error::Error;

/// The result of [`update_archive`].
#[derive(Debug)]
pub struct ArchiveUpdate {
    /// The number of files below the roots.
    pub checked: u64,
    /// The number of files that were archived for the first time.
    pub created: u64,
    /// The number of files to which bytes were appended.
    pub grown: u64,
    /// The files that changed other than by an append. Their earlier content stays readable.
    pub replaced: Vec<(PathBuf, GenerationCause)>,
    /// The number of bytes of content that were added.
    pub added_bytes: u64,
    /// The number of bytes that these need in the archive.
    pub stored_bytes: u64,
    /// The files and folders that could not be read.
    pub failures: Vec<Error>,
    /// Damage of the archive.
    pub damages: Vec<ArchiveDamage>,
}

/// Archives everything that is new in the session files below the roots. Reads changed files only.
///
/// Returns an error if the archive cannot be written, or another process writes to it. Content that was added before the error
/// stays in the archive.
pub fn update_archive(
    location: &ArchiveLocation,
    roots: &Roots,
    now: Timestamp,
) -> Result<ArchiveUpdate, Error> {
    let report = ArchiveWriter::open(location, "archive", now.0)?.update(roots)?;
    Ok(ArchiveUpdate {
        checked: report.checked,
        created: report.created,
        grown: report.grown,
        replaced: report.new_generations,
        added_bytes: report.added_bytes,
        stored_bytes: report.stored_bytes,
        failures: report.failures,
        damages: report.damages,
    })
}

/// The result of [`sync`].
#[derive(Debug)]
pub struct ArchiveSync {
    /// The files that were copied to the other folder.
    pub pushed: CopiedFiles,
    /// The files that were copied from the other folder.
    pub pulled: CopiedFiles,
    /// The ids of the machines in both folders.
    pub machines: Vec<String>,
    /// Damaged files, which were not copied.
    pub damages: Vec<ArchiveDamage>,
}

/// Copies what is missing between an archive and another folder, in both directions. Deletes nothing.
///
/// Returns [`Error::FolderNotFound`] if the folder does not exist, because a disk that is not mounted is not empty.
pub fn sync(location: &ArchiveLocation, other: &Path) -> Result<ArchiveSync, Error> {
    let report = sync_archives(location, other)?;
    Ok(ArchiveSync {
        pushed: report.pushed,
        pulled: report.pulled,
        machines: report.machines,
        damages: report.damages,
    })
}

/// Verifies all files of an archive by their hashes and returns the damage. `is_deep` also decompresses all content.
pub fn verify(location: &ArchiveLocation, is_deep: bool) -> Vec<ArchiveDamage> {
    verify_archive(location, is_deep)
}
