//! The knowledge of the last run: the listings of folders, and the fingerprint and the archived state of each file. A run opens
//! changed files only, and reads catalogs only if they are not those that the list was made of. The list is derived:
//! without it every file is read and compared once.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rethread_core::pack::{Pack, Unpacker};
use rethread_core::pack_fields;

use super::ArchiveLocation;
use super::catalog::{Catalog, ContentSegment, Generation};
use super::catalog_record::{GenerationCause, PlaceRecord, StoredPath, TombstoneRecord};
use super::manifest::ArchiveManifest;
use crate::disk::{FileFingerprint, open_file};
use crate::writer::replace_file;

/// The name of the list in the folder of a machine.
pub(super) const FILE_NAME: &str = "seen";
/// The start of the list: the version of its encoding. A list of another version is not used.
const VERSION: &[u8; 8] = b"seen\0\0\0\x02";
/// The length of the checksum at the end of the list.
const HASH_BYTES: usize = 32;
/// The time in milliseconds for which the listing of a folder is used.
const LISTING_MILLIS: i64 = 24 * 60 * 60 * 1000;

/// The list.
#[derive(Debug, Default)]
pub(super) struct SeenFiles {
    pub(super) summary: CatalogSummary,
    /// The folders by the number of the place, and by their path below it.
    places: BTreeMap<u32, SeenPlace>,
    is_changed: bool,
}

/// The folders below a place, by their path. The keys are not `PathBuf`: it compares names one by one, ten times slower than
/// bytes.
#[derive(Debug, Default)]
pub(super) struct SeenPlace {
    /// Whether the listings contain only files with the names of session data.
    is_filtered: bool,
    folders: BTreeMap<OsString, SeenFolder>,
}

/// A folder below a place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SeenFolder {
    /// The fingerprint of the folder and the time when it was listed, in milliseconds since 1970. `None` if the entries are
    /// not all that it contains.
    pub(super) listing: Option<(FileFingerprint, i64)>,
    /// The subfolders and regular files, in the order of their names, with a `/` after those of folders.
    pub(super) entries: Vec<SeenEntry>,
}

/// A name in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SeenEntry {
    pub(super) name: PathBuf,
    pub(super) is_folder: bool,
    /// The state of the file when it was archived. `None` for folders, and for files that are not archived.
    pub(super) file: Option<SeenFile>,
}

/// The state of a file when it was archived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SeenFile {
    pub(super) fingerprint: FileFingerprint,
    /// Whether any later change is guaranteed to change the fingerprint.
    pub(super) is_stable: bool,
    pub(super) archived: Option<ArchivedState>,
}

/// A summary of a [`Generation`], the newest state of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ArchivedState {
    pub(super) number: u32,
    pub(super) cause: GenerationCause,
    /// The length of the content.
    pub(super) bytes: u64,
    pub(super) segment_count: u64,
    pub(super) last_segment: Option<ContentSegment>,
    /// The time of the last run that added content, in milliseconds since 1970.
    pub(super) archived: i64,
}

/// The facts of the catalogs that a run needs, besides the files.
#[derive(Debug, Default)]
pub(super) struct CatalogSummary {
    /// The catalogs that the summary was made of. `None` if it is not known.
    pub(super) sources: Option<CatalogSources>,
    pub(super) places: Vec<PlaceRecord>,
    /// The tombstones of all machines.
    pub(super) tombstones: Vec<TombstoneRecord>,
    pub(super) segments: SegmentFilter,
    /// The first time at which segments of a file should be joined, in milliseconds since 1970.
    pub(super) next_settling: Option<i64>,
}

/// The catalogs of all machines, each with its fingerprint. A catalog that was damaged or deleted has another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CatalogSources {
    /// Sorted by id.
    machines: Vec<MachineCatalogs>,
}

/// The catalogs of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MachineCatalogs {
    /// The name of the folder of the machine.
    id: PathBuf,
    catalogs: Vec<(String, FileFingerprint)>,
}

/// The starts of the hashes of all segments in packs, sorted. It may contain a hash that no segment has, but lacks none.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SegmentFilter {
    starts: Vec<u64>,
}

impl SeenFiles {
    /// Reads the list. Returns an empty one if it is missing, damaged or of another version.
    pub(super) fn read(machine_dir: &Path) -> SeenFiles {
        match read_list(machine_dir) {
            Some(StoredList::Intact(seen)) => seen,
            _ => SeenFiles::default(),
        }
    }

    /// Returns `true` unless the list exists and is damaged.
    pub(super) fn is_intact(machine_dir: &Path) -> bool {
        !matches!(read_list(machine_dir), Some(StoredList::Damaged))
    }

