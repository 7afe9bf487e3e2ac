//! `archive`: keeps copies of all session files, so that conversations outlive their files.

mod coverage;
mod forget;
mod removal;
mod restore;
mod schedule;
mod status;

use std::path::{Path, PathBuf};

use rethread_core::entry::Timestamp;

pub(in crate::ops) use self::coverage::{ArchiveCoverage, FileCoverage};
pub use self::forget::{
    ForgetCandidate, ForgetPlan, ForgetRequest, ForgottenSession, forget, list_forgotten, plan_forget,
    remember,
};
pub use self::removal::DeletionCause;
pub use self::restore::{ArchiveRestoreOutcome, ArchiveRestoreRequest, restore_from_archive};
pub(crate) use self::restore::{COMMAND as RESTORE_COMMAND, find_archived_path};
pub use self::schedule::write_schedule;
pub use self::status::{
    ArchiveStatus, ArchiveStatusRequest, ArchivedSession, DueDeletion, RetentionPeriod, archive_status,
};
pub use crate::archive::{
    ArchiveDamage, ArchiveLocation, CopiedFiles, DamageKind, GenerationCause, PlaceKeys,
};
use crate::archive::{
    ArchiveWriter, ExclusionSet, SyncReport, prune_archive, sync_archives, sync_encrypted, verify_archive,
};
use crate::archive_reader::{MACHINES_DIR, is_encrypted_place};
use crate::disk::Roots;
use crate::error::Error;

/// The result of [`update_archive`].
#[derive(Debug)]
pub struct ArchiveUpdate {
    /// The number of files below the roots.
    pub checked: u64,
    /// The number of files of forgotten sessions, which were skipped.
    pub forgotten: u64,
    /// The number of files of excluded projects, which were skipped.
    pub excluded: u64,
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

/// Archives everything that is new in the session files below the roots, except sessions that were started in or below an
/// excluded folder. Reads changed files only.
///
/// Returns an error if the archive cannot be written, or another process writes to it. Content that was added before the error
/// stays in the archive.
pub fn update_archive(
    location: &ArchiveLocation,
    roots: &Roots,
    excluded: &[PathBuf],
    now: Timestamp,
) -> Result<ArchiveUpdate, Error> {
    let exclusions = ExclusionSet::new(excluded);
    let report = ArchiveWriter::open(location, "archive", now.0)?.update(roots, &exclusions)?;
    Ok(ArchiveUpdate {
        checked: report.checked,
        forgotten: report.forgotten,
        excluded: report.excluded,
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
    let SyncReport { pushed, pulled, machines, damages } = sync_archives(location, other)?;
    Ok(ArchiveSync { pushed, pulled, machines, damages })
}

/// Copies what is missing between an archive and an encrypted folder: what this machine archived there if `keys` has public
/// keys, and what other machines archived here if it has an identity.
///
/// Returns [`Error::BuiltWithoutEncryption`] without the feature `encrypt`.
pub fn sync_with_encrypted(
    location: &ArchiveLocation,
    other: &Path,
    keys: &PlaceKeys,
) -> Result<ArchiveSync, Error> {
    let SyncReport { pushed, pulled, machines, damages } = sync_encrypted(location, other, keys)?;
    Ok(ArchiveSync { pushed, pulled, machines, damages })
}

/// The kind of a folder to synchronise with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceKind {
    /// An archive.
    Plain,
    /// An encrypted archive.
    Encrypted,
}

/// Returns the kind of archive in a folder. Returns `None` if the folder is missing or has none.
pub fn find_place_kind(dir: &Path) -> Option<PlaceKind> {
    if is_encrypted_place(dir) {
        return Some(PlaceKind::Encrypted);
    }
    dir.join(MACHINES_DIR).is_dir().then_some(PlaceKind::Plain)
}

/// Returns an error unless all texts are public keys.
///
/// Returns [`Error::BuiltWithoutEncryption`] without the feature `encrypt`.
pub fn check_public_keys(texts: &[String]) -> Result<(), Error> {
    crate::archive::check_public_keys(texts)
}

/// Verifies all files of an archive by their hashes and returns the damage. `is_deep` also decompresses all content.
pub fn verify(location: &ArchiveLocation, is_deep: bool) -> Vec<ArchiveDamage> {
    verify_archive(location, is_deep)
}

/// The result of [`prune`].
#[derive(Debug)]
pub struct ArchivePrune {
    /// The number of forgotten sessions whose content was deleted, or would be.
    pub sessions: u64,
    /// The number of their files.
    pub files: u64,
    /// The size of the archive before.
    pub bytes_before: u64,
    /// The size of the archive after. In a dry run, the same as before.
    pub bytes_after: u64,
    /// Damage, because of which nothing was deleted from the part of a machine.
    pub damages: Vec<ArchiveDamage>,
}

/// Deletes the content of forgotten sessions, and other content that no file needs. This cannot be undone.
///
/// Returns an error if the archive cannot be written, or another process writes to it.
pub fn prune(location: &ArchiveLocation, is_dry_run: bool, now: Timestamp) -> Result<ArchivePrune, Error> {
    let report = prune_archive(location, is_dry_run, now.0)?;
    Ok(ArchivePrune {
        sessions: report.sessions,
        files: report.files,
        bytes_before: report.bytes.0,
        bytes_after: report.bytes.1,
        damages: report.damages,
    })
}
