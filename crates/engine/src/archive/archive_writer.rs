//! Adds what is new in session files to an archive.

mod prune;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub(crate) use self::prune::prune_archive;
use super::ArchiveLocation;
use super::archive_reader::MachineArchive;
use super::catalog::{Catalog, ContentSegment, Generation, format_records, to_segment_records};
use super::catalog_record::{CatalogRecord, FileRecord, GenerationCause, PlaceRecord, StoredPath};
use super::content::ContentReader;
use super::damage::ArchiveDamage;
use super::exclusion::ExclusionSet;
use super::frame::{MAX_FRAME_BYTES, pack_path};
use super::manifest::{self, catalog_name, parse_catalog_name};
use super::pack::PackWriter;
use super::seen_files::{SeenFile, SeenFiles};
use super::source::{SourceFile, list_sources};
use super::tombstones::TombstoneSet;
use crate::Error;
use crate::disk::{FileFingerprint, Roots, open_file};
use crate::writer::{
    ChunkSizes, Chunker, NewFile, StateLock, create_store_dir, delete_file, replace_file, replace_file_as,
};

/// The sizes of segments. Larger ones compress better, smaller ones are faster to read in part.
const SIZES: ChunkSizes = ChunkSizes { min: 640 << 10, max: MAX_FRAME_BYTES, divisor: 32 };
/// The number of new bytes after which a run commits, so that an interrupted run continues there.
const COMMIT_BYTES: u64 = 256 << 20;
/// The number of catalogs from which on they are merged.
const MAX_CATALOGS: usize = 32;
/// The maximum number of replaced catalogs that a manifest names.
const MAX_REPLACED: usize = 200;
/// The time in milliseconds after which the segments of a file that did not change are joined.
const SETTLE_MILLIS: i64 = 24 * 60 * 60 * 1000;

/// The text of the file `README` in an archive.
const README: &str = "This folder is an archive of Claude Code conversations, written by rethread (format 1).\n\
    Do not change or rename its files. `rethread archive verify` checks them.\n\
    Packs are plain zstd files: `zstd -dc machines/*/packs/*.zst` prints their content.\n";

/// The result of an archive run.
#[derive(Debug, Default)]
pub(crate) struct UpdateReport {
    /// The number of files below the roots.
    pub(crate) checked: u64,
    /// The files of forgotten sessions, which were skipped.
    pub(crate) forgotten: u64,
    /// The files of excluded projects, which were skipped.
    pub(crate) excluded: u64,
    /// The files that were archived for the first time.
    pub(crate) created: u64,
    /// The files to which a client appended.
    pub(crate) grown: u64,
    /// The files that started a new generation, with the reason.
    pub(crate) new_generations: Vec<(PathBuf, GenerationCause)>,
    /// The number of bytes of content that were added.
    pub(crate) added_bytes: u64,
    /// The number of bytes that these need in the archive.
    pub(crate) stored_bytes: u64,
    /// The files and folders that could not be read.
    pub(crate) failures: Vec<Error>,
    /// Damage that was found while the archive was opened.
    pub(crate) damages: Vec<ArchiveDamage>,
}

/// Write access to the part of an archive that belongs to this machine.
#[derive(Debug)]
pub(crate) struct ArchiveWriter {
    machine: MachineArchive,
    machine_name: String,
    /// The tombstones of all machines.
    tombstones: TombstoneSet,
    seen: SeenFiles,
    packs: PackWriter,
    /// Records that are in no catalog yet.
    records: Vec<CatalogRecord>,
    /// Files that are archived in full once the records are committed.
    archived: Vec<(PathBuf, SeenFile)>,
    /// The number of bytes since the last commit.
    uncommitted_bytes: u64,
    report: UpdateReport,
    /// The current time in milliseconds since 1970.
    now: i64,
    _lock: StateLock,
}

/// The part of a file that is not archived yet.
struct UnarchivedPart {
    generation: u32,
    cause: GenerationCause,
    /// The offset in the file at which the part starts.
    offset: u64,
    /// The archived segments before the offset, if the file starts a new generation.
    new_generation: Option<Vec<ContentSegment>>,
}