    /// Returns the folders of a place.
    pub(super) fn place_mut(&mut self, place: u32) -> &mut SeenPlace {
        self.places.entry(place).or_default()
    }

    pub(super) fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// Marks the list as changed, so that it is written.
    pub(super) fn set_changed(&mut self) {
        self.is_changed = true;
    }

    /// Sets the state of an archived file.
    pub(super) fn insert(&mut self, place: u32, relative: &Path, file: SeenFile) {
        self.is_changed = true;
        let folder = relative.parent().unwrap_or(Path::new("")).as_os_str();
        let folders = &mut self.places.entry(place).or_default().folders;
        if !folders.contains_key(folder) {
            folders.insert(folder.to_owned(), SeenFolder::default());
        }
        let Some((folder, name)) = folders.get_mut(folder).zip(relative.file_name()) else { return };
        let entry = SeenEntry { name: name.into(), is_folder: false, file: Some(file) };
        match folder.entries.binary_search_by(|other| other.compare_name(&entry)) {
            Ok(idx) => folder.entries[idx] = entry,
            Err(idx) => folder.entries.insert(idx, entry),
        }
    }

    /// Takes the archived states of all files, and the hashes of all segments, from the catalogs themselves.
    pub(super) fn summarize(&mut self, catalog: &Catalog) {
        self.summary.segments = SegmentFilter::default();
        self.summary.segments.extend(catalog.segment_hashes());
        for (&place, known) in &mut self.places {
            for (folder, known) in &mut known.folders {
                for entry in &mut known.entries {
                    let Some(file) = &mut entry.file else { continue };
                    let key = (place, StoredPath::from_path(&Path::new(folder).join(&entry.name)));
                    let newest = catalog.files.get(&key).and_then(|generations| generations.last());
                    file.archived = newest.map(ArchivedState::new);
                }
            }
        }
    }

    /// Writes the list with a checksum, if it changed.
    pub(super) fn write(&mut self, machine_dir: &Path) -> std::io::Result<()> {
        if !self.is_changed {
            return Ok(());
        }
        replace_file(&machine_dir.join(FILE_NAME), &self.to_bytes())?;
        self.is_changed = false;
        Ok(())
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = VERSION.to_vec();
        self.summary.pack_into(&mut bytes);
        self.places.pack_into(&mut bytes);
        let hash = blake3::hash(&bytes);
        bytes.extend_from_slice(hash.as_bytes());
        bytes
    }
}

/// A list that was read.
enum StoredList {
    Intact(SeenFiles),
    Damaged,
    /// Intact, but written by another version of rethread.
    OtherVersion,
}

/// Reads the list. Returns `None` if it does not exist.
fn read_list(machine_dir: &Path) -> Option<StoredList> {
    let mut bytes = Vec::new();
    let mut file = open_file(&machine_dir.join(FILE_NAME)).ok()?;
    if std::io::Read::read_to_end(&mut file, &mut bytes).is_err() {
        return Some(StoredList::Damaged);
    }
    let parts = bytes.split_at_checked(bytes.len().saturating_sub(HASH_BYTES));
    let Some((list, _)) = parts.filter(|(list, hash)| blake3::hash(list).as_bytes() == hash) else {
        return Some(StoredList::Damaged);
    };
    let Some(list) = list.strip_prefix(VERSION) else { return Some(StoredList::OtherVersion) };
    let unpacked = <(CatalogSummary, BTreeMap<u32, SeenPlace>)>::from_packed(list);
    Some(unpacked.map_or(StoredList::Damaged, |(summary, places)| {
        StoredList::Intact(SeenFiles { summary, places, is_changed: false })
    }))
}

impl SeenPlace {
    /// Sets which files the listings contain, and drops those that contain others.
    pub(super) fn set_filtered(&mut self, is_filtered: bool) {
        if self.is_filtered != is_filtered {
            self.is_filtered = is_filtered;
            self.folders.values_mut().for_each(|folder| folder.listing = None);
        }
    }

    /// Removes and returns a folder, with its listing if the fingerprint and the time `now` prove that it is still valid.
    pub(super) fn take(&mut self, folder: &Path, fingerprint: &FileFingerprint, now: i64) -> SeenFolder {
        let mut known = self.folders.remove(folder.as_os_str()).unwrap_or_default();
        // A clock that went backwards makes the age negative.
        let is_valid = |(listed, at): &(FileFingerprint, i64)| {
            listed == fingerprint && (0..LISTING_MILLIS).contains(&(now - at))
        };
        known.listing = known.listing.filter(is_valid);
        known
    }

