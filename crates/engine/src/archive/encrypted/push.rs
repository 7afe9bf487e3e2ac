//! Copies the part of a machine from the local archive to an encrypted place. Needs public keys only.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::age_file::Recipients;
use super::encrypted_manifest::PartManifest;
use super::name_key::NameKey;
use super::part_index::{self, EncryptedFile, IndexHead, PartIndex};
use super::{EncryptedSync, OBJECTS_DIR, manifest_path};
use crate::Error;
use crate::archive::catalog::Catalog;
use crate::archive::damage::{ArchiveDamage, DamageKind};
use crate::archive::manifest::{ArchiveManifest, parse_catalog_name};
use crate::archive::sync::{CopiedFiles, SyncReport, has_diverged};
use crate::disk::open_file;
use crate::writer::{NewFile, delete_file, replace_file_as};

/// A file of the local archive and the object that is its copy.
struct WantedObject {
    name: String,
    path: PathBuf,
    hash: blake3::Hash,
}

impl EncryptedSync<'_> {
    /// Copies what is missing of a part to the place, then its manifest if it is newer. Damaged files are reported and not
    /// copied. The part of another machine is copied only if that machine never copied it there itself.
    ///
    /// Returns [`Error::DivergedArchive`] if the place has content of this machine that the local archive may not have.
    pub(super) fn push_part(
        &self,
        id: &str,
        recipients: &Recipients,
        prune: bool,
        report: &mut SyncReport,
    ) -> Result<(), Error> {
        let (local, part_dir) = (self.local_dir(id), self.part_dir(id));
        let manifest = match ArchiveManifest::read(&local) {
            Ok(manifest) => manifest,
            Err(damage) => return report_damage(damage, report),
        };
        let own_dir = self.location.machine_dir();
        let known_key = NameKey::read(&own_dir);
        let index = match PartIndex::read(&part_dir) {
            Ok(Some(index)) if !self.is_own(id) && index.head.writer != self.location.machine_id => {
                return Ok(());
            }
            Ok(index) => index,
            Err(damage) => {
                report.damages.push(damage);
                None
            }
        };
        let is_ours = index.as_ref().is_some_and(|index| {
            index.head.writer == self.location.machine_id
                && known_key.as_ref().is_some_and(|key| key.has_tag(&index.head.tag))
        });
        if !is_ours && manifest_path(&part_dir).exists() {
            let may_continue = self.is_own(id) && self.may_continue(id, &local, report)?;
            if !may_continue {
                return Ok(());
            }
        }
        let mut key = match known_key {
            Some(key) => key,
            None => NameKey::create(&own_dir).map_err(Error::writing(&own_dir))?,
        };
        let count_before = report.damages.len();
        let catalog = Catalog::read(&local, &manifest, &mut report.damages);
        if report.damages.len() > count_before {
            return Ok(());
        }
        let push = PartPush { sync: self, part_dir: &part_dir, recipients };
        // Names of a part that another machine wrote do not follow from the key of this one.
        let index = index.filter(|_| is_ours);
        let wanted = list_objects(&local, &manifest, &catalog, &key);
        let recipients_id = key.name(&recipients.to_texts().join("\n"));
        let is_for_others = |index: &PartIndex| index.head.recipients != recipients_id;
        let known = index.as_ref().filter(|index| !is_for_others(index));
        let objects = push.copy_objects(wanted, known.map(|index| &index.objects), report)?;
        let Some(objects) = objects else { return Ok(()) };
        let is_current = known.is_some_and(|index| {
            index.objects == objects
                && index.head.revision >= manifest.revision
                && has_hash(&manifest_path(&part_dir), &index.head.manifest)
        });
        if !is_current {
            push.write_manifest(id, &mut key, &manifest, recipients_id, objects.clone())?;
        }
        if prune {
            push.delete_unneeded(&objects)?;
        }
        Ok(())
    }

    /// Returns `true` if the local archive has everything that a part contains which this machine does not recognise. Without an
    /// identity, this cannot be known.
    fn may_continue(&self, id: &str, local: &Path, report: &mut SyncReport) -> Result<bool, Error> {
        let part_dir = self.part_dir(id);
        let Some(identities) = &self.identities else {
            return Err(Error::UnknownPart { path: part_dir });
        };
        match PartManifest::read(id, &part_dir, identities)? {
            Ok(part) if has_diverged_from(local, &part.manifest) => {
                Err(Error::DivergedArchive { path: part_dir })
            }
            Ok(_) => Ok(true),
            Err(damage) => report_damage(damage, report).map(|()| false),
        }
    }
}

