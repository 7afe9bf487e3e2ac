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
use super::catalog::{Catalog, ContentSegment, Generation, format_records};
use super::catalog_record::{
    CatalogRecord, FileRecord, GenerationCause, PackRecord, PlaceRecord, StoredPath,
};
use super::content::ContentReader;
use super::damage::ArchiveDamage;
use super::exclusion::ExclusionSet;
use super::frame::{MAX_FRAME_BYTES, pack_path};
use super::manifest::{self, catalog_name, parse_catalog_name};
use super::pack::PackWriter;
use super::seen_files::{ArchivedState, CatalogSources, MachineCatalogs, SeenFile, SeenFiles};
use super::source::{SourceFile, SourceFiles, find_sources};
use super::tombstones::TombstoneSet;
use crate::Error;
use crate::archive_reader::is_encrypted_place;
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
    location: ArchiveLocation,
    /// The catalog has only places until it is needed: see [`Self::load_catalog`].
    machine: MachineArchive,
    has_catalog: bool,
    /// The catalogs of all machines when the archive was opened.
    sources: Option<CatalogSources>,
    /// The tombstones of all machines.
    tombstones: TombstoneSet,
    seen: SeenFiles,
    packs: PackWriter,
    /// Records that are in no catalog yet.
    records: Vec<CatalogRecord>,
    /// Files that are archived in full once the records are committed.
    archived: Vec<(u32, PathBuf, SeenFile)>,
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
    /// The number of archived segments before the offset, if the file continues a generation.
    segment_count: u64,
}

impl UnarchivedPart {
    /// Returns the part of a file after an archived state.
    fn appended_to(state: &ArchivedState) -> UnarchivedPart {
        UnarchivedPart {
            generation: state.number,
            cause: state.cause,
            offset: state.bytes,
            new_generation: None,
            segment_count: state.segment_count,
        }
    }
}

impl ArchiveWriter {
    /// Opens an archive for writing and creates it if it does not exist. Returns [`Error::Busy`] if another process writes
    /// to it.
    pub(crate) fn open(location: &ArchiveLocation, command: &str, now: i64) -> Result<ArchiveWriter, Error> {
        if is_encrypted_place(&location.dir) {
            return Err(Error::EncryptedPlace { path: location.dir.clone() });
        }
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
        let manifest = MachineArchive::read_manifest(&dir, &mut report.damages);
        let sources = CatalogSources::read(location, &manifest);
        let mut writer = ArchiveWriter {
            location: location.clone(),
            tombstones: TombstoneSet::default(),
            seen: SeenFiles::read(&dir),
            packs: PackWriter::new(&dir),
            machine: MachineArchive { dir, manifest, catalog: Catalog::default() },
            has_catalog: false,
            sources,
            records: Vec::new(),
            archived: Vec::new(),
            uncommitted_bytes: 0,
            report,
            now,
            _lock: lock,
        };
        writer.read_summary();
        Ok(writer)
    }

    /// Takes places and tombstones from the summary of the last run. Reads the catalogs if they are not those that it was
    /// made of.
    fn read_summary(&mut self) {
        let summary = &mut self.seen.summary;
        if self.sources.is_some() && summary.sources == self.sources && self.report.damages.is_empty() {
            for place in std::mem::take(&mut summary.places) {
                self.machine.catalog.places.insert(place.place, place);
            }
            std::mem::take(&mut summary.tombstones)
                .into_iter()
                .for_each(|record| self.tombstones.add(record));
            return;
        }
        self.load_catalog();
        self.tombstones = self.machine.catalog.tombstones.clone();
        for other in self.location.list_machine_dirs().iter().filter(|other| **other != self.machine.dir) {
            self.tombstones.unite(&MachineArchive::read_tombstones(other));
        }
        self.seen.set_changed();
    }

    /// Reads the catalogs of this machine, unless that was done.
    fn load_catalog(&mut self) {
        if !self.has_catalog {
            read_catalog(&mut self.machine, &mut self.report.damages);
            self.has_catalog = true;
        }
    }