    /// Returns a file that a folder without a listing contains.
    pub(super) fn find(&self, relative: &Path) -> Option<SeenFile> {
        let folder = self.folders.get(relative.parent()?.as_os_str())?;
        let name = relative.file_name()?;
        folder.entries.iter().find(|entry| entry.name.as_os_str() == name)?.file
    }

    /// Adds folders that were taken, and removes all others at and below `path`. Returns `true` if it removed any.
    pub(super) fn replace_below(&mut self, path: &Path, folders: Vec<(PathBuf, SeenFolder)>) -> bool {
        let before = self.folders.len();
        self.folders.retain(|folder, _| !Path::new(folder).starts_with(path));
        let has_removed = self.folders.len() < before;
        self.folders.extend(folders.into_iter().map(|(path, folder)| (path.into_os_string(), folder)));
        has_removed
    }
}

impl SeenFolder {
    /// Returns the archived state of a file with the name of an entry.
    pub(super) fn find_file(&self, entry: &SeenEntry) -> Option<SeenFile> {
        let idx = self.entries.binary_search_by(|other| other.compare_name(entry)).ok()?;
        self.entries[idx].file
    }
}

impl SeenEntry {
    /// Compares names as full paths are compared, byte by byte: a folder is followed by a separator.
    pub(super) fn compare_name(&self, other: &SeenEntry) -> std::cmp::Ordering {
        let separator = |entry: &SeenEntry| entry.is_folder.then_some(&b'/');
        let name = self.name.as_os_str().as_encoded_bytes().iter().chain(separator(self));
        name.cmp(other.name.as_os_str().as_encoded_bytes().iter().chain(separator(other)))
    }
}

impl ArchivedState {
    pub(super) fn new(generation: &Generation) -> ArchivedState {
        ArchivedState {
            number: generation.number,
            cause: generation.cause,
            bytes: generation.bytes,
            segment_count: generation.segments.len() as u64,
            last_segment: generation.segments.last().copied(),
            archived: generation.archived,
        }
    }
}

impl CatalogSources {
    /// Reads which catalogs the machines of an archive have. `manifest` is that of this machine. Returns `None` if a manifest or a
    /// catalog is missing or damaged.
    pub(super) fn read(location: &ArchiveLocation, manifest: &ArchiveManifest) -> Option<CatalogSources> {
        let own_dir = location.machine_dir();
        let read_machine = |dir: &PathBuf| match *dir == own_dir {
            true => MachineCatalogs::read(dir, manifest),
            false => MachineCatalogs::read(dir, &ArchiveManifest::read(dir).ok()?),
        };
        let machines = location.list_machine_dirs().iter().map(read_machine).collect::<Option<_>>()?;
        Some(CatalogSources { machines })
    }

    /// Replaces the catalogs of a machine.
    pub(super) fn with_machine(mut self, machine: MachineCatalogs) -> CatalogSources {
        self.machines.retain(|known| known.id != machine.id);
        self.machines.push(machine);
        self.machines.sort_by(|a, b| a.id.cmp(&b.id));
        self
    }
}

impl MachineCatalogs {
    /// Reads the fingerprints of the catalogs that a manifest names. Returns `None` if one is missing.
    pub(super) fn read(dir: &Path, manifest: &ArchiveManifest) -> Option<MachineCatalogs> {
        let with_fingerprint = |name: &String| {
            let meta = std::fs::metadata(dir.join("catalogs").join(name)).ok()?;
            Some((name.clone(), FileFingerprint::from_metadata(&meta)))
        };
        let catalogs = manifest.catalogs.iter().map(with_fingerprint).collect::<Option<_>>()?;
        Some(MachineCatalogs { id: dir.file_name()?.into(), catalogs })
    }
}

impl SegmentFilter {
    pub(super) fn extend(&mut self, hashes: impl Iterator<Item = blake3::Hash>) {
        self.starts.extend(hashes.map(|hash| hash_start(&hash)));
        self.starts.sort_unstable();
        self.starts.dedup();
    }

    /// Returns `false` only if no pack has the segment.
    pub(super) fn may_contain(&self, hash: &blake3::Hash) -> bool {
        self.starts.binary_search(&hash_start(hash)).is_ok()
    }
}

fn hash_start(hash: &blake3::Hash) -> u64 {
    let start = hash.as_bytes().first_chunk().expect("a hash has 32 bytes");
    u64::from_le_bytes(*start)
}

pack_fields!(SeenFolder { listing, entries });
pack_fields!(SeenFile { fingerprint, is_stable, archived });
pack_fields!(ArchivedState { number, cause, bytes, segment_count, last_segment, archived });
pack_fields!(CatalogSummary { sources, places, tombstones, segments, next_settling });
pack_fields!(CatalogSources { machines });
pack_fields!(MachineCatalogs { id, catalogs });
pack_fields!(PlaceRecord { place, machine, root });

