//! Deletes the content of forgotten sessions, and all other content that no file needs.

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::ArchiveWriter;
use crate::Error;
use crate::archive::ArchiveLocation;
use crate::archive::archive_reader::MachineArchive;
use crate::archive::catalog::{Catalog, ContentSegment, FileKey};
use crate::archive::catalog_record::PackRecord;
use crate::archive::damage::ArchiveDamage;
use crate::archive::frame::{pack_path, read_frame};
use crate::archive::manifest::parse_catalog_name;
use crate::archive::tombstones::TombstoneSet;
use crate::writer::delete_file;

/// The age from which on a file that no catalog names is deleted. A synchronisation writes packs before the catalog that
/// names them.
const MIN_UNNAMED_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// The result of a prune.
#[derive(Debug, Clone, Default)]
pub(crate) struct PruneReport {
    /// The number of forgotten sessions whose content was deleted.
    pub(crate) sessions: u64,
    /// The number of their files.
    pub(crate) files: u64,
    /// The size of the archive before and after. In a dry run, the size after is not known and equals the one before.
    pub(crate) bytes: (u64, u64),
    /// Damage, because of which nothing was deleted from the part of a machine.
    pub(crate) damages: Vec<ArchiveDamage>,
}

/// Deletes the content of forgotten sessions from the parts of all machines in an archive. Content that no file needs any
/// more is deleted, too. In a dry run, only counts.
///
/// Returns [`Error::Busy`] if another process writes to a part.
pub(crate) fn prune_archive(
    location: &ArchiveLocation,
    is_dry_run: bool,
    now: i64,
) -> Result<PruneReport, Error> {
    let dirs = location.list_machine_dirs();
    let mut tombstones = TombstoneSet::default();
    for dir in &dirs {
        tombstones.unite(&MachineArchive::read_tombstones(dir));
    }
    let mut report = PruneReport::default();
    let mut sessions = HashSet::new();
    for dir in dirs {
        let mut damages = Vec::new();
        let machine = MachineArchive::read(dir, &mut damages);
        let forgotten = find_forgotten(&machine.catalog, &tombstones);
        report.files += forgotten.len() as u64;
        sessions.extend(
            forgotten.iter().filter_map(|(_, path)| tombstones.find_session(path).map(str::to_owned)),
        );
        let size = measure_files(&machine);
        report.bytes.0 += size;
        if is_dry_run || !damages.is_empty() {
            report.bytes.1 += size;
            report.damages.extend(damages);
            continue;
        }
        let id = machine.dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let part = ArchiveLocation { machine_id: id, ..location.clone() };
        let machine = ArchiveWriter::open(&part, "archive prune", now)?.prune(&tombstones)?;
        report.bytes.1 += measure_files(&machine);
    }
    report.sessions = sessions.len() as u64;
    Ok(report)
}

/// Returns the files of forgotten sessions.
fn find_forgotten(catalog: &Catalog, tombstones: &TombstoneSet) -> Vec<FileKey> {
    let keys = catalog.files.keys().filter(|(_, path)| tombstones.find_session(path).is_some());
    keys.cloned().collect()
}

/// Returns the total length of the packs and catalogs in the folder of a machine.
fn measure_files(machine: &MachineArchive) -> u64 {
    ["packs", "catalogs"].iter().map(|folder| crate::disk::total_size(&machine.dir.join(folder))).sum()
}

impl ArchiveWriter {
    /// Deletes the content of forgotten sessions from the part of a machine, which may be another machine than this.
    ///
    /// The manifest keeps its revision: this is not a newer state, and a later run of the machine replaces it.
    fn prune(mut self, tombstones: &TombstoneSet) -> Result<MachineArchive, Error> {
        let dir = self.machine.dir.clone();
        self.load_catalog();
        // Damage that appeared since the archive was read.
        if !self.report.damages.is_empty() {
            return Ok(self.machine);
        }
        let forgotten = find_forgotten(&self.machine.catalog, tombstones);
        for key in &forgotten {
            self.machine.catalog.files.remove(key);
        }
        let replaced = self.repack().map_err(Error::writing(&dir))?;
        if !forgotten.is_empty() || !replaced.is_empty() {
            self.replace_catalogs(false).map_err(Error::writing(&dir))?;
        }
        let delete_pack = |pack: &PackRecord| delete_file(&pack_path(&dir, &pack.pack));
        replaced.iter().try_for_each(delete_pack).map_err(Error::writing(&dir))?;
        self.delete_unnamed().map_err(Error::writing(&dir))?;
        Ok(self.machine)
    }