    #[cfg(test)]
    pub(super) fn has_catalog(&self) -> bool {
        self.has_catalog
    }

    /// Archives everything that is new in the files below the roots.
    pub(crate) fn update(mut self, roots: &Roots, exclusions: &ExclusionSet) -> Result<UpdateReport, Error> {
        let mut failures = Vec::new();
        for source in find_sources(roots) {
            let place = self.find_or_add_place(&source.root);
            let known = self.seen.place_mut(place);
            let (mut source, has_new_listing) = source.list_files(known, self.now, &mut failures);
            if has_new_listing {
                self.seen.set_changed();
            }
            self.report.excluded += exclusions.remove_excluded(&mut source);
            self.update_place(place, source, &mut failures)?;
        }
        self.commit()?;
        self.settle()?;
        self.write_seen().map_err(Error::writing(&self.machine.dir))?;
        self.report.failures = failures;
        Ok(self.report)
    }

    fn update_place(
        &mut self,
        place: u32,
        source: SourceFiles,
        failures: &mut Vec<Error>,
    ) -> Result<(), Error> {
        for file in source.files {
            self.report.checked += 1;
            if self.is_forgotten(&file.relative) {
                self.report.forgotten += 1;
                continue;
            }
            if self.is_archived(place, &file) {
                continue;
            }
            match self.archive_file(place, &source.root.join(&file.relative), &file) {
                Ok(()) => {}
                Err(error @ Error::Unwritable { .. }) => return Err(error),
                Err(error) => failures.push(error),
            }
            if self.uncommitted_bytes >= COMMIT_BYTES {
                self.commit()?;
            }
        }
        Ok(())
    }

    fn is_forgotten(&self, relative: &Path) -> bool {
        !self.tombstones.is_empty()
            && self.tombstones.find_session(&StoredPath::from_path(relative)).is_some()
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
        self.seen.set_changed();
        self.commit()?;
        self.write_seen().map_err(Error::writing(&self.machine.dir))
    }

    fn find_or_add_place(&mut self, root: &Path) -> u32 {
        let root = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
        let machine = &self.location.machine_name;
        if let Some(place) = self.machine.catalog.find_place(&root, machine) {
            return place;
        }
        let place = self.machine.catalog.places.keys().next_back().map_or(0, |last| last + 1);
        let record = PlaceRecord { place, machine: machine.clone(), root: StoredPath::from_path(&root) };
        self.machine.catalog.places.insert(place, record.clone());
        self.seen.set_changed();
        self.records.push(CatalogRecord::Place(record));
        place
    }

    /// Returns the newest archived state of a file. The catalog must be loaded.
    fn newest_generation(&self, place: u32, relative: &Path) -> Option<&Generation> {
        self.machine.catalog.files.get(&(place, StoredPath::from_path(relative)))?.last()
    }

    /// Returns a summary of the newest archived state of a file, from the last run if the catalog is not loaded.
    fn newest_state(&self, place: u32, file: &SourceFile) -> Option<ArchivedState> {
        if self.has_catalog {
            return self.newest_generation(place, &file.relative).map(ArchivedState::new);
        }
        file.seen?.archived
    }

    /// Returns `true` if the fingerprint of a file proves that all of its content is archived.
    fn is_archived(&self, place: u32, file: &SourceFile) -> bool {
        let Some(seen) = file.seen else { return false };
        let Some(state) = self.newest_state(place, file) else { return false };
        // Segments are only joined after the whole content was compared.
        seen.is_stable
            && seen.fingerprint == file.fingerprint
            && state.bytes == file.fingerprint.len
            && !self.must_settle(&state)
    }

