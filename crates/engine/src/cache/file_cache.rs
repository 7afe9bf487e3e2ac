//! What was read from files, by their paths and marks; the facts of a file whose mark is the same are as good as reading it.
//!
//! ```text
//! head    magic, code, length of table and blobs, checksum of head and table
//! table   path, mark, place and checksum of a blob, for each file in the order of their paths
//! blobs   one packed value after the other
//! ```
//!
//! The table is read first, then only the blobs that are asked for. A stale mark is never used: a file that was not yet
//! settled when it was read is not kept at all.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::PathBuf;

use rethread_core::id::{Id, IdMap};
use rethread_core::pack::{Pack, Unpacker};
use rethread_core::pack_fields;

use super::cache_dir::{self, CacheDir, code_fingerprint, private};
use super::lock::Lock;
use super::warning::CacheWarning;
use crate::disk::{FileFingerprint, Roots, SessionFile};

/// What a file of facts begins with.
const MAGIC: [u8; 8] = *b"rethread";
/// Bytes of the head.
const HEAD: usize = 36;
/// How often what was asked for of a single file is asked for again, at a guess.
const AGAIN: u64 = 8;
/// What it costs to open a file, in bytes that could be read meanwhile.
const OPENING: u64 = 16 << 10;

/// Facts of one kind about the files below some roots.
#[derive(Debug)]
pub(crate) struct FileCache {
    folder: PathBuf,
    /// The name of their file.
    name: &'static str,
    table: IdMap<Row>,
    /// Where blobs are read from, and where they begin.
    file: Option<(File, u64)>,
    /// The blobs that were asked for.
    blobs: Vec<u8>,
    /// Where among them the facts of each file are that was asked for, by its number.
    known: Vec<Option<Range<usize>>>,
    damaged: bool,
}

/// Facts of a file that was read just now.
#[derive(Debug)]
pub(crate) struct NewCacheEntry {
    /// The number of the file.
    pub(crate) no: usize,
    /// How many bytes had to be read for it.
    pub(crate) cost: u64,
    /// What is to be kept.
    pub(crate) blob: Vec<u8>,
}

/// Where the facts of a file lie.
#[derive(Debug, Clone, Copy)]
struct Row {
    mark: FileFingerprint,
    /// Behind the table.
    offset: u64,
    len: usize,
    sum: u32,
}

pack_fields!(Row { mark, offset, len, sum });

impl CacheDir {
    /// Opens the facts called `name` about the files below `roots`, and loads those about `files`.
    pub(crate) fn facts(
        &self,
        roots: &Roots,
        name: &'static str,
        files: &[SessionFile],
    ) -> Option<FileCache> {
        let mut facts = FileCache::open(self.folder_for(roots)?, name);
        facts.load(files);
        Some(facts)
    }
}

impl CacheDir {
    /// Opens the facts called `name` to be asked about single files below `roots`.
    pub(crate) fn single_facts(&self, roots: &Roots, name: &'static str) -> Option<FileCache> {
        Some(FileCache::open(self.folder_for(roots)?, name))
    }
}

impl FileCache {
    /// Returns what is known of one file, by reading just that.
    pub(crate) fn get_one<T: Pack>(&mut self, file: &SessionFile) -> Option<T> {
        let row = self.table.get(&file.id()).copied().filter(|row| file.settled && row.mark == file.mark)?;
        let (facts, begin) = self.file.as_mut()?;
        let place = row.offset..row.offset + row.len as u64;
        let blob = read_runs(facts, *begin, std::slice::from_ref(&place)).ok();
        let blob = blob.filter(|blob| crc32fast::hash(blob) == row.sum);
        self.damaged |= blob.is_none();
        T::unpacked(&blob?)
    }

    /// Keeps what was read just now of single files beside what is known of all; says what went wrong.
    pub(crate) fn add(mut self, files: &[SessionFile], fresh: Vec<NewCacheEntry>) -> Option<CacheWarning> {
        if fresh.is_empty() && !self.damaged {
            return None;
        }
        self.load(files);
        // What was asked for once will be asked for again: it is worth more than what it cost.
        let fresh = fresh.into_iter().map(|fresh| NewCacheEntry { cost: fresh.cost * AGAIN, ..fresh });
        self.keep(files, fresh.collect())
    }

