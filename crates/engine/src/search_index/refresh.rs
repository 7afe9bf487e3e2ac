//! Brings the index up to date: what changed is read, what grew is read from where it was left, the rest stays.

use std::collections::HashMap;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use rethread_core::query::SearchDocBuilder;
use xxhash_rust::xxh3::Xxh3;

use super::manifest::{IndexedFile, Manifest};
use super::segment::{Segment, SegmentBuilder, put_calls, take_calls};
use super::store::SearchIndex;
use crate::cache::cache_dir::code_fingerprint;
use crate::cache::paged_file::IndexError;
use crate::disk::{FileOwner, SessionFile, last_line_end, open, read_docs};

/// A builder that has grown so large is written.
const FULL: usize = 64 << 20;

/// Something to do to bring the index up to date.
#[derive(Debug)]
pub(crate) enum PendingFile<'f> {
    /// A file that is not known, or not as it was: it is read whole.
    Read(&'f SessionFile),
    /// A file that has more lines than before.
    Grown(&'f SessionFile, &'f IndexedFile),
}

impl PendingFile<'_> {
    fn found(&self) -> &SessionFile {
        match self {
            PendingFile::Read(found) | PendingFile::Grown(found, _) => found,
        }
    }

    /// Returns how many bytes are to be read.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            PendingFile::Read(found) => found.mark.len,
            PendingFile::Grown(found, row) => found.mark.len.saturating_sub(row.bytes),
        }
    }
}

/// What there is to do.
#[derive(Debug, Default)]
pub(crate) struct RefreshPlan<'f> {
    /// Rows that stay as they are.
    kept: Vec<&'f IndexedFile>,
    pub(crate) changes: Vec<PendingFile<'f>>,
    /// How many files are gone.
    pub(crate) gone: usize,
}

impl<'f> RefreshPlan<'f> {
    /// Compares the catalog with what is there. Both are in the order of their paths.
    pub(crate) fn of(catalog: &'f Manifest, files: &'f [SessionFile]) -> RefreshPlan<'f> {
        let mut agenda = RefreshPlan::default();
        let mut known = 0;
        for (found, row) in files.iter().zip(catalog.rows(files)) {
            known += usize::from(row.is_some());
            match row {
                Some(row) if row.mark == found.mark && row.settled => agenda.kept.push(row),
                Some(row) if has_grown(row, found) => agenda.changes.push(PendingFile::Grown(found, row)),
                _ => agenda.changes.push(PendingFile::Read(found)),
            }
        }
        agenda.gone = catalog.files.len() - known;
        agenda
    }

    /// Leaves out what is too much to read at once; what is only to be looked at again stays. What is indexed of a file
    /// that has grown too much stays too: it is no answer now, but the way to one.
    pub(crate) fn fits(mut self, most: u64) -> RefreshPlan<'f> {
        let mut sum = 0;
        self.changes.sort_by_key(PendingFile::bytes);
        let RefreshPlan { kept, changes, .. } = &mut self;
        changes.retain(|change| {
            sum += change.bytes();
            if let (PendingFile::Grown(_, row), true) = (change, sum > most) {
                kept.push(row);
            }
            sum <= most
        });
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.gone == 0
    }
}

/// Whether what is indexed of a file still stands at its beginning.
fn has_grown(row: &IndexedFile, found: &SessionFile) -> bool {
    let same = row.mark.is_same_file(&found.mark) && found.mark.len >= row.bytes && !found.is_result();
    same && sum(&found.path, row.bytes).is_ok_and(|sum| sum == row.sum)
}

/// Hashes the first `bytes` of a file: all of them, because a change in the middle may leave everything else as it was.
fn sum(path: &Path, bytes: u64) -> io::Result<u64> {
    let mut part = open(path)?.take(bytes);
    let mut hasher = Xxh3::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let read = part.read(&mut buffer)?;
        if read == 0 {
            return Ok(hasher.digest());
        }
        hasher.update(&buffer[..read]);
    }
}

/// How far the work is.
#[derive(Debug, Clone, Copy, Default)]
pub struct Progress {
    /// Bytes that are done with.
    pub done: u64,
    /// Bytes in all.
    pub of: u64,
}