    /// Archives the new content of a file, if there is any.
    fn archive_file(&mut self, place: u32, path: &Path, source: &SourceFile) -> Result<(), Error> {
        // Read before the content, so that a later change is noticed by the next run.
        let opened_at = SystemTime::now();
        let mut file = open_file(path).map_err(Error::reading(path))?;
        let meta = file.metadata().map_err(Error::reading(path))?;
        let fingerprint = FileFingerprint::from_metadata(&meta);
        let state = self.newest_state(place, source);
        let appended = state.map(|state| find_appended(source, &state, &fingerprint, &mut file)).transpose();
        let new = match appended.map_err(Error::reading(path))?.flatten() {
            Some(appended) => Some(appended),
            None => {
                self.load_catalog();
                self.find_new_content(place, path, source, &fingerprint, &mut file)?
            }
        };
        let (end, archived) = match new {
            Some(new) => {
                let state = self.add_content(place, path, source, fingerprint, &mut file, new)?;
                (state.bytes, Some(state))
            }
            None => (fingerprint.len, self.newest_state(place, source)),
        };
        let seen = SeenFile { fingerprint, is_stable: fingerprint.is_stable(opened_at), archived };
        // A file that became shorter meanwhile is read again by the next run.
        if end == fingerprint.len {
            self.archived.push((place, source.relative.clone(), seen));
        }
        Ok(())
    }

    /// Compares a file with its newest archived state. Returns `None` if it has nothing new. The catalog must be loaded.
    fn find_new_content(
        &self,
        place: u32,
        path: &Path,
        source: &SourceFile,
        fingerprint: &FileFingerprint,
        file: &mut File,
    ) -> Result<Option<UnarchivedPart>, Error> {
        let Some(generation) = self.newest_generation(place, &source.relative) else {
            let cause = GenerationCause::Created;
            let new_generation = Some(Vec::new());
            return Ok(Some(UnarchivedPart {
                generation: 1,
                cause,
                offset: 0,
                new_generation,
                segment_count: 0,
            }));
        };
        let compared = compare_content(file, generation, fingerprint.len).map_err(Error::reading(path))?;
        let is_prefix = compared.kept.len() == generation.segments.len();
        if is_prefix {
            let appended = UnarchivedPart::appended_to(&ArchivedState::new(generation));
            return Ok((fingerprint.len > generation.bytes).then_some(appended));
        }
        let is_shorter = fingerprint.len < generation.bytes && self.is_start_of(generation, &compared);
        let cause = if is_shorter { GenerationCause::Shrank } else { GenerationCause::Rewritten };
        let (offset, new_generation) = (compared.offset, Some(compared.kept));
        let number = generation.number + 1;
        Ok(Some(UnarchivedPart { generation: number, cause, offset, new_generation, segment_count: 0 }))
    }

    /// Returns `true` if the rest of a shorter file is the start of the archived segment at its position.
    fn is_start_of(&self, generation: &Generation, compared: &ComparedContent) -> bool {
        let Some(segment) = generation.segments.get(compared.kept.len()) else { return false };
        let alone = Generation { segments: vec![*segment], ..generation.clone() };
        let mut archived = Vec::new();
        let mut reader = ContentReader::new(&self.machine.dir, &self.machine.catalog, &alone);
        reader.read_to_end(&mut archived).is_ok() && archived.starts_with(&compared.rest)
    }

    /// Adds the content of a file from the offset of `new` on. Returns its new state.
    fn add_content(
        &mut self,
        place: u32,
        path: &Path,
        source: &SourceFile,
        fingerprint: FileFingerprint,
        file: &mut File,
        new: UnarchivedPart,
    ) -> Result<ArchivedState, Error> {
        file.seek(SeekFrom::Start(new.offset)).map_err(Error::reading(path))?;
        let content = file.take(fingerprint.len - new.offset);
        let ArchiveWriter { machine, has_catalog, seen, report, packs, .. } = self;
        let is_packed = |hash: &blake3::Hash| {
            if !*has_catalog {
                if !seen.summary.segments.may_contain(hash) {
                    return false;
                }
                read_catalog(machine, &mut report.damages);
                *has_catalog = true;
            }
            machine.catalog.find_segment(hash).is_some()
        };
        let packed = add_segments(content, path, packs, is_packed)?;
        self.report.added_bytes += packed.added_bytes;
        self.uncommitted_bytes += packed.added_bytes;
        match (&new.new_generation, new.cause) {
            (None, _) => self.report.grown += 1,
            (Some(_), GenerationCause::Created) => self.report.created += 1,
            (Some(_), cause) => self.report.new_generations.push((path.to_owned(), cause)),
        }
        let (offset, kept) = match new.new_generation {
            Some(kept) => (0, kept),
            None => (new.offset, Vec::new()),
        };
        let segments = [kept, packed.segments].concat();
        let state = ArchivedState {
            number: new.generation,
            cause: new.cause,
            bytes: new.offset + packed.bytes,
            segment_count: new.segment_count + segments.len() as u64,
            last_segment: segments.last().copied(),
            archived: self.now,
        };
        self.records.push(CatalogRecord::File(FileRecord {
            place,
            path: StoredPath::from_path(&source.relative),
            generation: new.generation,
            offset,
            segments,
            mode: source.mode,
            modified: fingerprint.modified_at().0,
            archived: self.now,
            cause: new.cause,
        }));
        Ok(state)
    }

