//! Brings the index up to date: indexes new and changed files, and only the new lines of files that have grown.

use std::collections::HashMap;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use rethread_core::query::SearchDocBuilder;
use xxhash_rust::xxh3::Xxh3;

use super::manifest::{IndexedFile, Manifest};
use super::segment::{Segment, SegmentBuilder, decode_calls, encode_calls};
use super::store::SearchIndex;
use crate::cache::{IndexError, code_fingerprint};
use crate::disk::{FileOwner, ScanOptions, SessionFile, find_last_line_end, open_content, read_docs};

/// A segment is written when its builder uses this much memory.
const MAX_BUILDER_BYTES: usize = 64 << 20;
/// With fewer bytes to read, a single thread is used.
const MIN_PARALLEL_BYTES: u64 = 4 << 20;
/// The largest number of worker threads.
const MAX_WORKERS: usize = 8;

/// A file to index.
#[derive(Debug)]
pub(crate) enum PendingFile<'f> {
    /// A new or changed file, indexed from its start.
    New(&'f SessionFile),
    /// A file to which lines were appended.
    Grown(&'f SessionFile, &'f IndexedFile),
}

impl PendingFile<'_> {
    fn file(&self) -> &SessionFile {
        match self {
            PendingFile::New(file) | PendingFile::Grown(file, _) => file,
        }
    }

    /// Returns the number of bytes to read: the whole file, or the appended bytes.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            PendingFile::New(file) => file.fingerprint.len,
            PendingFile::Grown(file, indexed) => file.fingerprint.len.saturating_sub(indexed.bytes),
        }
    }
}

/// The files that differ from the manifest.
#[derive(Debug, Default)]
pub(crate) struct RefreshPlan<'f> {
    /// The entries of the manifest that remain valid or are not updated now.
    unchanged: Vec<&'f IndexedFile>,
    pub(crate) pending: Vec<PendingFile<'f>>,
    /// The number of indexed files that no longer exist.
    pub(crate) deleted: usize,
}

impl<'f> RefreshPlan<'f> {
    /// Compares the manifest with the files on disk. Both must be sorted by path. Reads files that may have grown.
    pub(crate) fn new(manifest: &'f Manifest, files: &'f [SessionFile]) -> RefreshPlan<'f> {
        let mut plan = RefreshPlan::default();
        let mut existing = 0;
        for (file, indexed) in files.iter().zip(manifest.find_files(files)) {
            existing += usize::from(indexed.is_some());
            match indexed {
                Some(indexed) if indexed.fingerprint == file.fingerprint && indexed.is_stable => {
                    plan.unchanged.push(indexed);
                }
                Some(indexed) if has_grown(indexed, file) => {
                    plan.pending.push(PendingFile::Grown(file, indexed));
                }
                _ => plan.pending.push(PendingFile::New(file)),
            }
        }
        plan.deleted = manifest.files.len() - existing;
        plan
    }

    /// Drops the changes that exceed `max_bytes` bytes to read. Small files take precedence. A grown file that is dropped
    /// keeps its old index data: it is not used for searches, but the next refresh starts from it.
    pub(crate) fn limit_to(mut self, max_bytes: u64) -> RefreshPlan<'f> {
        let mut total = 0;
        self.pending.sort_by_key(PendingFile::bytes);
        let RefreshPlan { unchanged, pending, .. } = &mut self;
        pending.retain(|file| {
            total += file.bytes();
            if let (PendingFile::Grown(_, indexed), true) = (file, total > max_bytes) {
                unchanged.push(indexed);
            }
            total <= max_bytes
        });
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pending.is_empty() && self.deleted == 0
    }
}

/// Returns `true` if the indexed bytes are still the start of the file, and it is not a stored tool result. Returns `false`
/// if the file cannot be read.
fn has_grown(indexed: &IndexedFile, file: &SessionFile) -> bool {
    let is_longer = indexed.fingerprint.may_be_same_file(&file.fingerprint)
        && file.fingerprint.len >= indexed.bytes
        && !file.is_result();
    is_longer && hash_prefix(&file.path, indexed.bytes).is_ok_and(|hash| hash == indexed.hash)
}

/// Hashes the first `len` bytes of a file. All of them are read, because an edit in the middle may change nothing else.
fn hash_prefix(path: &Path, len: u64) -> io::Result<u64> {
    let mut prefix = open_content(path)?.take(len);
    let mut hasher = Xxh3::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let read = prefix.read(&mut buffer)?;
        if read == 0 {
            return Ok(hasher.digest());
        }
        hasher.update(&buffer[..read]);
    }
}

/// The progress of indexing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Progress {
    /// The number of bytes indexed so far.
    pub done: u64,
    /// The total number of bytes to index.
    pub total: u64,
}