fn report_damage(damage: ArchiveDamage, report: &mut SyncReport) -> Result<(), Error> {
    report.damages.push(damage);
    Ok(())
}

fn has_diverged_from(local: &Path, remote: &ArchiveManifest) -> bool {
    ArchiveManifest::read(local).is_ok_and(|local| has_diverged(&local, remote))
}

/// Lists the packs and catalogs of a manifest. Packs precede the catalogs that name them.
fn list_objects(
    local: &Path,
    manifest: &ArchiveManifest,
    catalog: &Catalog,
    key: &NameKey,
) -> Vec<WantedObject> {
    let packs = catalog.packs.iter().filter_map(|pack| {
        let hash = blake3::Hash::from_hex(&pack.pack).ok()?;
        Some((format!("packs/{}.zst", pack.pack), hash))
    });
    let catalogs = manifest.catalogs.iter().filter_map(|name| {
        let (_, hash) = parse_catalog_name(name)?;
        Some((format!("catalogs/{name}"), hash))
    });
    let to_object =
        |(path, hash): (String, _)| WantedObject { name: key.name(&path), path: local.join(path), hash };
    packs.chain(catalogs).map(to_object).collect()
}

/// Compares the length of a file with the recorded one. Returns the difference.
fn find_change(path: &Path, recorded: &EncryptedFile) -> Option<DamageKind> {
    match std::fs::metadata(path) {
        Ok(meta) if meta.len() == recorded.bytes => None,
        Ok(meta) => Some(DamageKind::WrongLength { expected: recorded.bytes, found: meta.len() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some(DamageKind::Missing),
        Err(error) => Some(DamageKind::Unreadable(crate::describe_io_error(&error))),
    }
}

/// Returns `true` if a small file has the recorded hash.
fn has_hash(path: &Path, recorded: &EncryptedFile) -> bool {
    let mut bytes = Vec::new();
    let read =
        open_file(path).and_then(|file| file.take(recorded.bytes.saturating_add(1)).read_to_end(&mut bytes));
    read.is_ok() && blake3::hash(&bytes).to_hex().as_str() == recorded.hash
}

/// The copying of one part.
struct PartPush<'a> {
    sync: &'a EncryptedSync<'a>,
    part_dir: &'a Path,
    recipients: &'a Recipients,
}

impl PartPush<'_> {
    /// Encrypts the objects that are not in the place. Objects that the index lists but that are missing or have another
    /// length are reported and written again. Returns all objects, or `None` if a local file is damaged.
    fn copy_objects(
        &self,
        wanted: Vec<WantedObject>,
        known: Option<&BTreeMap<String, EncryptedFile>>,
        report: &mut SyncReport,
    ) -> Result<Option<BTreeMap<String, EncryptedFile>>, Error> {
        let mut objects = BTreeMap::new();
        let mut is_complete = true;
        for WantedObject { name, path, hash } in wanted {
            let target = self.part_dir.join(OBJECTS_DIR).join(&name);
            if let Some(recorded) = known.and_then(|known| known.get(&name)) {
                let Some(kind) = find_change(&target, recorded) else {
                    objects.insert(name, recorded.clone());
                    continue;
                };
                report.damages.push(ArchiveDamage { path: target.clone(), kind });
            }
            match self.copy_object(&path, &target, &hash)? {
                Ok((bytes, file)) => {
                    report.pushed.add(CopiedFiles { files: 1, bytes });
                    objects.insert(name, file);
                }
                Err(kind) => {
                    is_complete = false;
                    report.damages.push(ArchiveDamage { path, kind });
                }
            }
        }
        // A manifest must not name a file that was not copied.
        Ok(is_complete.then_some(objects))
    }

    /// Encrypts a file durably if it has the hash. Returns its length and the encrypted file, or the damage.
    fn copy_object(
        &self,
        from: &Path,
        target: &Path,
        hash: &blake3::Hash,
    ) -> Result<Result<(u64, EncryptedFile), DamageKind>, Error> {
        let source = match open_file(from) {
            Ok(source) => source,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Err(DamageKind::Missing)),
            Err(error) => return Ok(Err(DamageKind::Unreadable(crate::describe_io_error(&error)))),
        };
        let mut source = HashingReader { source, hasher: blake3::Hasher::new(), bytes: 0 };
        let encrypted = self.encrypt(&mut source, target)?;
        if source.hasher.finalize() != *hash {
            return Ok(Err(DamageKind::WrongHash));
        }
        Ok(Ok((source.bytes, encrypted.publish(target)?)))
    }

    /// Encrypts content into a draft next to its target.
    fn encrypt(&self, content: &mut impl Read, target: &Path) -> Result<EncryptedDraft, Error> {
        // A folder that disappeared must not be created on another file system.
        self.sync.folder.ensure_present()?;
        let folder = target.parent().unwrap_or(Path::new("."));
        let file = NewFile::create_as(folder, &self.sync.location.machine_id);
        let file = file.map_err(Error::writing(target))?;
        let draft = EncryptedDraft { file, hasher: blake3::Hasher::new(), bytes: 0 };
        self.recipients.encrypt(content, draft).map_err(Error::writing(target))
    }

    /// Writes the index and then the manifest. `key` gets the tag of the index first, so that this machine recognises what it
    /// wrote even if it is interrupted.
    fn write_manifest(
        &self,
        id: &str,
        key: &mut NameKey,
        manifest: &ArchiveManifest,
        recipients_id: String,
        objects: BTreeMap<String, EncryptedFile>,
    ) -> Result<(), Error> {
        let own_dir = self.sync.location.machine_dir();
        let content = PartManifest::format(id, key, manifest);
        let path = manifest_path(self.part_dir);
        let draft = self.encrypt(&mut content.as_slice(), &path)?;
        let writer = &self.sync.location.machine_id;
        let head = IndexHead::new(writer, manifest.revision, recipients_id, draft.to_file());
        key.add_tag(&head.tag);
        key.write(&own_dir).map_err(Error::writing(&own_dir))?;
        let index = PartIndex { head, objects };
        let index_path = self.part_dir.join(part_index::FILE_NAME);
        // The draft of the manifest has the same temporary name.
        let index_owner = format!("{writer}-{}", part_index::FILE_NAME);
        let replaced = replace_file_as(&index_path, &index.to_bytes(), &index_owner);
        replaced.map_err(Error::writing(&index_path))?;
        draft.publish(&path).map(drop)
    }

    /// Deletes the objects that the manifest does not name.
    fn delete_unneeded(&self, objects: &BTreeMap<String, EncryptedFile>) -> Result<(), Error> {
        let folder = self.part_dir.join(OBJECTS_DIR);
        let needed: HashSet<&str> = objects.keys().map(String::as_str).collect();
        for path in crate::disk::list_files(&folder) {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let is_object = blake3::Hash::from_hex(name).is_ok();
            if is_object && !needed.contains(name) {
                delete_file(&path).map_err(Error::writing(&path))?;
            }
        }
        Ok(())
    }
}

/// Hashes what is read.
struct HashingReader<R> {
    source: R,
    hasher: blake3::Hasher,
    bytes: u64,
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let len = self.source.read(out)?;
        self.hasher.update(&out[..len]);
        self.bytes += len as u64;
        Ok(len)
    }
}

/// An encrypted file without its final name. Hashes what is written.
struct EncryptedDraft {
    file: NewFile,
    hasher: blake3::Hasher,
    bytes: u64,
}

impl EncryptedDraft {
    fn to_file(&self) -> EncryptedFile {
        EncryptedFile { bytes: self.bytes, hash: self.hasher.finalize().to_hex().to_string() }
    }

    /// Makes the file durable under its final name.
    fn publish(self, target: &Path) -> Result<EncryptedFile, Error> {
        let file = self.to_file();
        let name = target.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        self.file.publish(name).map_err(Error::writing(target))?;
        Ok(file)
    }
}

impl Write for EncryptedDraft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_all(bytes)?;
        self.hasher.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