impl ArchiveWriter {
    /// Opens an archive for writing and creates it if it does not exist. Returns [`Error::Busy`] if another process writes
    /// to it.
    pub(crate) fn open(location: &ArchiveLocation, command: &str, now: i64) -> Result<ArchiveWriter, Error> {
        let dir = location.machine_dir();
        create_store_dir(&dir).map_err(Error::writing(&dir))?;
        let lock = StateLock::acquire(&dir, command)?;
        let readme = location.dir.join("README");
        if !readme.exists() {
            // Another machine may create it at the same time.
            replace_file_as(&readme, README.as_bytes(), &location.machine_id)
                .map_err(Error::writing(&readme))?;
        }
        let mut report = UpdateReport::default();
        let machine = MachineArchive::read(dir, &mut report.damages);
        let mut tombstones = machine.catalog.tombstones.clone();
        for other in location.list_machine_dirs().iter().filter(|other| **other != machine.dir) {
            tombstones.unite(&MachineArchive::read_tombstones(other));
        }
        Ok(ArchiveWriter {
            tombstones,
            seen: SeenFiles::read(&machine.dir),
            packs: PackWriter::new(&machine.dir),
            machine,
            machine_name: location.machine_name.clone(),
            records: Vec::new(),
            archived: Vec::new(),
            uncommitted_bytes: 0,
            report,
            now,
            _lock: lock,
        })
    }

    /// Archives everything that is new in the files below the roots.
    pub(crate) fn update(mut self, roots: &Roots, exclusions: &ExclusionSet) -> Result<UpdateReport, Error> {
        let mut failures = Vec::new();
        for mut source in list_sources(roots, &mut failures) {
            self.report.excluded += exclusions.remove_excluded(&mut source);
            let place = self.find_or_add_place(&source.root);
            for file in source.files {
                self.report.checked += 1;
                if self.tombstones.find_session(&StoredPath::from_path(&file.relative)).is_some() {
                    self.report.forgotten += 1;
                    continue;
                }
                if self.is_archived(place, &file) {
                    continue;
                }
                match self.archive_file(place, &file) {
                    Ok(()) => {}
                    Err(error @ Error::Unwritable { .. }) => return Err(error),
                    Err(error) => failures.push(error),
                }
                if self.uncommitted_bytes >= COMMIT_BYTES {
                    self.commit()?;
                }
            }
        }
        self.commit()?;
        self.settle()?;
        self.report.failures = failures;
        Ok(self.report)
    }

    /// Forgets sessions, or takes that back. `files` are the files of a session whose path does not name it.
    pub(crate) fn set_forgotten(
        mut self,
        sessions: Vec<(String, BTreeSet<PathBuf>)>,
        forgotten: bool,
    ) -> Result<(), Error> {
        for (session, files) in sessions {
            let files = files.iter().map(|file| StoredPath::from_path(file)).collect();
            let record = self.tombstones.next_record(&session, forgotten, files, self.now);
            self.tombstones.add(record.clone());
            self.records.push(CatalogRecord::Tombstone(record));
        }
        self.commit()
    }

    fn find_or_add_place(&mut self, root: &Path) -> u32 {
        let root = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
        if let Some(place) = self.machine.catalog.find_place(&root, &self.machine_name) {
            return place;
        }
        let place = self.machine.catalog.places.keys().next_back().map_or(0, |last| last + 1);
        let record =
            PlaceRecord { place, machine: self.machine_name.clone(), root: StoredPath::from_path(&root) };
        self.machine.catalog.places.insert(place, record.clone());
        self.records.push(CatalogRecord::Place(record));
        place
    }

    /// Returns the newest archived state of a file.
    fn newest_generation(&self, place: u32, relative: &Path) -> Option<&Generation> {
        self.machine.catalog.files.get(&(place, StoredPath::from_path(relative)))?.last()
    }

    /// Returns `true` if the fingerprint of a file proves that all of its content is archived.
    fn is_archived(&self, place: u32, file: &SourceFile) -> bool {
        let Some(seen) = self.seen.get(&file.path) else { return false };
        let Some(generation) = self.newest_generation(place, &file.relative) else { return false };
        // Segments are only joined after the whole content was compared.
        seen.is_stable
            && seen.fingerprint == file.fingerprint
            && generation.bytes == file.fingerprint.len
            && !self.must_settle(generation)
    }

