//! Read access to an archive.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use super::ArchiveLocation;
use super::catalog::{Catalog, FileKey, Generation};
use super::catalog_record::StoredPath;
use super::content::ContentReader;
use super::damage::{ArchiveDamage, DamageKind};
use super::manifest::ArchiveManifest;
use super::tombstones::TombstoneSet;

/// An archive, opened for reading: the files of all machines in it.
#[derive(Debug, Default)]
pub(crate) struct Archive {
    machines: Vec<MachineArchive>,
    /// The tombstones of all machines.
    tombstones: TombstoneSet,
    /// Damaged manifests and catalogs. The content that they record is missing here.
    pub(crate) damages: Vec<ArchiveDamage>,
}

/// The files of one machine.
#[derive(Debug)]
pub(crate) struct MachineArchive {
    pub(crate) dir: PathBuf,
    pub(crate) manifest: ArchiveManifest,
    pub(crate) catalog: Catalog,
}

/// Identifies a file in an open archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArchivedFileId {
    /// The index of the machine.
    machine: usize,
    key: FileKey,
}

/// A file in the archive.
#[derive(Debug, Clone)]
pub(crate) struct ArchivedFile<'a> {
    machine: &'a MachineArchive,
    machine_idx: usize,
    key: &'a FileKey,
    /// The name of the machine.
    pub(crate) machine_name: &'a str,
    /// The folder below which the file was, usually `~/.claude`.
    pub(crate) root: PathBuf,
    /// The path below the root.
    pub(crate) relative: PathBuf,
    /// Its states, oldest first. Never empty.
    pub(crate) generations: &'a [Generation],
}

impl MachineArchive {
    /// Reads the tombstones of a machine only.
    pub(crate) fn read_tombstones(dir: &Path) -> TombstoneSet {
        MachineArchive::read(dir.to_owned(), &mut Vec::new()).catalog.tombstones
    }

    /// Reads manifest and catalogs of a machine. If the manifest is damaged, reads all catalogs in the folder.
    pub(crate) fn read(dir: PathBuf, damages: &mut Vec<ArchiveDamage>) -> MachineArchive {
        let manifest = MachineArchive::read_manifest(&dir, damages);
        let catalog = Catalog::read(&dir, &manifest, damages);
        MachineArchive { dir, manifest, catalog }
    }

    /// Reads the manifest of a machine. If it is damaged, lists all catalogs in the folder.
    pub(crate) fn read_manifest(dir: &Path, damages: &mut Vec<ArchiveDamage>) -> ArchiveManifest {
        ArchiveManifest::read(dir).unwrap_or_else(|damage| {
            damages.push(damage);
            ArchiveManifest::from_catalog_files(dir, damages)
        })
    }

    /// Builds the description of a file. Returns `None` for a path of another kind of system, or one that leads out of its
    /// root.
    fn build_file<'a>(
        &'a self,
        machine_idx: usize,
        key: &'a FileKey,
        generations: &'a [Generation],
    ) -> Option<ArchivedFile<'a>> {
        let (place, path) = key;
        Some(ArchivedFile {
            machine: self,
            machine_idx,
            key,
            machine_name: &self.catalog.places.get(place)?.machine,
            root: self.catalog.place_root(*place)?,
            relative: path.to_path().filter(|path| is_plain(path))?,
            generations,
        })
    }
}

impl Archive {
    /// Opens an archive. A missing folder is an empty archive.
    pub(crate) fn open(location: &ArchiveLocation) -> Archive {
        Archive::open_dir(&location.dir)
    }

    /// Opens the archive in a folder. A missing folder is an empty archive.
    pub(crate) fn open_dir(dir: &Path) -> Archive {
        let mut archive = Archive::default();
        let machines_dir = dir.join(super::MACHINES_DIR);
        match std::fs::read_dir(&machines_dir) {
            Ok(entries) => {
                let mut dirs: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
                dirs.retain(|dir| dir.is_dir());
                dirs.sort();
                let read = |dir| MachineArchive::read(dir, &mut archive.damages);
                archive.machines = dirs.into_iter().map(read).collect();
                for machine in &archive.machines {
                    archive.tombstones.unite(&machine.catalog.tombstones);
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                let kind = DamageKind::Unreadable(crate::describe_io_error(&error));
                archive.damages.push(ArchiveDamage { path: machines_dir, kind });
            }
        }
        archive
    }

    pub(crate) fn machines(&self) -> &[MachineArchive] {
        &self.machines
    }

    /// Returns the folder and the catalog of a machine. Returns `None` if there is no machine with this index.
    pub(super) fn machine_content(&self, idx: usize) -> Option<(&Path, &Catalog)> {
        self.machines.get(idx).map(|machine| (machine.dir.as_path(), &machine.catalog))
    }

    #[cfg(test)]
    pub(crate) fn catalog_mut(&mut self) -> &mut Catalog {
        &mut self.machines[0].catalog
    }

    /// Returns all files that are not forgotten, by machine, root and path. Leaves out paths of another kind of system, and
    /// those that lead out of their root.
    pub(crate) fn files(&self) -> impl Iterator<Item = ArchivedFile<'_>> {
        self.list_files().filter_map(|(file, forgotten)| forgotten.is_none().then_some(file))
    }