    /// Makes everything durable that was added since the last commit: packs, then a catalog, then the manifest.
    fn commit(&mut self) -> Result<(), Error> {
        self.try_commit().map_err(Error::writing(&self.machine.dir))
    }

    fn try_commit(&mut self) -> io::Result<()> {
        let packs = self.packs.finish()?;
        self.report.stored_bytes += packs.iter().map(|pack| pack.bytes).sum::<u64>();
        self.seen.summary.segments.extend(list_hashes(&packs));
        let files = std::mem::take(&mut self.records);
        let records: Vec<CatalogRecord> = packs.into_iter().map(CatalogRecord::Pack).chain(files).collect();
        if !records.is_empty() {
            let number = self.next_catalog_number();
            let name = self.write_catalog((number, number), &records)?;
            self.machine.manifest.catalogs.push(name);
            // A catalog that is loaded later has them.
            if self.has_catalog {
                for record in records {
                    self.machine.catalog.add(record).ok_or(io::ErrorKind::InvalidData)?;
                }
            }
        }
        self.write_manifest()?;
        self.uncommitted_bytes = 0;
        for (place, relative, seen) in std::mem::take(&mut self.archived) {
            let times = [seen.archived.as_ref().and_then(settling_time), self.seen.summary.next_settling];
            self.seen.summary.next_settling = times.into_iter().flatten().min();
            self.seen.insert(place, &relative, seen);
        }
        if self.machine.manifest.catalogs.len() > MAX_CATALOGS { self.merge_catalogs() } else { Ok(()) }
    }