    /// Copies the needed segments out of all packs that contain others. Returns the packs that are not needed any more.
    fn repack(&mut self) -> io::Result<Vec<PackRecord>> {
        let catalog = &self.machine.catalog;
        let generations = catalog.files.values().flatten();
        let needed: HashSet<blake3::Hash> =
            generations.flat_map(|generation| &generation.segments).map(|segment| segment.hash).collect();
        let is_needed = |segment: &ContentSegment| needed.contains(&segment.hash);
        let has_others =
            |pack: &PackRecord| !pack.frames.iter().flat_map(|frame| &frame.segments).all(is_needed);
        let replaced: Vec<PackRecord> =
            catalog.packs.iter().filter(|pack| has_others(pack)).cloned().collect();
        for pack in &replaced {
            for (frame_idx, frame) in (0..).zip(&pack.frames) {
                if !frame.segments.iter().any(is_needed) {
                    continue;
                }
                let content = read_frame(&self.machine.dir, pack, frame_idx)?;
                let mut rest = &content[..];
                for segment in &frame.segments {
                    let len = usize::try_from(segment.bytes).map_err(|_| io::ErrorKind::InvalidData)?;
                    let (bytes, after) = rest.split_at_checked(len).ok_or(io::ErrorKind::InvalidData)?;
                    rest = after;
                    if blake3::hash(bytes) != segment.hash {
                        return Err(io::ErrorKind::InvalidData.into());
                    }
                    if is_needed(segment) {
                        self.packs.add(*segment, bytes.to_vec())?;
                    }
                }
            }
        }
        let new_packs = self.packs.finish()?;
        let kept = catalog.packs.iter().filter(|pack| !has_others(pack)).cloned();
        let packs: Vec<PackRecord> = kept.chain(new_packs).collect();
        // A new pack may have the content, and so the name, of an old one.
        let names: HashSet<String> = packs.iter().map(|pack| pack.pack.clone()).collect();
        self.machine.catalog.set_packs(packs).ok_or(io::ErrorKind::InvalidData)?;
        Ok(replaced.into_iter().filter(|pack| !names.contains(&pack.pack)).collect())
    }

    /// Deletes packs, catalogs and drafts that no catalog and no manifest names, if they are old.
    fn delete_unnamed(&self) -> io::Result<()> {
        let MachineArchive { dir, manifest, catalog } = &self.machine;
        let packs = catalog.packs.iter().map(|pack| pack_path(dir, &pack.pack));
        let catalogs = manifest.catalogs.iter().map(|name| dir.join("catalogs").join(name));
        let named: HashSet<PathBuf> = packs.chain(catalogs).collect();
        let is_ours = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.ends_with(".zst") || name.ends_with(".part") || parse_catalog_name(name).is_some()
        };
        let is_old = |path: &PathBuf| {
            let modified = std::fs::metadata(path).and_then(|meta| meta.modified());
            let age = modified.ok().and_then(|modified| SystemTime::now().duration_since(modified).ok());
            age.is_some_and(|age| age >= MIN_UNNAMED_AGE)
        };
        let files =
            ["packs", "catalogs"].into_iter().flat_map(|folder| crate::disk::list_files(&dir.join(folder)));
        let mut unnamed = files.filter(|path| !named.contains(path) && is_ours(path) && is_old(path));
        unnamed.try_for_each(|path| delete_file(&path))
    }
}