/// Indexes the pending files into new segments. Returns a manifest with the old and the new segments. Files that cannot be
/// read are not in it, so that the next refresh tries them again.
pub(crate) fn index_pending_files(
    index: &SearchIndex,
    manifest: &Manifest,
    plan: RefreshPlan<'_>,
    on_progress: &(dyn Fn(Progress) + Sync),
) -> io::Result<Manifest> {
    // Readers may still use ids of an index that was deleted: the ids of a new one start at the current time.
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let first_id = if manifest.next_id == 0 { since_epoch.as_micros() as u64 } else { manifest.next_id };
    let next_id = AtomicU64::new(first_id);
    let total: u64 = plan.pending.iter().map(PendingFile::bytes).sum();
    let RefreshPlan { unchanged, mut pending, .. } = plan;
    // Largest first, so that no worker starts a large file last. The entries of a file stay in one segment.
    pending.sort_by_key(|file| std::cmp::Reverse(file.bytes()));
    let (next_pending, done) = (AtomicUsize::new(0), AtomicU64::new(0));
    let output = Mutex::new((unchanged.into_iter().cloned().collect(), Vec::new()));
    let prior_calls = PriorCalls::read(index, manifest, &pending).map_err(IndexError::into_io)?;
    let work = || -> io::Result<()> {
        let mut builder = SegmentBuilder::default();
        let mut indexed = Vec::new();
        while let Some(file) = pending.get(next_pending.fetch_add(1, Ordering::Relaxed)) {
            indexed.extend(index_file(&mut builder, file, &prior_calls, &next_id));
            let done = done.fetch_add(file.bytes(), Ordering::Relaxed) + file.bytes();
            on_progress(Progress { done, total });
            if builder.memory_size() > MAX_BUILDER_BYTES {
                flush_segment(index, std::mem::take(&mut builder), &next_id, &mut indexed, &output)?;
            }
        }
        flush_segment(index, builder, &next_id, &mut indexed, &output)
    };
    // Half of the processors: the work is bound by memory bandwidth, and the machine stays responsive.
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = if total > MIN_PARALLEL_BYTES { cores.div_ceil(2).min(MAX_WORKERS) } else { 1 };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (1..workers).map(|_| scope.spawn(work)).collect();
        let own_result = work();
        let results = workers.into_iter().map(|worker| worker.join().unwrap_or(Ok(())));
        results.fold(own_result, Result::and)
    })?;
    let (mut files, mut new_segments) =
        output.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    new_segments.sort_unstable();
    let segments = manifest.segments.iter().copied().chain(new_segments).collect();
    Ok(Manifest { code: code_fingerprint(), next_id: next_id.into_inner(), segments, files })
}

/// The indexed files and the ids and sizes of the segments written so far.
type RefreshOutput = Mutex<(Vec<IndexedFile>, Vec<(u64, u64)>)>;

/// Writes the segment of a builder if it has docs, then moves the files in `indexed` and the segment to the output.
fn flush_segment(
    index: &SearchIndex,
    builder: SegmentBuilder,
    next_id: &AtomicU64,
    indexed: &mut Vec<IndexedFile>,
    output: &RefreshOutput,
) -> io::Result<()> {
    let mut segment = None;
    if !builder.is_empty() {
        let id = next_id.fetch_add(1, Ordering::Relaxed);
        segment = Some((id, index.write_segment(id, |file| builder.write(file))?));
    }
    let mut output = output.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    output.0.append(indexed);
    output.1.extend(segment);
    Ok(())
}

/// The tool calls in the indexed lines of files that have grown: their results may be in the new lines.
#[derive(Default)]
struct PriorCalls {
    by_file: HashMap<u64, SearchDocBuilder>,
}

impl PriorCalls {
    /// Reads the tool calls of the grown files among `pending` from all segments.
    fn read(
        index: &SearchIndex,
        manifest: &Manifest,
        pending: &[PendingFile<'_>],
    ) -> Result<PriorCalls, IndexError> {
        let grown = pending.iter().filter_map(|file| match file {
            PendingFile::Grown(_, indexed) => Some((indexed.id, SearchDocBuilder::default())),
            PendingFile::New(_) => None,
        });
        let mut by_file: HashMap<u64, SearchDocBuilder> = grown.collect();
        if by_file.is_empty() {
            return Ok(PriorCalls::default());
        }
        for (id, _) in &manifest.segments {
            let segment = Segment::open(&index.segment_path(*id))?;
            for range in &segment.doc_ranges {
                let Some(builder) = by_file.get_mut(&range.file) else { continue };
                decode_calls(&segment.read_calls(range)?, |call, tool| builder.add_prior_call(call, tool))
                    .ok_or(IndexError::Corrupt)?;
            }
        }
        Ok(PriorCalls { by_file })
    }
}

/// Adds the complete lines of a file that are not yet indexed to a segment. Returns the new manifest entry of the file.
fn index_file(
    segment: &mut SegmentBuilder,
    pending: &PendingFile<'_>,
    prior_calls: &PriorCalls,
    next_id: &AtomicU64,
) -> io::Result<IndexedFile> {
    let file = pending.file();
    let (mut indexed, mut docs) = match pending {
        PendingFile::New(_) => {
            let id = next_id.fetch_add(1, Ordering::Relaxed);
            (IndexedFile::new(id, file), SearchDocBuilder::default())
        }
        PendingFile::Grown(_, indexed) => {
            (IndexedFile::clone(indexed), prior_calls.by_file.get(&indexed.id).cloned().unwrap_or_default())
        }
    };
    indexed.fingerprint = file.fingerprint;
    indexed.is_stable = file.is_stable;
    let len = file.fingerprint.len;
    let end = if file.is_result() { len } else { find_last_line_end(&file.path, len)? };
    if end == indexed.bytes {
        return Ok(indexed);
    }
    segment.start_file(indexed.id);
    let options = ScanOptions::exact_range(indexed.bytes..end, indexed.lines);
    let last_line = read_docs(file, &options, &mut docs, |doc, span| {
        indexed.owner.fill_missing(doc);
        segment.add_doc(doc, span);
    });
    segment.end_file(&encode_calls(&docs));
    indexed.lines = last_line?;
    indexed.bytes = end;
    indexed.hash = hash_prefix(&file.path, end)?;
    Ok(indexed)
}

impl IndexedFile {
    fn new(id: u64, file: &SessionFile) -> IndexedFile {
        IndexedFile {
            id,
            path: file.path.clone(),
            fingerprint: file.fingerprint,
            is_stable: false,
            bytes: 0,
            lines: 0,
            hash: 0,
            owner: FileOwner::from_path(file),
            is_agent: file.is_agent(),
        }
    }
}