impl Pack for SeenPlace {
    fn pack_into(&self, out: &mut Vec<u8>) {
        self.is_filtered.pack_into(out);
        self.folders.len().pack_into(out);
        for (path, folder) in &self.folders {
            PathBuf::from(path).pack_into(out);
            folder.pack_into(out);
        }
    }

    fn unpack_from(from: &mut Unpacker<'_>) -> Option<SeenPlace> {
        let is_filtered = Pack::unpack_from(from)?;
        let folders: Vec<(PathBuf, SeenFolder)> = Pack::unpack_from(from)?;
        let to_key = |(path, folder): (PathBuf, SeenFolder)| (path.into_os_string(), folder);
        Some(SeenPlace { is_filtered, folders: folders.into_iter().map(to_key).collect() })
    }
}

impl Pack for SeenEntry {
    fn pack_into(&self, out: &mut Vec<u8>) {
        let SeenEntry { name, is_folder, file } = self;
        name.pack_into(out);
        is_folder.pack_into(out);
        if !is_folder {
            file.pack_into(out);
        }
    }

    fn unpack_from(from: &mut Unpacker<'_>) -> Option<SeenEntry> {
        let (name, is_folder) = Pack::unpack_from(from)?;
        let file = if is_folder { None } else { Pack::unpack_from(from)? };
        Some(SeenEntry { name, is_folder, file })
    }
}

impl Pack for SegmentFilter {
    fn pack_into(&self, out: &mut Vec<u8>) {
        self.starts.len().pack_into(out);
        self.starts.iter().for_each(|start| out.extend_from_slice(&start.to_le_bytes()));
    }

    fn unpack_from(from: &mut Unpacker<'_>) -> Option<SegmentFilter> {
        let bytes = usize::unpack_from(from)?.checked_mul(8)?;
        let (starts, _) = from.take_bytes(bytes)?.as_chunks();
        Some(SegmentFilter { starts: starts.iter().map(|start| u64::from_le_bytes(*start)).collect() })
    }
}

impl Pack for ContentSegment {
    fn pack_into(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.hash.as_bytes());
        self.bytes.pack_into(out);
    }

    fn unpack_from(from: &mut Unpacker<'_>) -> Option<ContentSegment> {
        let hash = blake3::Hash::from_bytes(from.take_array()?);
        Some(ContentSegment { hash, bytes: Pack::unpack_from(from)? })
    }
}

impl Pack for GenerationCause {
    fn pack_into(&self, out: &mut Vec<u8>) {
        let code: u32 = match self {
            GenerationCause::Created => 0,
            GenerationCause::Rewritten => 1,
            GenerationCause::Shrank => 2,
        };
        code.pack_into(out);
    }

    fn unpack_from(from: &mut Unpacker<'_>) -> Option<GenerationCause> {
        match u32::unpack_from(from)? {
            0 => Some(GenerationCause::Created),
            1 => Some(GenerationCause::Rewritten),
            2 => Some(GenerationCause::Shrank),
            _ => None,
        }
    }
}

impl Pack for StoredPath {
    fn pack_into(&self, out: &mut Vec<u8>) {
        let (is_text, text) = match self {
            StoredPath::Text(text) => (true, text),
            StoredPath::Bytes { hex } => (false, hex),
        };
        is_text.pack_into(out);
        text.pack_into(out);
    }

    fn unpack_from(from: &mut Unpacker<'_>) -> Option<StoredPath> {
        let (is_text, text) = Pack::unpack_from(from)?;
        Some(if is_text { StoredPath::Text(text) } else { StoredPath::Bytes { hex: text } })
    }
}

impl Pack for TombstoneRecord {
    fn pack_into(&self, out: &mut Vec<u8>) {
        let TombstoneRecord { session, version, forgotten, time, files } = self;
        session.pack_into(out);
        version.pack_into(out);
        forgotten.pack_into(out);
        time.pack_into(out);
        files.iter().cloned().collect::<Vec<_>>().pack_into(out);
    }

    fn unpack_from(from: &mut Unpacker<'_>) -> Option<TombstoneRecord> {
        Some(TombstoneRecord {
            session: Pack::unpack_from(from)?,
            version: Pack::unpack_from(from)?,
            forgotten: Pack::unpack_from(from)?,
            time: Pack::unpack_from(from)?,
            files: Vec::unpack_from(from)?.into_iter().collect(),
        })
    }
}