    fn open(folder: PathBuf, name: &'static str) -> FileCache {
        let mut facts = FileCache {
            folder,
            name,
            table: IdMap::default(),
            file: None,
            blobs: Vec::new(),
            known: Vec::new(),
            damaged: false,
        };
        // What is not there is not damaged.
        if let Ok(mut file) = crate::disk::open(&facts.path()) {
            match facts.read_table(&mut file) {
                Ok(Some((table, begin))) => {
                    facts.table = table;
                    facts.file = Some((file, begin));
                }
                Ok(None) => {}
                Err(_) => facts.damaged = true,
            }
        }
        facts
    }

    fn path(&self) -> PathBuf {
        self.folder.join(self.name)
    }

    /// Reads the table and where the blobs begin; `None` where other code made it.
    fn read_table(&self, file: &mut File) -> io::Result<Option<(IdMap<Row>, u64)>> {
        let bad = || io::Error::from(io::ErrorKind::InvalidData);
        let len = file.metadata()?.len();
        let mut head = [0; HEAD];
        file.read_exact(&mut head)?;
        let mut from = Unpacker::new(&head);
        let mut number = || from.array().map(u64::from_le_bytes);
        let [Some(magic), Some(code), Some(table), Some(blobs)] = [number(), number(), number(), number()]
        else {
            return Err(bad());
        };
        if magic != u64::from_le_bytes(MAGIC) {
            return Err(bad());
        }
        if code != cache_dir::code_fingerprint() {
            return Ok(None);
        }
        let begin = table.checked_add(HEAD as u64).filter(|begin| begin.checked_add(blobs) == Some(len));
        let (begin, table) = begin.zip(usize::try_from(table).ok()).ok_or_else(bad)?;
        let mut bytes = vec![0; table];
        file.read_exact(&mut bytes)?;
        if head[HEAD - 4..] != self.checksum(&head[..HEAD - 4], &bytes).to_le_bytes() {
            return Err(bad());
        }
        let rows = Vec::<(Id, Row)>::unpacked(&bytes).ok_or_else(bad)?;
        let inside = |row: &Row| row.offset.checked_add(row.len as u64).is_some_and(|end| end <= blobs);
        if !rows.iter().all(|(_, row)| inside(row)) {
            return Err(bad());
        }
        Ok(Some((rows.into_iter().collect(), begin)))
    }