    /// Archives the new content of a file, if there is any.
    fn archive_file(&mut self, place: u32, source: &SourceFile) -> Result<(), Error> {
        let path = &source.path;
        // Read before the content, so that a later change is noticed by the next run.
        let opened_at = SystemTime::now();
        let mut file = open_file(path).map_err(Error::reading(path))?;
        let meta = file.metadata().map_err(Error::reading(path))?;
        let fingerprint = FileFingerprint::from_metadata(&meta);
        let new = self.find_new_content(place, source, &fingerprint, &mut file)?;
        let mut end = new.as_ref().map_or(fingerprint.len, |new| new.offset);
        if let Some(new) = new {
            end += self.add_content(place, source, fingerprint, &mut file, new)?;
        }
        let seen = SeenFile { fingerprint, is_stable: fingerprint.is_stable(opened_at) };
        // A file that became shorter meanwhile is read again by the next run.
        if end == fingerprint.len {
            self.archived.push((path.clone(), seen));
        }
        Ok(())
    }

    /// Compares a file with its newest archived state. Returns `None` if it has nothing new.
    fn find_new_content(
        &self,
        place: u32,
        source: &SourceFile,
        fingerprint: &FileFingerprint,
        file: &mut File,
    ) -> Result<Option<UnarchivedPart>, Error> {
        let Some(generation) = self.newest_generation(place, &source.relative) else {
            let cause = GenerationCause::Created;
            let new_generation = Some(Vec::new());
            return Ok(Some(UnarchivedPart { generation: 1, cause, offset: 0, new_generation }));
        };
        let appended = UnarchivedPart {
            generation: generation.number,
            cause: generation.cause,
            offset: generation.bytes,
            new_generation: None,
        };
        if self
            .has_only_grown(&source.path, generation, fingerprint, file)
            .map_err(Error::reading(&source.path))?
        {
            return Ok(Some(appended));
        }
        let compared =
            compare_content(file, generation, fingerprint.len).map_err(Error::reading(&source.path))?;
        let is_prefix = compared.kept.len() == generation.segments.len();
        if is_prefix {
            return Ok((fingerprint.len > generation.bytes).then_some(appended));
        }
        let is_shorter = fingerprint.len < generation.bytes && self.is_start_of(generation, &compared);
        let cause = if is_shorter { GenerationCause::Shrank } else { GenerationCause::Rewritten };
        let (offset, new_generation) = (compared.offset, Some(compared.kept));
        Ok(Some(UnarchivedPart { generation: generation.number + 1, cause, offset, new_generation }))
    }

    /// Returns `true` if bytes were appended to a file since it was archived. Reads only its last archived segment.
    fn has_only_grown(
        &self,
        path: &Path,
        generation: &Generation,
        fingerprint: &FileFingerprint,
        file: &mut File,
    ) -> io::Result<bool> {
        let Some(seen) = self.seen.get(path) else { return Ok(false) };
        let Some(last) = generation.segments.last() else { return Ok(false) };
        if !seen.fingerprint.is_same_inode(fingerprint)
            || seen.fingerprint.len != generation.bytes
            || fingerprint.len <= generation.bytes
        {
            return Ok(false);
        }
        file.seek(SeekFrom::Start(generation.bytes - last.bytes))?;
        let mut bytes = Vec::new();
        file.take(last.bytes).read_to_end(&mut bytes)?;
        Ok(blake3::hash(&bytes) == last.hash)
    }

    /// Returns `true` if the rest of a shorter file is the start of the archived segment at its position.
    fn is_start_of(&self, generation: &Generation, compared: &ComparedContent) -> bool {
        let Some(segment) = generation.segments.get(compared.kept.len()) else { return false };
        let alone = Generation { segments: vec![*segment], ..generation.clone() };
        let mut archived = Vec::new();
        let mut reader = ContentReader::new(&self.machine.dir, &self.machine.catalog, &alone);
        reader.read_to_end(&mut archived).is_ok() && archived.starts_with(&compared.rest)
    }

    /// Adds the content of a file from the offset of `new` on. Returns its length.
    fn add_content(
        &mut self,
        place: u32,
        source: &SourceFile,
        fingerprint: FileFingerprint,
        file: &mut File,
        new: UnarchivedPart,
    ) -> Result<u64, Error> {
        file.seek(SeekFrom::Start(new.offset)).map_err(Error::reading(&source.path))?;
        let content = file.take(fingerprint.len - new.offset);
        let catalog = &self.machine.catalog;
        let packed = add_segments(content, &source.path, catalog, &mut self.packs)?;
        self.report.added_bytes += packed.added_bytes;
        self.uncommitted_bytes += packed.added_bytes;
        match (&new.new_generation, new.cause) {
            (None, _) => self.report.grown += 1,
            (Some(_), GenerationCause::Created) => self.report.created += 1,
            (Some(_), cause) => self.report.new_generations.push((source.path.clone(), cause)),
        }
        let (offset, kept) = match new.new_generation {
            Some(kept) => (0, kept),
            None => (new.offset, Vec::new()),
        };
        self.records.push(CatalogRecord::File(FileRecord {
            place,
            path: StoredPath::from_path(&source.relative),
            generation: new.generation,
            offset,
            segments: to_segment_records(&[kept, packed.segments].concat()),
            mode: source.mode,
            modified: fingerprint.modified_at().0,
            archived: self.now,
            cause: new.cause,
        }));
        Ok(packed.bytes)
    }

