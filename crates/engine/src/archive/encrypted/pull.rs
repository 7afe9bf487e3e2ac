//! Copies the part of a machine from an encrypted place into the local archive.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::age_file::{DecryptFailure, Identities};
use super::encrypted_manifest::PartManifest;
use super::name_key::NameKey;
use super::part_index::PartIndex;
use super::{EncryptedSync, OBJECTS_DIR};
use crate::Error;
use crate::archive::catalog::Catalog;
use crate::archive::damage::{ArchiveDamage, DamageKind};
use crate::archive::frame::pack_path;
use crate::archive::manifest::{self, ArchiveManifest, parse_catalog_name};
use crate::archive::sync::{CopiedFiles, SyncReport};
use crate::disk::open_file;
use crate::writer::{NewFile, create_store_dir, replace_file_as};

/// The length of the pieces in which files are copied.
const BUFFER_BYTES: usize = 256 << 10;
/// The maximum length of an encrypted catalog. A longer one is damaged or hostile.
const MAX_CATALOG_BYTES: u64 = 1 << 30;

impl EncryptedSync<'_> {
    /// Copies what is missing of the part of a machine into the local archive, then its manifest if it is newer. The part
    /// of this machine is copied only if the local one is lost.
    pub(super) fn pull_part(
        &self,
        id: &str,
        identities: &Identities,
        report: &mut SyncReport,
    ) -> Result<(), Error> {
        let (part_dir, local) = (self.part_dir(id), self.local_dir(id));
        let has_manifest = local.join(manifest::FILE_NAME).exists();
        if self.is_own(id) && has_manifest {
            return Ok(());
        }
        let PartManifest { key, manifest } = match PartManifest::read(id, &part_dir, identities)? {
            Ok(part) => part,
            Err(damage) => {
                report.damages.push(damage);
                return Ok(());
            }
        };
        if ArchiveManifest::read(&local).is_ok_and(|known| has_manifest && !manifest.is_newer_than(&known)) {
            return Ok(());
        }
        let pull = PartPull { sync: self, part_dir: &part_dir, local: &local, key: &key, identities };
        let count_before = report.damages.len();
        pull.copy_content(&manifest, report)?;
        if report.damages.len() > count_before {
            return Ok(());
        }
        if self.is_own(id) {
            self.restore_key(&part_dir, &key, &local)?;
        }
        let path = local.join(manifest::FILE_NAME);
        replace_file_as(&path, &manifest.to_bytes(), &self.location.machine_id).map_err(Error::writing(&path))
    }

    /// Writes the key of the part of this machine into the local archive, so that later pushes continue the part.
    fn restore_key(&self, part_dir: &Path, key: &NameKey, local: &Path) -> Result<(), Error> {
        let mut key = key.clone();
        if let Ok(Some(index)) = PartIndex::read(part_dir) {
            key.add_tag(&index.head.tag);
        }
        key.write(local).map_err(Error::writing(local))
    }
}

/// The copying of one part.
struct PartPull<'a> {
    sync: &'a EncryptedSync<'a>,
    part_dir: &'a Path,
    local: &'a Path,
    key: &'a NameKey,
    identities: &'a Identities,
}

