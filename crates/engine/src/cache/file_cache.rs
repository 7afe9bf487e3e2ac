//! A cache of one value per session file. A value is used only while the fingerprint of its file is unchanged.
//!
//! ```text
//! header  magic, code, length of table and blobs, checksum of header and table
//! table   path, fingerprint, offset and checksum of a blob, for each file, sorted by path
//! blobs   the packed values
//! ```
//!
//! The table is read first, then only the requested blobs. Stale fingerprints are never used: the value of a file that was
//! not yet stable when it was read is not stored.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::PathBuf;

use rethread_core::id::{Id, IdMap};
use rethread_core::pack::{Pack, Unpacker};
use rethread_core::pack_fields;

use super::cache_dir::{CacheDir, code_fingerprint, private_options};
use super::lock::CacheLock;
use super::warning::CacheWarning;
use crate::disk::{FileFingerprint, Roots, SessionFile, open_file};

const MAGIC: [u8; 8] = *b"rethread";
/// The length of the header.
const HEADER_BYTES: usize = 36;
/// The assumed number of later requests for a value that was requested for a single file.
const EXPECTED_REUSES: u64 = 8;
/// The cost of opening a file, in bytes that could be read in the same time.
const OPEN_COST: u64 = 16 << 10;

/// The kinds of values that are cached per file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CacheKind {
    /// The session infos for `ls`.
    SessionInfos,
    /// The responses and their tokens.
    Usage,
    /// The directories and branches responses were written in.
    UsageLocations,
    /// The totals for `stats`.
    Stats,
    /// The context status of entries, for search.
    ContextStatuses,
    /// The places of secrets, without the secrets.
    Secrets,
    /// The ids, client versions and stop reasons of responses, for tables.
    ResponseNames,
    /// The earliest and the latest time of the lines, to skip files of other times.
    TimeSpans,
}

impl CacheKind {
    /// Returns the name of the cache file of this kind, and of its lock.
    pub(crate) fn file_name(self) -> &'static str {
        match self {
            CacheKind::SessionInfos => "session-info",
            CacheKind::Usage => "usage",
            CacheKind::UsageLocations => "usage-locations",
            CacheKind::Stats => "stats",
            CacheKind::ContextStatuses => "context-status",
            CacheKind::Secrets => "secrets",
            CacheKind::ResponseNames => "response-names",
            CacheKind::TimeSpans => "time-spans",
        }
    }
}

/// The cached values of one kind for the files below some roots.
#[derive(Debug)]
pub(crate) struct FileCache {
    dir: PathBuf,
    kind: CacheKind,
    /// The locations of the values in the cache file, by id of the path of the session file.
    table: IdMap<BlobRef>,
    /// The cache file and the offset of its blobs. `None` if there is no valid cache file.
    file: Option<(File, u64)>,
    /// The loaded blobs.
    blobs: Vec<u8>,
    /// For each requested file, the range of its value in `blobs`.
    ranges: Vec<Option<Range<usize>>>,
    /// Whether the cache file has damaged bytes.
    is_damaged: bool,
}

/// A value to be stored.
#[derive(Debug)]
pub(crate) struct NewCacheEntry {
    /// The index of the file among those requested.
    pub(crate) file_idx: usize,
    /// The number of bytes read to compute the value.
    pub(crate) cost: u64,
    /// The packed value.
    pub(crate) blob: Vec<u8>,
}

/// The location of a value in the cache file.
#[derive(Debug, Clone, Copy)]
struct BlobRef {
    fingerprint: FileFingerprint,
    /// Relative to the first blob.
    offset: u64,
    len: usize,
    checksum: u32,
}

pack_fields!(BlobRef { fingerprint, offset, len, checksum });