    /// Makes everything durable that was added since the last commit: packs, then a catalog, then the manifest.
    fn commit(&mut self) -> Result<(), Error> {
        self.try_commit().map_err(Error::writing(&self.machine.dir))
    }

    fn try_commit(&mut self) -> io::Result<()> {
        let packs = self.packs.finish()?;
        self.report.stored_bytes += packs.iter().map(|pack| pack.bytes).sum::<u64>();
        let files = std::mem::take(&mut self.records);
        let records: Vec<CatalogRecord> = packs.into_iter().map(CatalogRecord::Pack).chain(files).collect();
        if !records.is_empty() {
            let number = self.next_catalog_number();
            let name = self.write_catalog((number, number), &records)?;
            self.machine.manifest.catalogs.push(name);
            for record in records {
                self.machine.catalog.add(record).ok_or(io::ErrorKind::InvalidData)?;
            }
        }
        self.write_manifest()?;
        self.uncommitted_bytes = 0;
        for (path, seen) in std::mem::take(&mut self.archived) {
            self.seen.insert(path, seen);
        }
        self.seen.write(&self.machine.dir)?;
        if self.machine.manifest.catalogs.len() > MAX_CATALOGS { self.merge_catalogs() } else { Ok(()) }
    }

    fn write_manifest(&mut self) -> io::Result<()> {
        let manifest = &mut self.machine.manifest;
        // The clock makes it larger than that of a manifest that was lost.
        manifest.revision = self.now.max(manifest.revision.saturating_add(1));
        manifest.updated = self.now;
        self.replace_manifest()
    }

    /// Writes the manifest without marking it as a newer state.
    fn replace_manifest(&mut self) -> io::Result<()> {
        replace_file(&self.machine.dir.join(manifest::FILE_NAME), &self.machine.manifest.to_bytes())
    }

    fn next_catalog_number(&self) -> u64 {
        let ranges = self.machine.manifest.catalogs.iter().filter_map(|name| parse_catalog_name(name));
        ranges.map(|((_, last), _)| last + 1).max().unwrap_or(0)
    }

    /// Writes a catalog durably and returns its name.
    fn write_catalog(&self, range: (u64, u64), records: &[CatalogRecord]) -> io::Result<String> {
        let bytes = format_records(records)?;
        let name = catalog_name(range, &blake3::hash(&bytes));
        let mut file = NewFile::create(&self.machine.dir.join("catalogs"))?;
        file.write_all(&bytes)?;
        file.publish(&name)?;
        Ok(name)
    }

    /// Replaces all catalogs by one with the same content, and deletes them. Does nothing if a part of the archive is
    /// damaged, because its records would be lost.
    fn merge_catalogs(&mut self) -> io::Result<()> {
        if self.report.damages.is_empty() { self.replace_catalogs(true) } else { Ok(()) }
    }

    /// Replaces all catalogs by one with the current records. `is_newer` tells whether this is a newer state of the
    /// machine.
    fn replace_catalogs(&mut self, is_newer: bool) -> io::Result<()> {
        let Some(last) = self.next_catalog_number().checked_sub(1) else { return Ok(()) };
        let name = self.write_catalog((0, last), &self.machine.catalog.to_records())?;
        let replaced = std::mem::replace(&mut self.machine.manifest.catalogs, vec![name.clone()]);
        // A merged catalog has the numbers of those that it replaces, unless it replaces one only.
        if last == 0 || !is_newer {
            let known = &mut self.machine.manifest.replaced;
            known.extend(replaced.iter().filter(|old| **old != name).cloned());
            known.drain(..known.len().saturating_sub(MAX_REPLACED));
        }
        if is_newer {
            self.write_manifest()?;
        } else {
            self.replace_manifest()?;
        }
        for old in replaced.iter().filter(|old| **old != name) {
            delete_file(&self.machine.dir.join("catalogs").join(old))?;
        }
        Ok(())
    }

