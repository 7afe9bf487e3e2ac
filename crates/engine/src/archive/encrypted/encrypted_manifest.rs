//! The manifest of a part: a line with the machine and the key of its names, and the manifest of the machine. Encrypted.

use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::age_file::{DecryptFailure, Identities};
use super::manifest_path;
use super::name_key::NameKey;
use super::part_index::PartIndex;
use crate::Error;
use crate::archive::damage::{ArchiveDamage, DamageKind};
use crate::archive::manifest::ArchiveManifest;
use crate::disk::open_file;

/// The version of the format.
const FORMAT: u32 = 1;
/// The maximum length of a manifest. A longer one is damaged or hostile.
const MAX_BYTES: u64 = 16 << 20;

/// The first line.
#[derive(Serialize, Deserialize)]
struct ManifestHead {
    format: u32,
    machine: String,
    key: String,
}

/// A decrypted manifest.
pub(super) struct PartManifest {
    pub(super) key: NameKey,
    pub(super) manifest: ArchiveManifest,
}

impl PartManifest {
    /// Formats the content of the file before it is encrypted.
    pub(super) fn format(machine: &str, key: &NameKey, manifest: &ArchiveManifest) -> Vec<u8> {
        let head = ManifestHead { format: FORMAT, machine: machine.to_owned(), key: key.to_hex() };
        let mut bytes = serde_json::to_vec(&head).expect("plain values are valid JSON");
        bytes.push(b'\n');
        bytes.extend(manifest.to_bytes());
        bytes
    }

    /// Parses the content of the file. Returns `None` if it is not the manifest of the machine.
    fn parse(machine: &str, bytes: &[u8]) -> Option<PartManifest> {
        let (head, manifest) = bytes.split_at(memchr::memchr(b'\n', bytes)? + 1);
        let head: ManifestHead = serde_json::from_slice(head).ok()?;
        if head.format != FORMAT || head.machine != machine {
            return None;
        }
        Some(PartManifest {
            key: NameKey::from_hex(&head.key)?,
            manifest: ArchiveManifest::from_bytes(manifest)?,
        })
    }

    /// Decrypts the manifest of a part. Returns `Ok(Err(_))` if it is damaged, and [`Error::WrongIdentity`] if it is encrypted for
    /// other keys.
    pub(super) fn read(
        machine: &str,
        part_dir: &Path,
        identities: &Identities,
    ) -> Result<Result<PartManifest, ArchiveDamage>, Error> {
        let path = manifest_path(part_dir);
        let damaged = |kind| Ok(Err(ArchiveDamage { path: path.clone(), kind }));
        let file = match open_file(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return damaged(DamageKind::Missing);
            }
            Err(error) => return damaged(DamageKind::Unreadable(crate::describe_io_error(&error))),
        };
        let mut bytes = Vec::new();
        let read = identities.open(file).and_then(|reader| {
            reader.take(MAX_BYTES).read_to_end(&mut bytes).map_err(|_| DecryptFailure::Damaged)
        });
        match read {
            Ok(_) => match PartManifest::parse(machine, &bytes) {
                Some(manifest) => Ok(Ok(manifest)),
                None => damaged(DamageKind::InvalidFormat),
            },
            // A damaged header looks like one for another key.
            Err(DecryptFailure::NoMatchingKey) if is_intact(part_dir, &path) => {
                Err(Error::WrongIdentity { path })
            }
            Err(DecryptFailure::NoMatchingKey | DecryptFailure::Damaged) => {
                damaged(DamageKind::NotDecryptable)
            }
            Err(DecryptFailure::Io(error)) => {
                damaged(DamageKind::Unreadable(crate::describe_io_error(&error)))
            }
        }
    }
}

/// Returns `true` if the encrypted manifest is the one that the index describes, or the index is missing.
fn is_intact(part_dir: &Path, path: &Path) -> bool {
    let mut bytes = Vec::new();
    let read = open_file(path).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes));
    let Ok(Some(index)) = PartIndex::read(part_dir) else { return true };
    read.is_ok() && blake3::hash(&bytes).to_hex().as_str() == index.head.manifest.hash
}
