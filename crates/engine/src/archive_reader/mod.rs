//! Reads archives: the format that docs/ARCHIVE.md specifies, without writing. `disk` uses it for files that only an
//! archive has, and `archive` writes the same format.

pub(crate) mod archive;
pub(crate) mod catalog;
pub(crate) mod catalog_record;
pub(crate) mod content;
pub(crate) mod damage;
pub(crate) mod frame;
pub(crate) mod manifest;

use std::path::PathBuf;

pub(crate) use self::archive::{Archive, ArchivedFile};
pub use self::catalog_record::GenerationCause;
pub use self::damage::{ArchiveDamage, DamageKind};

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
    /// Returns the folder that contains a folder per machine.
    pub(crate) fn machines_dir(&self) -> PathBuf {
        self.dir.join("machines")
    }

    /// Returns the folder of this machine.
    pub(crate) fn machine_dir(&self) -> PathBuf {
        self.machines_dir().join(&self.machine_id)
    }
}