    /// Returns `true` if the segments of a file should be joined: nothing was added for a day, and they are small.
    fn must_settle(&self, generation: &Generation) -> bool {
        let count = generation.segments.len() as u64;
        let is_idle = self.now.saturating_sub(generation.archived) >= SETTLE_MILLIS;
        is_idle && count > 1 && count > 2 * generation.bytes.div_ceil(SIZES.min as u64)
    }

    /// Joins the segments of files that did not change for a day, so that they compress better, and deletes packs that are
    /// not needed any more.
    fn settle(&mut self) -> Result<(), Error> {
        if !self.report.damages.is_empty() {
            return Ok(());
        }
        let generations =
            self.machine.catalog.files.iter().filter_map(|(key, list)| Some((key, list.last()?)));
        let due: Vec<_> = generations
            .filter(|(_, generation)| self.must_settle(generation))
            .map(|(key, _)| key.clone())
            .collect();
        if due.is_empty() {
            return Ok(());
        }
        for key in due {
            let catalog = &self.machine.catalog;
            let Some(generation) = catalog.files.get(&key).and_then(|list| list.last()) else { continue };
            let content = ContentReader::new(&self.machine.dir, catalog, generation);
            let packed = add_segments(content, &self.machine.dir, catalog, &mut self.packs)?;
            if let Some(generation) =
                self.machine.catalog.files.get_mut(&key).and_then(|list| list.last_mut())
            {
                generation.segments = packed.segments;
            }
        }
        self.finish_settling().map_err(Error::writing(&self.machine.dir))
    }

    fn finish_settling(&mut self) -> io::Result<()> {
        for pack in self.packs.finish()? {
            self.machine.catalog.add(CatalogRecord::Pack(pack)).ok_or(io::ErrorKind::InvalidData)?;
        }
        let unused = self.machine.catalog.drop_unused_packs();
        self.merge_catalogs()?;
        unused.iter().try_for_each(|pack| delete_file(&pack_path(&self.machine.dir, &pack.pack)))
    }
}

/// Segments of content.
struct PackedContent {
    segments: Vec<ContentSegment>,
    /// The length of the content.
    bytes: u64,
    /// The length of the segments that were added to packs.
    added_bytes: u64,
}

/// Splits content into segments and packs those that are not in the catalog. `path` is the source, for errors.
fn add_segments(
    content: impl Read,
    path: &Path,
    catalog: &Catalog,
    packs: &mut PackWriter,
) -> Result<PackedContent, Error> {
    let mut chunker = Chunker::new(content, SIZES);
    let mut packed = PackedContent { segments: Vec::new(), bytes: 0, added_bytes: 0 };
    while let Some(chunk) = chunker.next_chunk().map_err(Error::reading(path))? {
        let segment = ContentSegment { hash: blake3::hash(&chunk), bytes: chunk.len() as u64 };
        packed.segments.push(segment);
        packed.bytes += segment.bytes;
        if catalog.find_segment(&segment.hash).is_none() && !packs.has_segment(&segment.hash) {
            packed.added_bytes += segment.bytes;
            packs.add(segment, chunk).map_err(Error::writing(&packs.dir()))?;
        }
    }
    Ok(packed)
}

/// The part of a file that equals its archived state.
struct ComparedContent {
    /// The archived segments that the file starts with.
    kept: Vec<ContentSegment>,
    /// Their length.
    offset: u64,
    /// The bytes of the file at the position of the first segment that differs.
    rest: Vec<u8>,
}

/// Compares the first `len` bytes of a file with the segments of an archived state.
fn compare_content(file: &mut File, generation: &Generation, len: u64) -> io::Result<ComparedContent> {
    file.seek(SeekFrom::Start(0))?;
    let mut content = file.take(len);
    let mut compared = ComparedContent { kept: Vec::new(), offset: 0, rest: Vec::new() };
    for segment in &generation.segments {
        compared.rest.clear();
        content.by_ref().take(segment.bytes).read_to_end(&mut compared.rest)?;
        if blake3::hash(&compared.rest) != segment.hash {
            return Ok(compared);
        }
        compared.kept.push(*segment);
        compared.offset += segment.bytes;
    }
    Ok(compared)
}