impl CacheDir {
    /// Opens the cache of a kind for the files below `roots` and loads the values of `files`, as far as they are current.
    ///
    /// Returns `None` if a root is not a directory or there are no roots.
    pub(crate) fn load_values(
        &self,
        roots: &Roots,
        kind: CacheKind,
        files: &[SessionFile],
    ) -> Option<FileCache> {
        let mut cache = self.open_values(roots, kind)?;
        cache.load(files);
        Some(cache)
    }

    /// Opens the cache of a kind for the files below `roots` without loading values.
    ///
    /// Returns `None` if a root is not a directory or there are no roots.
    pub(crate) fn open_values(&self, roots: &Roots, kind: CacheKind) -> Option<FileCache> {
        Some(FileCache::open(self.dir_for(roots)?, kind))
    }
}

impl FileCache {
    /// Opens the cache of a kind and reads its table. The cache is empty if the file is missing, damaged or outdated.
    fn open(dir: PathBuf, kind: CacheKind) -> FileCache {
        let mut cache = FileCache {
            dir,
            kind,
            table: IdMap::default(),
            file: None,
            blobs: Vec::new(),
            ranges: Vec::new(),
            is_damaged: false,
        };
        // A missing file is not damaged.
        if let Ok(mut file) = open_file(&cache.path()) {
            match cache.read_table(&mut file) {
                Ok(Some((table, blobs_start))) => {
                    cache.table = table;
                    cache.file = Some((file, blobs_start));
                }
                Ok(None) => {}
                Err(_) => cache.is_damaged = true,
            }
        }
        cache
    }

    fn path(&self) -> PathBuf {
        self.dir.join(self.kind.file_name())
    }

    /// Reads the table and the offset of the blobs. Returns `None` if other code wrote the file.
    ///
    /// Returns an error if the file is damaged or cannot be read.
    fn read_table(&self, file: &mut File) -> io::Result<Option<(IdMap<BlobRef>, u64)>> {
        let damaged_error = || io::Error::from(io::ErrorKind::InvalidData);
        let len = file.metadata()?.len();
        let mut header = [0; HEADER_BYTES];
        file.read_exact(&mut header)?;
        let mut fields = Unpacker::new(&header);
        let mut next_field = || fields.take_array().map(u64::from_le_bytes);
        let header_fields = [next_field(), next_field(), next_field(), next_field()];
        let [Some(magic), Some(code), Some(table_len), Some(blobs_len)] = header_fields else {
            return Err(damaged_error());
        };
        if magic != u64::from_le_bytes(MAGIC) {
            return Err(damaged_error());
        }
        if code != code_fingerprint() {
            return Ok(None);
        }
        let blobs_start = table_len.checked_add(HEADER_BYTES as u64);
        let blobs_start = blobs_start.filter(|start| start.checked_add(blobs_len) == Some(len));
        let (blobs_start, table_len) =
            blobs_start.zip(usize::try_from(table_len).ok()).ok_or_else(damaged_error)?;
        let mut bytes = vec![0; table_len];
        file.read_exact(&mut bytes)?;
        let (fields, checksum) = header.split_at(HEADER_BYTES - 4);
        if *checksum != self.compute_checksum(fields, &bytes).to_le_bytes() {
            return Err(damaged_error());
        }
        let rows = Vec::<(Id, BlobRef)>::from_packed(&bytes).ok_or_else(damaged_error)?;
        let is_in_bounds =
            |blob: &BlobRef| blob.offset.checked_add(blob.len as u64).is_some_and(|end| end <= blobs_len);
        if !rows.iter().all(|(_, blob)| is_in_bounds(blob)) {
            return Err(damaged_error());
        }
        Ok(Some((rows.into_iter().collect(), blobs_start)))
    }

