//! Copies archives between two folders, such as the local one and an external disk.
//!
//! Packs and catalogs never change and are named by their hash, so a copy is complete if the name exists. The manifest of a
//! machine follows its other files, so that a reader of either folder never sees a part of a run. Nothing is deleted.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::ArchiveLocation;
use super::catalog::Catalog;
use super::damage::{ArchiveDamage, DamageKind};
use super::frame::pack_path;
use super::manifest::{self, ArchiveManifest, parse_catalog_name};
use crate::Error;
use crate::archive_reader::is_encrypted_place;
use crate::disk::{FileFingerprint, open_file};
use crate::writer::{NewFile, StateLock, create_store_dir, replace_file_as};

/// The length of the pieces in which files are copied.
const BUFFER_BYTES: usize = 256 << 10;

/// The result of [`sync_archives`].
#[derive(Debug, Default)]
pub(crate) struct SyncReport {
    /// The number of files and bytes that were copied to the other folder.
    pub(crate) pushed: CopiedFiles,
    /// The number of files and bytes that were copied from the other folder.
    pub(crate) pulled: CopiedFiles,
    /// The names of the machines in both folders.
    pub(crate) machines: Vec<String>,
    /// Damaged files, which were not copied.
    pub(crate) damages: Vec<ArchiveDamage>,
}

/// A number of files and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CopiedFiles {
    /// The number of files.
    pub files: u64,
    /// Their total length.
    pub bytes: u64,
}

/// Copies what is missing in each of two folders: the part of this machine to `other`, and the parts of other machines in
/// both directions. Damaged files are reported and not copied.
///
/// Returns [`Error::Busy`] if another process writes to the archive, [`Error::NoSyncFolder`] if `other` does not exist, because a
/// disk that is not mounted must not be taken for an empty one, and [`Error::EncryptedPlace`] if `other` is encrypted.
pub(crate) fn sync_archives(location: &ArchiveLocation, other: &Path) -> Result<SyncReport, Error> {
    let folder = SyncFolder::open(other, &location.machine_id)?;
    if is_encrypted_place(other) {
        return Err(Error::EncryptedPlace { path: other.to_owned() });
    }
    let synced = sync_with(location, &folder);
    // Without the folder, its files appear to be missing.
    folder.ensure_present()?;
    synced
}

fn sync_with(location: &ArchiveLocation, folder: &SyncFolder<'_>) -> Result<SyncReport, Error> {
    let own_dir = location.machine_dir();
    create_store_dir(&own_dir).map_err(Error::writing(&own_dir))?;
    let _lock = StateLock::acquire(&own_dir, "archive sync")?;
    let mut report = SyncReport::default();
    let other_dir = folder.path.join("machines");
    for id in list_machines(&[&location.machines_dir(), &other_dir]) {
        let (local, remote) = (location.machines_dir().join(&id), other_dir.join(&id));
        let is_own = id == location.machine_id;
        // If the local part of this machine is lost, it is copied back.
        if !is_own || !local.join(manifest::FILE_NAME).exists() {
            let copied = folder.copy_machine(&remote, &local, &mut report.damages)?;
            report.pulled.add(copied);
        }
        let manifests = ArchiveManifest::read(&local).ok().zip(ArchiveManifest::read(&remote).ok());
        if is_own && manifests.is_some_and(|(local, remote)| has_diverged(&local, &remote)) {
            return Err(Error::DivergedArchive { path: remote });
        }
        let copied = folder.copy_machine(&local, &remote, &mut report.damages)?;
        report.pushed.add(copied);
        report.machines.push(id);
    }
    Ok(report)
}

impl CopiedFiles {
    pub(super) fn add(&mut self, other: CopiedFiles) {
        self.files += other.files;
        self.bytes += other.bytes;
    }
}

/// Lists the machines in the folders, each once, sorted.
pub(super) fn list_machines(folders: &[&Path]) -> Vec<String> {
    let entries = folders.iter().flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten().flatten());
    let mut ids: Vec<String> = entries
        .filter(|entry| entry.path().join(manifest::FILE_NAME).exists())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    ids.sort();
    ids.dedup();
    ids
}

/// Returns `true` if the manifest of a machine at the second place names a catalog that is neither in the local manifest nor
/// merged into one of it: the local archive was lost and started anew.
pub(super) fn has_diverged(local: &ArchiveManifest, remote: &ArchiveManifest) -> bool {
    let ranges = local.catalogs.iter().filter_map(|name| Some(parse_catalog_name(name)?.0));
    let merged: Vec<(u64, u64)> = ranges.filter(|(first, last)| first < last).collect();
    let is_known = |name: &String| {
        let range = parse_catalog_name(name).map(|(range, _)| range);
        let is_merged = |range: (u64, u64)| merged.iter().any(|by| by.0 <= range.0 && range.1 <= by.1);
        local.catalogs.contains(name) || local.replaced.contains(name) || range.is_some_and(is_merged)
    };
    if remote.replaced.is_empty() {
        return !remote.catalogs.iter().all(is_known);
    }
    // A prune of the second place replaces its catalogs, so only the earlier ones can be known here.
    !remote.catalogs.iter().chain(&remote.replaced).any(is_known)
}