/// Reads what changed into new segments. Files that cannot be read are left out.
pub(crate) fn build(
    shelf: &SearchIndex,
    catalog: &Manifest,
    agenda: RefreshPlan<'_>,
    watch: &(dyn Fn(Progress) + Sync),
) -> io::Result<Manifest> {
    // Numbers of an index that was dropped may still be in somebody's hands: those of a new one begin with the time.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let begin = if catalog.next == 0 { since.as_micros() as u64 } else { catalog.next };
    let next = AtomicU64::new(begin);
    let of: u64 = agenda.changes.iter().map(PendingFile::bytes).sum();
    let RefreshPlan { kept, mut changes, .. } = agenda;
    // The largest first, so that no hand is left with one at the end; entries of one file stay together.
    changes.sort_by_key(|change| std::cmp::Reverse(change.bytes()));
    let (turn, done) = (AtomicUsize::new(0), AtomicU64::new(0));
    let made = Mutex::new((kept.into_iter().cloned().collect(), Vec::new()));
    let earlier = Earlier::of(shelf, catalog, &changes).map_err(IndexError::into_io)?;
    let work = || -> io::Result<()> {
        let mut builder = SegmentBuilder::default();
        let mut rows = Vec::new();
        while let Some(change) = changes.get(turn.fetch_add(1, Ordering::Relaxed)) {
            if let Ok(row) = read(&mut builder, change, &earlier, &next) {
                rows.push(row);
            }
            let done = done.fetch_add(change.bytes(), Ordering::Relaxed) + change.bytes();
            watch(Progress { done, of });
            if builder.size() > FULL {
                finish(shelf, std::mem::take(&mut builder), &next, &mut rows, &made)?;
            }
        }
        finish(shelf, builder, &next, &mut rows, &made)
    };
    // Half of the processors: all of them wait for the same memory, and the machine stays usable.
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = if of > 4 << 20 { cores.div_ceil(2).min(8) } else { 1 };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (1..workers).map(|_| scope.spawn(work)).collect();
        let mine = work();
        let others = workers.into_iter().map(|worker| worker.join().unwrap_or(Ok(())));
        others.fold(mine, Result::and)
    })?;
    let (mut files, mut new) = made.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    new.sort_unstable();
    let segments = catalog.segments.iter().copied().chain(new).collect();
    Ok(Manifest { code: code_fingerprint(), next: next.into_inner(), segments, files })
}

type Made = Mutex<(Vec<IndexedFile>, Vec<(u64, u64)>)>;

/// Writes a builder's segment; only then its rows count.
fn finish(
    shelf: &SearchIndex,
    builder: SegmentBuilder,
    next: &AtomicU64,
    rows: &mut Vec<IndexedFile>,
    made: &Made,
) -> io::Result<()> {
    let mut segment = None;
    if !builder.is_empty() {
        let no = next.fetch_add(1, Ordering::Relaxed);
        segment = Some((no, shelf.write_segment(no, |file| builder.write(file))?));
    }
    let mut made = made.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    made.0.append(rows);
    made.1.extend(segment);
    Ok(())
}

/// The calls in files that have grown.
#[derive(Default)]
struct Earlier {
    calls: HashMap<u64, SearchDocBuilder>,
}

impl Earlier {
    fn of(
        shelf: &SearchIndex,
        catalog: &Manifest,
        changes: &[PendingFile<'_>],
    ) -> Result<Earlier, IndexError> {
        let grown = changes.iter().filter_map(|change| match change {
            PendingFile::Grown(_, row) => Some((row.id, SearchDocBuilder::default())),
            PendingFile::Read(_) => None,
        });
        let mut calls: HashMap<u64, SearchDocBuilder> = grown.collect();
        if calls.is_empty() {
            return Ok(Earlier::default());
        }
        for (no, _) in &catalog.segments {
            let segment = Segment::open(&shelf.segment(*no))?;
            for stretch in &segment.stretches {
                let Some(cards) = calls.get_mut(&stretch.file) else { continue };
                take_calls(&segment.calls(stretch)?, |call, tool| cards.add_prior_call(call, tool))
                    .ok_or(IndexError::Changed)?;
            }
        }
        Ok(Earlier { calls })
    }
}

/// Reads what is new of a file.
fn read(
    builder: &mut SegmentBuilder,
    change: &PendingFile<'_>,
    earlier: &Earlier,
    next: &AtomicU64,
) -> io::Result<IndexedFile> {
    let found = change.found();
    let (mut row, mut cards) = match change {
        PendingFile::Read(_) => {
            let id = next.fetch_add(1, Ordering::Relaxed);
            (IndexedFile::new(id, found), SearchDocBuilder::default())
        }
        PendingFile::Grown(_, row) => {
            (IndexedFile::clone(row), earlier.calls.get(&row.id).cloned().unwrap_or_default())
        }
    };
    row.mark = found.mark;
    row.settled = found.settled;
    let end = if found.is_result() { found.mark.len } else { last_line_end(&found.path, found.mark.len)? };
    if end == row.bytes {
        return Ok(row);
    }
    builder.begin(row.id);
    let (bytes, lines) = (row.bytes..end, row.lines);
    let read = read_docs(
        &|| true,
        found,
        bytes,
        lines,
        &mut cards,
        |_| true,
        |card, place| {
            row.origin.learn(card);
            builder.add(card, place);
        },
    );
    builder.end(&put_calls(&cards));
    row.lines = read?;
    row.bytes = end;
    row.sum = sum(&found.path, end)?;
    Ok(row)
}

impl IndexedFile {
    fn new(id: u64, found: &SessionFile) -> IndexedFile {
        IndexedFile {
            id,
            path: found.path.clone(),
            mark: found.mark,
            settled: false,
            bytes: 0,
            lines: 0,
            sum: 0,
            origin: FileOwner::of(found),
            agent: found.is_agent(),
        }
    }
}
