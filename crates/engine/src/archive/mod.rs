//! Keeps every byte of the session files, so that conversations outlive their files. docs/ARCHIVE.md specifies the format.
//!
//! ```text
//! machines/<id>/manifest                         names the catalogs of a machine, with a checksum; replaced atomically
//! machines/<id>/catalogs/<first>-<last>-<hash>   records of packs and files
//! machines/<id>/packs/<hash>.zst                 the content: zstd frames that decompress independently
//! machines/<id>/seen                             fingerprints of archived files; derived, may be deleted
//! ```
//!
//! Packs and catalogs never change: each is named by the hash of its bytes. A file is a chain of **segments**, pieces of its
//! content that are named by their hash. What a client appends becomes one more segment. A file that was rewritten or
//! became shorter starts a new **generation**; the earlier one stays readable.
//!
//! A machine writes only below its own folder, under a lock. Other machines only add files there, and readers need no lock.

mod archive_reader;
mod archive_writer;
mod catalog;
mod catalog_record;
mod content;
mod damage;
mod manifest;
mod pack;
mod seen_files;
mod source;
mod sync;
#[cfg(test)]
mod tests;
mod verify;

use std::path::PathBuf;

pub(crate) use self::archive_reader::{Archive, ArchivedFile};
pub(crate) use self::archive_writer::ArchiveWriter;
pub use self::catalog_record::GenerationCause;
pub use self::damage::{ArchiveDamage, DamageKind};
pub use self::sync::CopiedFiles;
pub(crate) use self::sync::sync_archives;
pub(crate) use self::verify::verify_archive;

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
    fn machines_dir(&self) -> PathBuf {
        self.dir.join("machines")
    }

    /// Returns the folder of this machine.
    fn machine_dir(&self) -> PathBuf {
        self.machines_dir().join(&self.machine_id)
    }
}
