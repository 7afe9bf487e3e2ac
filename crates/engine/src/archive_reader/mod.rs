//! Reads archives: the format that docs/ARCHIVE.md specifies, without writing. `disk` uses it for files that only an
//! archive has, and `archive` writes the same format.

pub(crate) mod archive;
pub(crate) mod catalog;
pub(crate) mod catalog_record;
pub(crate) mod content;
pub(crate) mod damage;
pub(crate) mod frame;
mod frame_cache;
pub(crate) mod manifest;
pub(crate) mod tombstones;

use std::path::{Path, PathBuf};

pub(crate) use self::archive::{Archive, ArchivedFile, ArchivedFileId};
pub use self::catalog_record::GenerationCause;
pub(crate) use self::content::ArchivedContent;
pub use self::damage::{ArchiveDamage, DamageKind};

/// The folder in an archive that contains a folder per machine.
pub(crate) const MACHINES_DIR: &str = "machines";

/// The name of the file that marks an encrypted place, which is no archive.
pub(crate) const ENCRYPTED_MARK: &str = "encrypted";

/// Returns `true` if a folder is an encrypted place.
pub(crate) fn is_encrypted_place(dir: &Path) -> bool {
    dir.join(ENCRYPTED_MARK).exists()
}

/// The folder of an archive, and the machine that uses it.
#[derive(Debug, Clone)]
pub struct ArchiveLocation {
    /// The folder. It may not exist yet.
    pub dir: PathBuf,
    /// The id of this machine: letters, digits and hyphens.
    pub machine_id: String,
    /// The name of this machine, for display.
    pub machine_name: String,
}

impl ArchiveLocation {
    /// Returns a location for reading only. It names no machine.
    pub fn for_reading(dir: PathBuf) -> ArchiveLocation {
        ArchiveLocation { dir, machine_id: String::new(), machine_name: String::new() }
    }

    /// Returns the folder that contains a folder per machine.
    pub(crate) fn machines_dir(&self) -> PathBuf {
        self.dir.join(MACHINES_DIR)
    }

    /// Lists the folders of all machines, sorted.
    pub(crate) fn list_machine_dirs(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.machines_dir()).into_iter().flatten().flatten();
        let mut dirs: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|dir| dir.is_dir()).collect();
        dirs.sort();
        dirs
    }

    /// Returns the folder of this machine.
    pub(crate) fn machine_dir(&self) -> PathBuf {
        self.machines_dir().join(&self.machine_id)
    }
}

/// Lists the manifests of all machines in the archive in a folder. They may not exist. Returns an empty list if the folder
/// cannot be read.
pub(crate) fn list_manifests(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir.join(MACHINES_DIR)).into_iter().flatten().flatten();
    let mut manifests: Vec<PathBuf> = entries.map(|entry| entry.path().join(manifest::FILE_NAME)).collect();
    manifests.sort();
    manifests
}