    /// Sums up a head and a table; facts of another name have another sum.
    fn checksum(&self, head: &[u8], table: &[u8]) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        [head, self.name.as_bytes(), table].iter().for_each(|part| hasher.update(part));
        hasher.finalize()
    }

    /// Reads the blobs of files that have not changed.
    fn load(&mut self, files: &[SessionFile]) {
        let unchanged = |file: &SessionFile| {
            self.table.get(&file.id()).copied().filter(|row| file.settled && row.mark == file.mark)
        };
        let rows: Vec<Option<Row>> = files.iter().map(unchanged).collect();
        // Blobs that lie side by side are read at once.
        let mut runs: Vec<Range<u64>> = Vec::new();
        for row in rows.iter().flatten() {
            let end = row.offset + row.len as u64;
            match runs.last_mut() {
                Some(run) if run.end == row.offset => run.end = end,
                _ => runs.push(row.offset..end),
            }
        }
        if let Some((file, begin)) = &mut self.file {
            let read = read_runs(file, *begin, &runs);
            self.damaged |= read.is_err();
            self.blobs = read.unwrap_or_default();
        }
        let mut at = 0;
        for row in rows {
            let place = row.and_then(|row| {
                let place = at..at + row.len;
                at = place.end;
                let sound =
                    self.blobs.get(place.clone()).is_some_and(|blob| crc32fast::hash(blob) == row.sum);
                self.damaged |= !sound;
                sound.then_some(place)
            });
            self.known.push(place);
        }
    }

    /// Returns of how many files something is known.
    pub(crate) fn known(&self) -> usize {
        self.known.iter().flatten().count()
    }

    /// Returns the packed facts of the file with this number.
    fn blob(&self, no: usize) -> Option<&[u8]> {
        self.blobs.get(self.known.get(no)?.clone()?)
    }

    /// Returns what is known of the file with this number.
    pub(crate) fn get<T: Pack>(&self, no: usize) -> Option<T> {
        T::unpacked(self.blob(no)?)
    }

    /// Returns the beginning of what is known of the file with this number.
    pub(crate) fn get_first<T: Pack>(&self, no: usize) -> Option<T> {
        T::unpack(&mut Unpacker::new(self.blob(no)?))
    }

    /// Keeps what was read just now beside what was known, where that is worth the writing; says what went wrong. Facts
    /// of files that are gone or have changed go.
    pub(crate) fn keep(mut self, files: &[SessionFile], fresh: Vec<NewCacheEntry>) -> Option<CacheWarning> {
        let path = self.path();
        let cost: u64 = fresh.iter().map(|fresh| fresh.cost + OPENING).sum();
        for NewCacheEntry { no, blob, .. } in fresh.into_iter().filter(|fresh| files[fresh.no].settled) {
            let place = self.blobs.len()..self.blobs.len() + blob.len();
            self.blobs.extend_from_slice(&blob);
            self.known[no] = Some(place);
        }
        let kept: Vec<usize> = (0..files.len()).filter(|&no| self.known[no].is_some()).collect();
        let size: usize = kept.iter().filter_map(|&no| self.blob(no)).map(<[u8]>::len).sum();
        // A session that is being written changes with every call: it is read again, which costs less than to write the
        // facts of all others again.
        let worth = cost >= size as u64 || kept.len() < self.table.len() / 2;
        if worth || self.damaged {
            let bytes = self.compose(files, &kept, size);
            if let Err(source) = self.replace(&bytes) {
                return Some(CacheWarning::Unwritable { path, source });
            }
        }
        self.damaged.then_some(CacheWarning::Damaged { path })
    }

    /// Puts a whole file of facts together.
    fn compose(&self, files: &[SessionFile], kept: &[usize], size: usize) -> Vec<u8> {
        let mut offset = 0;
        let mut rows: Vec<(Id, Row)> = Vec::with_capacity(kept.len());
        for &no in kept {
            let blob = self.blob(no).unwrap_or_default();
            let row = Row { mark: files[no].mark, offset, len: blob.len(), sum: crc32fast::hash(blob) };
            rows.push((files[no].id(), row));
            offset += blob.len() as u64;
        }
        let table = rows.packed();
        let mut bytes = Vec::with_capacity(HEAD + table.len() + size);
        for number in [u64::from_le_bytes(MAGIC), code_fingerprint(), table.len() as u64, offset] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        let sum = self.checksum(&bytes, &table);
        bytes.extend_from_slice(&sum.to_le_bytes());
        bytes.extend_from_slice(&table);
        kept.iter().filter_map(|&no| self.blob(no)).for_each(|blob| bytes.extend_from_slice(blob));
        bytes
    }

    /// Puts new facts in the place of the old, unless another process is just doing so.
    fn replace(&self, bytes: &[u8]) -> io::Result<()> {
        let Some(_lock) = Lock::take(&self.folder, self.name)? else { return Ok(()) };
        let draft = self.folder.join(format!("{}.new", self.name));
        private().write(true).create(true).truncate(true).open(&draft)?.write_all(bytes)?;
        std::fs::rename(&draft, self.path())
    }
}

/// Reads stretches of a file, counted from `begin`, one behind the other.
fn read_runs(file: &mut File, begin: u64, runs: &[Range<u64>]) -> io::Result<Vec<u8>> {
    let size: u64 = runs.iter().map(|run| run.end - run.start).sum();
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    for run in runs {
        file.seek(SeekFrom::Start(begin + run.start))?;
        let len = run.end - run.start;
        if (&mut *file).take(len).read_to_end(&mut bytes)? as u64 != len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(bytes)
}