    /// Returns the files of forgotten sessions that no prune deleted yet, with the session.
    pub(crate) fn forgotten_files(&self) -> impl Iterator<Item = (ArchivedFile<'_>, &str)> {
        self.list_files().filter_map(|(file, forgotten)| Some((file, forgotten?)))
    }

    /// Returns all files, each with the session it belongs to if that is forgotten.
    fn list_files(&self) -> impl Iterator<Item = (ArchivedFile<'_>, Option<&str>)> {
        self.machines.iter().enumerate().flat_map(move |(idx, machine)| {
            machine.catalog.files.iter().filter_map(move |(key, list)| {
                Some((machine.build_file(idx, key, list)?, self.tombstones.find_session(&key.1)))
            })
        })
    }

    /// Returns the forgotten sessions with the time at which the user forgot them, in milliseconds since 1970.
    pub(crate) fn forgotten_sessions(&self) -> impl Iterator<Item = (&str, i64)> {
        self.tombstones.forgotten().map(|record| (record.session.as_str(), record.time))
    }

    /// Returns `true` if the session is forgotten.
    pub(crate) fn is_forgotten(&self, session: &str) -> bool {
        self.tombstones.has_session(session)
    }

    /// Returns a file by its id. Returns `None` if it is not in this archive.
    pub(crate) fn file(&self, id: &ArchivedFileId) -> Option<ArchivedFile<'_>> {
        let machine = self.machines.get(id.machine)?;
        let (key, generations) = machine.catalog.files.get_key_value(&id.key)?;
        machine.build_file(id.machine, key, generations)
    }

    /// Returns the time of the last run on any machine, in milliseconds since 1970. Returns `None` if there was none.
    pub(crate) fn last_run(&self) -> Option<i64> {
        self.machines.iter().map(|machine| machine.manifest.updated).filter(|&updated| updated > 0).max()
    }

    /// Returns the total length of all packs in bytes.
    pub(crate) fn stored_bytes(&self) -> u64 {
        self.machines.iter().flat_map(|machine| &machine.catalog.packs).map(|pack| pack.bytes).sum()
    }
}

impl<'a> ArchivedFile<'a> {
    /// Returns the path that the file had.
    pub(crate) fn original_path(&self) -> PathBuf {
        self.root.join(&self.relative)
    }

    /// Returns `true` if both files were archived from the same folder of the same machine.
    pub(crate) fn is_of_same_place(&self, other: &ArchivedFile<'_>) -> bool {
        self.root == other.root && self.machine_name == other.machine_name
    }

    /// Returns `true` if the machine of a location archived the file.
    pub(crate) fn is_of_machine(&self, location: &ArchiveLocation) -> bool {
        self.machine.dir == location.machine_dir()
    }

    /// Returns `true` if the root is the folder of a client, in which only `projects` contains sessions.
    pub(crate) fn is_in_client_dir(&self) -> bool {
        let start = (self.key.0, StoredPath::Text("projects/".to_owned()));
        let following = self.machine.catalog.files.range(start..).next();
        following.is_some_and(|((place, path), _)| {
            *place == self.key.0 && matches!(path, StoredPath::Text(path) if path.starts_with("projects/"))
        })
    }

    /// Returns the newest state.
    pub(crate) fn newest(&self) -> &'a Generation {
        self.generations.last().expect("a file record adds a generation")
    }

    /// Returns the index of the machine in the archive.
    pub(super) fn machine_idx(&self) -> usize {
        self.machine_idx
    }

    /// Returns the id of the machine, which is the name of its folder.
    pub(crate) fn machine_id(&self) -> &'a OsStr {
        self.machine.dir.file_name().unwrap_or_default()
    }

    /// Returns the number of the place.
    pub(crate) fn place(&self) -> u32 {
        self.key.0
    }

    /// Returns the id of the file.
    pub(crate) fn id(&self) -> ArchivedFileId {
        ArchivedFileId { machine: self.machine_idx, key: self.key.clone() }
    }

    /// Opens the content of a state.
    pub(crate) fn read(&self, generation: &'a Generation) -> ContentReader<'a> {
        ContentReader::new(&self.machine.dir, &self.machine.catalog, generation)
    }
}

/// Returns `true` if a path has only names, so that it stays below the folder it is joined to.
fn is_plain(path: &Path) -> bool {
    let mut components = path.components().peekable();
    components.peek().is_some() && components.all(|component| matches!(component, Component::Normal(_)))
}