    /// Writes what the next run needs to know of this one.
    fn write_seen(&mut self) -> io::Result<()> {
        if !self.seen.is_changed() {
            return Ok(());
        }
        if self.has_catalog {
            self.seen.summarize(&self.machine.catalog);
            let newest = self.machine.catalog.files.values().filter_map(|generations| generations.last());
            self.seen.summary.next_settling =
                newest.filter_map(|generation| settling_time(&ArchivedState::new(generation))).min();
        }
        let sources = self.sources.take();
        let own = MachineCatalogs::read(&self.machine.dir, &self.machine.manifest);
        let is_intact = self.report.damages.is_empty();
        let summary = &mut self.seen.summary;
        summary.sources =
            sources.zip(own).filter(|_| is_intact).map(|(sources, own)| sources.with_machine(own));
        summary.places = self.machine.catalog.places.values().cloned().collect();
        summary.tombstones = self.tombstones.records().cloned().collect();
        self.seen.write(&self.machine.dir)
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
        self.load_catalog();
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
    fn must_settle(&self, state: &ArchivedState) -> bool {
        settling_time(state).is_some_and(|time| time <= self.now)
    }

    /// Joins the segments of files that did not change for a day, so that they compress better, and deletes packs that are
    /// not needed any more.
    fn settle(&mut self) -> Result<(), Error> {
        let is_due = self.seen.summary.next_settling.is_some_and(|next| next <= self.now);
        if !self.has_catalog && is_due {
            self.load_catalog();
            self.seen.set_changed();
        }
        if !self.has_catalog || !self.report.damages.is_empty() {
            return Ok(());
        }
        let generations =
            self.machine.catalog.files.iter().filter_map(|(key, list)| Some((key, list.last()?)));
        let due: Vec<_> = generations
            .filter(|(_, generation)| self.must_settle(&ArchivedState::new(generation)))
            .map(|(key, _)| key.clone())
            .collect();
        if due.is_empty() {
            return Ok(());
        }
        for key in due {
            let catalog = &self.machine.catalog;
            let Some(generation) = catalog.files.get(&key).and_then(|list| list.last()) else { continue };
            let content = ContentReader::new(&self.machine.dir, catalog, generation);
            let is_packed = |hash: &blake3::Hash| catalog.find_segment(hash).is_some();
            let packed = add_segments(content, &self.machine.dir, &mut self.packs, is_packed)?;
            if let Some(generation) =
                self.machine.catalog.files.get_mut(&key).and_then(|list| list.last_mut())
            {
                generation.segments = packed.segments;
            }
        }
        self.seen.set_changed();
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

/// Returns the time from which on the segments of a file should be joined, in milliseconds since 1970. Returns `None` if they
/// are large enough.
fn settling_time(state: &ArchivedState) -> Option<i64> {
    let count = state.segment_count;
    let is_due = count > 1 && count > 2 * state.bytes.div_ceil(SIZES.min as u64);
    is_due.then(|| state.archived.saturating_add(SETTLE_MILLIS))
}

/// Reads the catalogs of a machine. The catalog has only places before.
fn read_catalog(machine: &mut MachineArchive, damages: &mut Vec<ArchiveDamage>) {
    // A place that was added since is in no catalog file yet.
    let places = std::mem::take(&mut machine.catalog.places);
    machine.catalog = Catalog::read(&machine.dir, &machine.manifest, damages);
    machine.catalog.places.extend(places);
}

/// Returns the hashes of the segments in packs.
fn list_hashes(packs: &[PackRecord]) -> impl Iterator<Item = blake3::Hash> {
    let segments = packs.iter().flat_map(|pack| &pack.frames).flat_map(|frame| &frame.segments);
    segments.map(|segment| segment.hash)
}

/// Segments of content.
struct PackedContent {
    segments: Vec<ContentSegment>,
    /// The length of the content.
    bytes: u64,
    /// The length of the segments that were added to packs.
    added_bytes: u64,
}

/// Splits content into segments and packs those that are in no pack. `path` is the source, for errors.
fn add_segments(
    content: impl Read,
    path: &Path,
    packs: &mut PackWriter,
    mut is_packed: impl FnMut(&blake3::Hash) -> bool,
) -> Result<PackedContent, Error> {
    let mut chunker = Chunker::new(content, SIZES);
    let mut packed = PackedContent { segments: Vec::new(), bytes: 0, added_bytes: 0 };
    while let Some(chunk) = chunker.next_chunk().map_err(Error::reading(path))? {
        let segment = ContentSegment { hash: blake3::hash(&chunk), bytes: chunk.len() as u64 };
        packed.segments.push(segment);
        packed.bytes += segment.bytes;
        if !packs.has_segment(&segment.hash) && !is_packed(&segment.hash) {
            packed.added_bytes += segment.bytes;
            packs.add(segment, chunk).map_err(Error::writing(&packs.dir()))?;
        }
    }
    Ok(packed)
}

/// Returns the rest of a file if bytes were appended to it since it was archived. Reads only its last archived segment.
fn find_appended(
    source: &SourceFile,
    state: &ArchivedState,
    fingerprint: &FileFingerprint,
    file: &mut File,
) -> io::Result<Option<UnarchivedPart>> {
    let Some(seen) = source.seen else { return Ok(None) };
    let Some(last) = state.last_segment else { return Ok(None) };
    if !seen.fingerprint.is_same_inode(fingerprint)
        || seen.fingerprint.len != state.bytes
        || fingerprint.len <= state.bytes
    {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(state.bytes - last.bytes))?;
    let mut bytes = Vec::new();
    file.take(last.bytes).read_to_end(&mut bytes)?;
    Ok((blake3::hash(&bytes) == last.hash).then(|| UnarchivedPart::appended_to(state)))
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
