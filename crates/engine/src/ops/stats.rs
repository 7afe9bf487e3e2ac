//! Counts entries, blocks and tokens of a session with its subagents, or of a whole store.

use rayon::prelude::*;
use rethread_core::stats::{FileCalls, FileCounts, StatsCollector, StoreCounts};
use rethread_core::tree::TreeBuilder;
use rethread_core::turn::ToolCallIndex;

use super::agents::find_agent_files;
use crate::Error;
use crate::cache::{CacheDir, CacheKind, CacheWarning, NewCacheEntry};
use crate::disk::{Roots, ScanEvent, ScanOptions, SessionFile, scan};
use crate::session::per_file_cache::{PerFileCache, find_files};

/// Counts of entries, blocks and tokens.
#[derive(Debug, Default)]
pub struct StatsReport {
    /// The sums over all files.
    pub counts: StoreCounts,
    /// The counts of each file, sorted by path. Empty unless requested.
    pub files: Vec<FileStats>,
    /// Files and folders that could not be read.
    pub failures: Vec<Error>,
    /// The reason why the cache could not be used. `None` if there was no problem.
    pub warning: Option<CacheWarning>,
}

/// The counts of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStats {
    /// The path of the file relative to its root.
    pub path: String,
    /// The counts of entries, blocks and tokens.
    pub counts: FileCounts,
}

/// The counts of adjacent files, and the cache entries of those that were read.
#[derive(Default)]
struct PartialStats {
    stats: StatsReport,
    new_entries: Vec<NewCacheEntry>,
}

/// Counts the entries, blocks and tokens of all files under `roots`. A root that is a session file includes its subagents.
///
/// With `by_file`, the counts of each file are also returned. Unchanged files are not read again: their counts are cached.
pub fn collect_stats(roots: &Roots, by_file: bool, cache: Option<&CacheDir>) -> StatsReport {
    let (found, failures) = find_files(roots, cache);
    let mut files = Vec::with_capacity(found.len());
    let is_root: Vec<bool> = found.iter().map(|file| roots.paths.contains(&file.path)).collect();
    for (file, is_root) in found.into_iter().zip(is_root) {
        if is_root {
            files.extend(find_agent_files(&file));
        }
        files.push(file);
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.dedup_by(|a, b| a.path == b.path);
    let file_cache = PerFileCache::new(cache, roots, CacheKind::Stats, &files);
    let read_part = |idx: usize| {
        let (counts, new_entries) = file_cache.get_or_read(idx, count_file);
        PartialStats {
            stats: StatsReport::from_file(&files[idx], counts, by_file),
            new_entries: new_entries.into_iter().collect(),
        }
    };
    // The reduction is ordered: each merge joins adjacent files, so the paths stay sorted.
    let PartialStats { mut stats, new_entries } = (0..files.len()).into_par_iter().map(read_part).reduce(
        PartialStats::default,
        |mut earlier, later| {
            earlier.stats.counts.merge(later.stats.counts);
            earlier.stats.files.extend(later.stats.files);
            earlier.stats.failures.extend(later.stats.failures);
            earlier.new_entries.extend(later.new_entries);
            earlier
        },
    );
    stats.warning = file_cache.store_entries(new_entries);
    stats.failures.extend(failures);
    stats
}

/// Returns the tool calls of each file, in the order of the files, from the cache if possible. Also returns the errors of
/// unreadable files, whose lists are empty, and a warning if the cache could not be used.
pub(super) fn read_file_calls(
    files: &[SessionFile],
    roots: &Roots,
    cache: Option<&CacheDir>,
) -> (Vec<FileCalls>, Vec<Error>, Option<CacheWarning>) {
    let (results, warning) = PerFileCache::new(cache, roots, CacheKind::Stats, files).read_all(count_file);
    let mut failures = Vec::new();
    let mut take_calls = |result: Result<StoreCounts, Error>| match result {
        Ok(mut counts) => counts.take_file_calls().pop().unwrap_or_default(),
        Err(failure) => {
            failures.push(failure);
            FileCalls::default()
        }
    };
    let calls = results.into_iter().map(&mut take_calls).collect();
    (calls, failures, warning)
}

impl StatsReport {
    /// Creates the report of one file. It contains only the failure if the file could not be read.
    fn from_file(file: &SessionFile, counts: Result<StoreCounts, Error>, by_file: bool) -> StatsReport {
        match counts {
            Ok(counts) => {
                let path = file.path.strip_prefix(&file.root).unwrap_or(&file.path);
                let files = by_file
                    .then(|| FileStats { path: path.display().to_string(), counts: counts.total.clone() });
                StatsReport { counts, files: files.into_iter().collect(), ..StatsReport::default() }
            }
            Err(failure) => StatsReport { failures: vec![failure], ..StatsReport::default() },
        }
    }
}

/// Counts the entries, blocks and tokens of one file. Also returns the number of bytes read.
fn count_file(file: &SessionFile) -> Result<(StoreCounts, u64), Error> {
    let mut stats = StatsCollector::new(file.path_id(), file.session_id().unwrap_or_default());
    let mut tree = TreeBuilder::with_capacity_for(file.len);
    let mut tool_calls = ToolCallIndex::default();
    let scan_result = scan(&file.path, &ScanOptions::default(), |event| match event {
        // Recovered entries are reported by their lines, not counted as if they were intact.
        ScanEvent::Entry(entry, span, true) => {
            tree.add_and_visit(entry, span, &mut (&mut tool_calls, &mut stats));
        }
        ScanEvent::Entry(..) => {}
        ScanEvent::Line(status) => stats.add_line(status),
    });
    let scan = scan_result.map_err(Error::reading(&file.path))?;
    Ok((stats.finish(scan.bytes, &tree.finish(), &tool_calls, &scan.problems), scan.bytes))
}