    /// Computes the checksum of header and table. It differs between kinds.
    fn compute_checksum(&self, header: &[u8], table: &[u8]) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        [header, self.kind.file_name().as_bytes(), table].iter().for_each(|part| hasher.update(part));
        hasher.finalize()
    }

    /// Returns the location of the value of a session file. Returns `None` if there is none, or if the file has changed or
    /// is not stable.
    fn find_current(&self, file: &SessionFile) -> Option<BlobRef> {
        let blob = self.table.get(&file.path_id()).copied();
        blob.filter(|blob| file.is_stable && blob.fingerprint == file.fingerprint)
    }

    /// Loads the values of the files that have not changed. Later calls refer to files by index in `files`.
    fn load(&mut self, files: &[SessionFile]) {
        let blob_refs: Vec<Option<BlobRef>> = files.iter().map(|file| self.find_current(file)).collect();
        // Adjacent blobs are read at once.
        let mut runs: Vec<Range<u64>> = Vec::new();
        for blob in blob_refs.iter().flatten() {
            let end = blob.offset + blob.len as u64;
            match runs.last_mut() {
                Some(run) if run.end == blob.offset => run.end = end,
                _ => runs.push(blob.offset..end),
            }
        }
        if let Some((file, blobs_start)) = &mut self.file {
            let blobs = read_runs(file, *blobs_start, &runs);
            self.is_damaged |= blobs.is_err();
            self.blobs = blobs.unwrap_or_default();
        }
        let mut start = 0;
        for blob in blob_refs {
            let range = blob.and_then(|blob| {
                let range = start..start + blob.len;
                start = range.end;
                let bytes = self.blobs.get(range.clone());
                let is_valid = bytes.is_some_and(|bytes| crc32fast::hash(bytes) == blob.checksum);
                self.is_damaged |= !is_valid;
                is_valid.then_some(range)
            });
            self.ranges.push(range);
        }
    }

    /// Reads the value of one session file, without loading others. Returns `None` if there is no current or valid one.
    pub(crate) fn read_one<T: Pack>(&mut self, file: &SessionFile) -> Option<T> {
        let blob = self.find_current(file)?;
        let (cache_file, blobs_start) = self.file.as_mut()?;
        let range = blob.offset..blob.offset + blob.len as u64;
        let bytes = read_runs(cache_file, *blobs_start, std::slice::from_ref(&range)).ok();
        let bytes = bytes.filter(|bytes| crc32fast::hash(bytes) == blob.checksum);
        self.is_damaged |= bytes.is_none();
        T::from_packed(&bytes?)
    }

    /// Returns the number of loaded values.
    pub(crate) fn loaded_count(&self) -> usize {
        self.ranges.iter().flatten().count()
    }

    /// Returns the loaded bytes of the value of a file. Returns `None` if there are none.
    fn blob(&self, file_idx: usize) -> Option<&[u8]> {
        self.blobs.get(self.ranges.get(file_idx)?.clone()?)
    }

    /// Returns `true` if a value of the file with this index is loaded.
    pub(crate) fn has_value(&self, file_idx: usize) -> bool {
        self.blob(file_idx).is_some()
    }

    /// Returns the loaded value of the file with this index. Returns `None` if there is none or it is not a `T`.
    pub(crate) fn get<T: Pack>(&self, file_idx: usize) -> Option<T> {
        T::from_packed(self.blob(file_idx)?)
    }

    /// Decodes the first field of the loaded value of the file with this index. Returns `None` if there is none or it is
    /// not a `T`.
    pub(crate) fn get_first<T: Pack>(&self, file_idx: usize) -> Option<T> {
        T::unpack_from(&mut Unpacker::new(self.blob(file_idx)?))
    }

    /// Stores values that were computed for single files, for a cache without loaded values. `files` are all files below
    /// the roots. The cost of the values counts eight times. See [`FileCache::store`].
    pub(crate) fn store_singles(
        mut self,
        files: &[SessionFile],
        entries: Vec<NewCacheEntry>,
    ) -> Option<CacheWarning> {
        if entries.is_empty() && !self.is_damaged {
            return None;
        }
        self.load(files);
        let weighted_entries =
            entries.into_iter().map(|entry| NewCacheEntry { cost: entry.cost * EXPECTED_REUSES, ..entry });
        self.store(files, weighted_entries.collect())
    }

    /// Stores new values if that is worth rewriting the cache file, and drops those of deleted or changed files. `files` are
    /// the loaded files.
    ///
    /// Returns a warning if writing fails or the cache file was damaged.
    pub(crate) fn store(
        mut self,
        files: &[SessionFile],
        entries: Vec<NewCacheEntry>,
    ) -> Option<CacheWarning> {
        let path = self.path();
        let cost: u64 = entries.iter().map(|entry| entry.cost + OPEN_COST).sum();
        for NewCacheEntry { file_idx, blob, .. } in
            entries.into_iter().filter(|entry| files[entry.file_idx].is_stable)
        {
            let range = self.blobs.len()..self.blobs.len() + blob.len();
            self.blobs.extend_from_slice(&blob);
            self.ranges[file_idx] = Some(range);
        }
        let stored: Vec<usize> = (0..files.len()).filter(|&idx| self.ranges[idx].is_some()).collect();
        let size: usize = stored.iter().filter_map(|&idx| self.blob(idx)).map(<[u8]>::len).sum();
        // A session that is being written changes with every call: reading it again costs less than rewriting the values
        // of all others.
        let is_worthwhile = cost >= size as u64 || stored.len() < self.table.len() / 2;
        if is_worthwhile || self.is_damaged {
            let bytes = self.encode(files, &stored, size);
            if let Err(source) = self.replace_file(&bytes) {
                return Some(CacheWarning::Unwritable { path, source });
            }
        }
        self.is_damaged.then_some(CacheWarning::Damaged { path })
    }

    /// Encodes the whole cache file. `stored` are the indices of the files with a value, `size` is the total length of
    /// their blobs.
    fn encode(&self, files: &[SessionFile], stored: &[usize], size: usize) -> Vec<u8> {
        let mut offset = 0;
        let mut rows: Vec<(Id, BlobRef)> = Vec::with_capacity(stored.len());
        for &idx in stored {
            let blob = self.blob(idx).unwrap_or_default();
            let (fingerprint, checksum) = (files[idx].fingerprint, crc32fast::hash(blob));
            rows.push((files[idx].path_id(), BlobRef { fingerprint, offset, len: blob.len(), checksum }));
            offset += blob.len() as u64;
        }
        let table = rows.to_packed();
        let mut bytes = Vec::with_capacity(HEADER_BYTES + table.len() + size);
        for field in [u64::from_le_bytes(MAGIC), code_fingerprint(), table.len() as u64, offset] {
            bytes.extend_from_slice(&field.to_le_bytes());
        }
        let checksum = self.compute_checksum(&bytes, &table);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes.extend_from_slice(&table);
        stored.iter().filter_map(|&idx| self.blob(idx)).for_each(|blob| bytes.extend_from_slice(blob));
        bytes
    }

    /// Replaces the cache file, unless another process is writing it.
    fn replace_file(&self, bytes: &[u8]) -> io::Result<()> {
        let name = self.kind.file_name();
        let Some(_lock) = CacheLock::try_acquire(&self.dir, name)? else { return Ok(()) };
        let draft = self.dir.join(format!("{name}.new"));
        private_options().write(true).create(true).truncate(true).open(&draft)?.write_all(bytes)?;
        std::fs::rename(&draft, self.path())
    }
}

/// Reads and concatenates byte ranges of a file. They are relative to `start`. Returns an error if the file is shorter.
fn read_runs(file: &mut File, start: u64, runs: &[Range<u64>]) -> io::Result<Vec<u8>> {
    let size: u64 = runs.iter().map(|run| run.end - run.start).sum();
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    for run in runs {
        file.seek(SeekFrom::Start(start + run.start))?;
        let len = run.end - run.start;
        if (&mut *file).take(len).read_to_end(&mut bytes)? as u64 != len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(bytes)
}
