//! A second place whose files are encrypted. docs/ARCHIVE.md specifies it.
//!
//! ```text
//! encrypted                        marks the folder
//! parts/<id>/objects/<name>        a pack or a catalog, encrypted; the name is a keyed hash of the path in an archive
//! parts/<id>/manifest              the manifest of the machine with the key of the names, encrypted; replaced atomically
//! parts/<id>/index                 lengths and hashes of the encrypted files; replaced atomically
//! ```
//!
//! A machine that has only public keys cannot read what is there. It knows what it wrote: the names of its objects follow from
//! a key in the local archive, and the index lists the objects. A tag in the index, which the local archive knows too,
//! proves that no other machine wrote the part.

mod age_file;
mod encrypted_manifest;
mod name_key;
mod part_index;
mod pull;
mod push;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use self::age_file::{Identities, Recipients};
use super::sync::{SyncFolder, SyncReport, list_machines};
use super::{ArchiveLocation, manifest};
use crate::Error;
use crate::archive_reader::{ENCRYPTED_MARK, MACHINES_DIR};
use crate::writer::{StateLock, create_store_dir, replace_file_as};

/// The folder in an encrypted place that contains a folder per machine.
const PARTS_DIR: &str = "parts";
/// The folder of a part that contains packs and catalogs.
const OBJECTS_DIR: &str = "objects";

/// The content of the file that marks an encrypted place.
const MARK: &str = "This folder is an encrypted archive of Claude Code conversations, written by rethread (format 1).\n\
    `rethread archive sync DIR --identity FILE` reads it. Do not change or rename its files.\n";

/// The keys to synchronise an archive with an encrypted place.
#[derive(Debug, Clone, Default)]
pub struct PlaceKeys {
    /// Public keys for which the place is encrypted: `age1…`. Nothing is copied there if there are none.
    pub recipients: Vec<String>,
    /// A file with a secret key. Nothing is copied from there without it.
    pub identity: Option<PathBuf>,
    /// Whether objects of this machine that it does not need any more are deleted there.
    pub prune: bool,
}

/// Returns an error unless all texts are public keys.
pub(crate) fn check_public_keys(texts: &[String]) -> Result<(), Error> {
    Recipients::parse(texts).map(|_| ())
}

/// Copies what is missing between an archive and an encrypted place: with an identity, the parts of other machines from there;
/// with recipients, the part of this machine there.
///
/// Returns the errors of [`super::sync_archives`], [`Error::PlainPlace`] if the place has an archive that is not encrypted, and
/// the errors of keys.
pub(crate) fn sync_encrypted(
    location: &ArchiveLocation,
    place: &Path,
    keys: &PlaceKeys,
) -> Result<SyncReport, Error> {
    let recipients = match keys.recipients.as_slice() {
        [] => None,
        texts => Some(Recipients::parse(texts)?),
    };
    let identities = keys.identity.as_deref().map(Identities::read).transpose()?;
    let folder = SyncFolder::open(place, &location.machine_id)?;
    if place.join(MACHINES_DIR).exists() {
        return Err(Error::PlainPlace { path: place.to_owned() });
    }
    let own_dir = location.machine_dir();
    create_store_dir(&own_dir).map_err(Error::writing(&own_dir))?;
    let _lock = StateLock::acquire(&own_dir, "archive sync")?;
    let sync = EncryptedSync { location, folder: &folder, place, identities };
    let synced = sync.run(recipients.as_ref(), keys.prune);
    // Without the folder, its files appear to be missing.
    folder.ensure_present()?;
    synced
}

/// A synchronisation with an encrypted place.
struct EncryptedSync<'a> {
    location: &'a ArchiveLocation,
    folder: &'a SyncFolder<'a>,
    place: &'a Path,
    identities: Option<Identities>,
}

impl EncryptedSync<'_> {
    fn run(&self, recipients: Option<&Recipients>, prune: bool) -> Result<SyncReport, Error> {
        let mut report = SyncReport::default();
        let parts_dir = self.place.join(PARTS_DIR);
        if let Some(identities) = &self.identities {
            for id in list_machines(&[&parts_dir]) {
                self.pull_part(&id, identities, &mut report)?;
            }
        }
        let local_ids = list_machines(&[&self.location.machines_dir()]);
        if let Some(recipients) = recipients {
            self.folder.ensure_present()?;
            let mark = self.place.join(ENCRYPTED_MARK);
            if !mark.exists() {
                replace_file_as(&mark, MARK.as_bytes(), &self.location.machine_id)
                    .map_err(Error::writing(&mark))?;
            }
            for id in &local_ids {
                self.push_part(id, recipients, prune, &mut report)?;
            }
        }
        report.machines = list_machines(&[&self.location.machines_dir(), &parts_dir]);
        Ok(report)
    }

    /// Returns the folder of a machine in the place.
    fn part_dir(&self, id: &str) -> PathBuf {
        self.place.join(PARTS_DIR).join(id)
    }

    /// Returns the folder of a machine in the local archive.
    fn local_dir(&self, id: &str) -> PathBuf {
        self.location.machines_dir().join(id)
    }

    fn is_own(&self, id: &str) -> bool {
        id == self.location.machine_id
    }
}

/// Returns the path of the encrypted manifest in the folder of a part.
fn manifest_path(part_dir: &Path) -> PathBuf {
    part_dir.join(manifest::FILE_NAME)
}