/// The folder to synchronise with.
pub(super) struct SyncFolder<'a> {
    path: &'a Path,
    /// The state of the folder when the synchronisation started.
    fingerprint: FileFingerprint,
    /// The id of this machine. Other machines may write to the folder at the same time.
    machine_id: &'a str,
}

impl<'a> SyncFolder<'a> {
    pub(super) fn open(path: &'a Path, machine_id: &'a str) -> Result<SyncFolder<'a>, Error> {
        let missing = || Error::NoSyncFolder { path: path.to_owned(), was_present: false };
        let meta = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_dir).ok_or_else(missing)?;
        Ok(SyncFolder { path, fingerprint: FileFingerprint::from_metadata(&meta), machine_id })
    }

    /// Returns an error if the folder is gone, or if it is another one because its disk was removed.
    pub(super) fn ensure_present(&self) -> Result<(), Error> {
        let current = std::fs::metadata(self.path).map(|meta| FileFingerprint::from_metadata(&meta));
        match current {
            Ok(current) if !current.has_other_inode(&self.fingerprint) => Ok(()),
            _ => Err(Error::NoSyncFolder { path: self.path.to_owned(), was_present: true }),
        }
    }

    /// Copies the files of a machine that are missing in `to`, then its manifest if it is newer. Copies nothing if the manifest of
    /// `from` is missing, older or damaged.
    fn copy_machine(
        &self,
        from: &Path,
        to: &Path,
        damages: &mut Vec<ArchiveDamage>,
    ) -> Result<CopiedFiles, Error> {
        let mut copied = CopiedFiles::default();
        if !from.join(manifest::FILE_NAME).exists() {
            return Ok(copied);
        }
        let manifest = match ArchiveManifest::read(from) {
            Ok(manifest) => manifest,
            Err(damage) => {
                damages.push(damage);
                return Ok(copied);
            }
        };
        if ArchiveManifest::read(to).is_ok_and(|existing| !manifest.is_newer_than(&existing)) {
            return Ok(copied);
        }
        let count_before = damages.len();
        let catalog = Catalog::read(from, &manifest, damages);
        let catalogs = manifest.catalogs.iter().filter_map(|name| {
            let (_, hash) = parse_catalog_name(name)?;
            Some((PathBuf::from("catalogs").join(name), hash))
        });
        let packs = catalog.packs.iter().filter_map(|pack| {
            let hash = blake3::Hash::from_hex(&pack.pack).ok()?;
            Some((pack_path(Path::new(""), &pack.pack), hash))
        });
        // Packs precede the catalogs that name them.
        for (relative, hash) in packs.chain(catalogs) {
            let target = to.join(&relative);
            if target.exists() {
                continue;
            }
            match self.copy_verified(&from.join(&relative), &target, &hash)? {
                Ok(bytes) => copied.add(CopiedFiles { files: 1, bytes }),
                Err(kind) => damages.push(ArchiveDamage { path: from.join(&relative), kind }),
            }
        }
        // A manifest must not name a file that was not copied.
        if damages.len() == count_before {
            self.ensure_present()?;
            let path = to.join(manifest::FILE_NAME);
            replace_file_as(&path, &manifest.to_bytes(), self.machine_id).map_err(Error::writing(&path))?;
        }
        Ok(copied)
    }

    /// Copies a file durably if it has the hash. Returns its length, or the damage.
    fn copy_verified(
        &self,
        from: &Path,
        to: &Path,
        hash: &blake3::Hash,
    ) -> Result<Result<u64, DamageKind>, Error> {
        let mut source = match open_file(from) {
            Ok(source) => source,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Err(DamageKind::Missing));
            }
            Err(error) => return Ok(Err(DamageKind::Unreadable(crate::describe_io_error(&error)))),
        };
        // A folder that disappeared must not be created on another file system.
        self.ensure_present()?;
        let folder = to.parent().unwrap_or(Path::new("."));
        let mut file = NewFile::create_as(folder, self.machine_id).map_err(Error::writing(to))?;
        let mut hasher = blake3::Hasher::new();
        let mut buffer = vec![0; BUFFER_BYTES];
        let mut total = 0;
        loop {
            let len = source.read(&mut buffer).map_err(Error::reading(from))?;
            if len == 0 {
                break;
            }
            hasher.update(&buffer[..len]);
            file.write_all(&buffer[..len]).map_err(Error::writing(to))?;
            total += len as u64;
        }
        if hasher.finalize() != *hash {
            return Ok(Err(DamageKind::WrongHash));
        }
        let name = to.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        file.publish(name).map_err(Error::writing(to))?;
        Ok(Ok(total))
    }
}