impl PartPull<'_> {
    /// Copies the packs and catalogs of a manifest that are missing here. Packs precede the catalogs that name them: no catalog
    /// is written if a pack is damaged.
    fn copy_content(&self, manifest: &ArchiveManifest, report: &mut SyncReport) -> Result<(), Error> {
        let count_before = report.damages.len();
        create_store_dir(self.local).map_err(Error::writing(self.local))?;
        let mut catalog = Catalog::default();
        let mut new_catalogs = Vec::new();
        for name in &manifest.catalogs {
            let target = self.local.join("catalogs").join(name);
            let is_new = !target.exists();
            let bytes = if is_new { self.read_catalog(name) } else { read_whole(&target) };
            let added = bytes.and_then(|bytes| catalog.add_bytes(&bytes, name).map(|()| bytes));
            match added {
                Ok(bytes) if is_new => new_catalogs.push((name, bytes)),
                Ok(_) => {}
                Err(kind) => {
                    let path = if is_new { self.object_path(&format!("catalogs/{name}")) } else { target };
                    report.damages.push(ArchiveDamage { path, kind });
                }
            }
        }
        for pack in &catalog.packs {
            let target = pack_path(self.local, &pack.pack);
            let Ok(hash) = blake3::Hash::from_hex(&pack.pack) else { continue };
            if target.exists() {
                continue;
            }
            let object = self.object_path(&format!("packs/{}.zst", pack.pack));
            match self.copy_pack(&object, &target, &hash)? {
                Ok(bytes) => report.pulled.add(CopiedFiles { files: 1, bytes }),
                Err(kind) => report.damages.push(ArchiveDamage { path: object, kind }),
            }
        }
        if report.damages.len() > count_before {
            return Ok(());
        }
        for (name, bytes) in new_catalogs {
            let path = self.local.join("catalogs").join(name);
            report.pulled.add(CopiedFiles { files: 1, bytes: bytes.len() as u64 });
            replace_file_as(&path, &bytes, &self.sync.location.machine_id).map_err(Error::writing(&path))?;
        }
        Ok(())
    }

    fn object_path(&self, path: &str) -> PathBuf {
        self.part_dir.join(OBJECTS_DIR).join(self.key.name(path))
    }

    /// Decrypts a catalog and verifies its hash.
    fn read_catalog(&self, name: &str) -> Result<Vec<u8>, DamageKind> {
        let (_, hash) = parse_catalog_name(name).ok_or(DamageKind::InvalidFormat)?;
        let mut bytes = Vec::new();
        let reader = self.open_object(&self.object_path(&format!("catalogs/{name}")))?;
        reader.take(MAX_CATALOG_BYTES).read_to_end(&mut bytes).map_err(|error| to_damage(&error))?;
        if blake3::hash(&bytes) == hash { Ok(bytes) } else { Err(DamageKind::WrongHash) }
    }

    /// Decrypts a pack durably if it has the hash. Returns its length, or the damage.
    fn copy_pack(
        &self,
        object: &Path,
        target: &Path,
        hash: &blake3::Hash,
    ) -> Result<Result<u64, DamageKind>, Error> {
        let mut reader = match self.open_object(object) {
            Ok(reader) => reader,
            Err(kind) => return Ok(Err(kind)),
        };
        let folder = target.parent().unwrap_or(Path::new("."));
        let owner = &self.sync.location.machine_id;
        let mut file = NewFile::create_as(folder, owner).map_err(Error::writing(target))?;
        let mut hasher = blake3::Hasher::new();
        let mut buffer = vec![0; BUFFER_BYTES];
        let mut total = 0;
        loop {
            let len = match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(len) => len,
                Err(error) => return Ok(Err(to_damage(&error))),
            };
            hasher.update(&buffer[..len]);
            file.write_all(&buffer[..len]).map_err(Error::writing(target))?;
            total += len as u64;
        }
        if hasher.finalize() != *hash {
            return Ok(Err(DamageKind::WrongHash));
        }
        let name = target.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        file.publish(name).map_err(Error::writing(target))?;
        Ok(Ok(total))
    }

    fn open_object(&self, path: &Path) -> Result<impl Read + use<>, DamageKind> {
        let file = open_file(path).map_err(|error| to_damage(&error))?;
        self.identities.open(file).map_err(|failure| match failure {
            DecryptFailure::NoMatchingKey | DecryptFailure::Damaged => DamageKind::NotDecryptable,
            DecryptFailure::Io(error) => to_damage(&error),
        })
    }
}

fn read_whole(path: &Path) -> Result<Vec<u8>, DamageKind> {
    let mut bytes = Vec::new();
    let read = open_file(path).and_then(|mut file| file.read_to_end(&mut bytes));
    read.map(|_| bytes).map_err(|error| to_damage(&error))
}

fn to_damage(error: &io::Error) -> DamageKind {
    match error.kind() {
        io::ErrorKind::NotFound => DamageKind::Missing,
        // The decrypted content is authenticated piece by piece.
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => DamageKind::NotDecryptable,
        _ => DamageKind::Unreadable(crate::describe_io_error(error)),
    }
}
