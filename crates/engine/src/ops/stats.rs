//! Counts over a session's family or a whole store.

use rayon::prelude::*;
use rethread_core::stats::{Counts, FileCounts, StatsCollector};
use rethread_core::tree::TreeBuilder;
use rethread_core::turn::ToolCallIndex;

use super::agents::family;
use crate::Error;
use crate::cache::{CacheDir, CacheWarning, NewCacheEntry};
use crate::disk::{Roots, ScanEvent, SessionFile, scan};
use crate::session::per_file_cache::{PerFileCache, find_files};

/// What was counted.
#[derive(Debug, Default)]
pub struct Stats {
    /// The sums.
    pub counts: Counts,
    /// The counts of each file by path below its root, where they were asked for.
    pub files: Vec<(String, FileCounts)>,
    /// Files and folders that could not be read.
    pub failures: Vec<Error>,
    /// Why the index was of no help, where there is something to say.
    pub notice: Option<CacheWarning>,
}

/// Counts of files that lie beside each other.
#[derive(Default)]
struct Part {
    stats: Stats,
    fresh: Vec<NewCacheEntry>,
}

/// Counts everything under `roots`, or the families of single session files; `by_file` keeps each file's counts. Files that
/// have not changed since an index was kept are not read again.
pub fn stats(roots: &Roots, by_file: bool, index: Option<&CacheDir>) -> Stats {
    let (found, failures) = find_files(roots, index);
    let mut files = Vec::with_capacity(found.len());
    let single: Vec<bool> = found.iter().map(|file| roots.paths.contains(&file.path)).collect();
    for (file, single) in found.into_iter().zip(single) {
        if single {
            files.extend(family(&file));
        }
        files.push(file);
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.dedup_by(|a, b| a.path == b.path);
    let recall = PerFileCache::new(index, roots, "counts", &files);
    let part = |no: usize| {
        let (counts, fresh) = recall.value(no, count);
        Part { stats: Stats::of(&files[no], counts, by_file), fresh: fresh.into_iter().collect() }
    };
    // An ordered reduction: each merge joins neighbours, so later paths stay later.
    let Part { mut stats, fresh } =
        (0..files.len()).into_par_iter().map(part).reduce(Part::default, |mut earlier, later| {
            earlier.stats.counts.merge(later.stats.counts);
            earlier.stats.files.extend(later.stats.files);
            earlier.stats.failures.extend(later.stats.failures);
            earlier.fresh.extend(later.fresh);
            earlier
        });
    stats.notice = recall.keep(fresh);
    stats.failures.extend(failures);
    stats
}

impl Stats {
    fn of(file: &SessionFile, counts: Result<Counts, Error>, by_file: bool) -> Stats {
        match counts {
            Ok(counts) => {
                let path = file.path.strip_prefix(&file.root).unwrap_or(&file.path);
                let files = by_file.then(|| (path.display().to_string(), counts.total.clone()));
                Stats { counts, files: files.into_iter().collect(), ..Stats::default() }
            }
            Err(failure) => Stats { failures: vec![failure], ..Stats::default() },
        }
    }
}

/// Counts one file, and how many bytes had to be read for that.
fn count(file: &SessionFile) -> Result<(Counts, u64), Error> {
    let mut tally = StatsCollector::new(file.id(), file.session().unwrap_or_default());
    let mut weaver = TreeBuilder::with_capacity_for(file.len);
    let mut pairs = ToolCallIndex::default();
    let scanned = scan(&file.path, |seen| match seen {
        // What had to be salvaged is told as such, not counted as if it were whole.
        ScanEvent::Entry(entry, place, true) => {
            weaver.add(entry, place);
            pairs.add(entry, place);
            tally.add(entry);
        }
        ScanEvent::Entry(..) => {}
        ScanEvent::Line(fate) => tally.line(fate),
    });
    let scan = scanned.map_err(Error::reading(&file.path))?;
    Ok((tally.finish(scan.bytes, &weaver.finish(), &pairs, &scan.problems), scan.bytes))
}
