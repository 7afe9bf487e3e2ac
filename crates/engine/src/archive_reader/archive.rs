//! Read access to an archive.

use std::path::{Component, Path, PathBuf};

use super::ArchiveLocation;
use super::catalog::{Catalog, Generation};
use super::content::ContentReader;
use super::damage::{ArchiveDamage, DamageKind};
use super::manifest::ArchiveManifest;

/// An archive, opened for reading: the files of all machines in it.
#[derive(Debug, Default)]
pub(crate) struct Archive {
    machines: Vec<MachineArchive>,
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

/// A file in the archive.
#[derive(Debug, Clone)]
pub(crate) struct ArchivedFile<'a> {
    machine: &'a MachineArchive,
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
    /// Reads manifest and catalogs of a machine. If the manifest is damaged, reads all catalogs in the folder.
    pub(crate) fn read(dir: PathBuf, damages: &mut Vec<ArchiveDamage>) -> MachineArchive {
        let manifest = ArchiveManifest::read(&dir).unwrap_or_else(|damage| {
            damages.push(damage);
            ArchiveManifest::from_catalog_files(&dir, damages)
        });
        let catalog = Catalog::read(&dir, &manifest, damages);
        MachineArchive { dir, manifest, catalog }
    }
}

impl Archive {
    /// Opens an archive. A missing folder is an empty archive.
    pub(crate) fn open(location: &ArchiveLocation) -> Archive {
        let mut archive = Archive::default();
        let machines_dir = location.machines_dir();
        match std::fs::read_dir(&machines_dir) {
            Ok(entries) => {
                let mut dirs: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
                dirs.retain(|dir| dir.is_dir());
                dirs.sort();
                let read = |dir| MachineArchive::read(dir, &mut archive.damages);
                archive.machines = dirs.into_iter().map(read).collect();
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

    #[cfg(test)]
    pub(crate) fn catalog_mut(&mut self) -> &mut Catalog {
        &mut self.machines[0].catalog
    }

    /// Returns all files, by machine, root and path. Leaves out paths of another kind of system, and those that lead out of
    /// their root.
    pub(crate) fn files(&self) -> impl Iterator<Item = ArchivedFile<'_>> {
        self.machines.iter().flat_map(|machine| {
            machine.catalog.files.iter().filter_map(move |((place, path), generations)| {
                Some(ArchivedFile {
                    machine,
                    machine_name: &machine.catalog.places.get(place)?.machine,
                    root: machine.catalog.place_root(*place)?,
                    relative: path.to_path().filter(|path| is_plain(path))?,
                    generations,
                })
            })
        })
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

    /// Returns the newest state.
    pub(crate) fn newest(&self) -> &'a Generation {
        self.generations.last().expect("a file record adds a generation")
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
