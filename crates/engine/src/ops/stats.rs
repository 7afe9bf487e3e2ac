//! Counts over a session's family or a whole store.

use rayon::prelude::*;
use rethread_core::stats::{Counts, FileCounts, Tally};
use rethread_core::tree::Weaver;
use rethread_core::turn::Pairs;

use super::agents::family;
use super::recall::{Recall, find_files};
use crate::Failure;
use crate::disk::{Roots, Seen, SessionFile, scan};
use crate::index::{Fresh, Index, Notice};

/// What was counted.
#[derive(Debug, Default)]
pub struct Stats {
    /// The sums.
    pub counts: Counts,
    /// The counts of each file by path below its root, where they were asked for.
    pub files: Vec<(String, FileCounts)>,
    /// Files and folders that could not be read.
    pub failures: Vec<Failure>,
    /// Why the index was of no help, where there is something to say.
    pub notice: Option<Notice>,
}

/// Counts of files that lie beside each other.
#[derive(Default)]
struct Part {
    stats: Stats,
    fresh: Vec<Fresh>,
}

/// Counts everything under `roots`, or the families of single session files; `by_file` keeps each file's counts. Files that
/// have not changed since an index was kept are not read again.
pub fn stats(roots: &Roots, by_file: bool, index: Option<&Index>) -> Stats {
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
    let recall = Recall::new(index, roots, "counts", &files);
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
    fn of(file: &SessionFile, counts: Result<Counts, Failure>, by_file: bool) -> Stats {
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
fn count(file: &SessionFile) -> Result<(Counts, u64), Failure> {
    let mut tally = Tally::new(file.id(), file.session().unwrap_or_default());
    let mut weaver = Weaver::sized(file.len);
    let mut pairs = Pairs::default();
    let scanned = scan(&file.path, |seen| match seen {
        // What had to be salvaged is told as such, not counted as if it were whole.
        Seen::Entry(entry, place, true) => {
            weaver.add(entry, place);
            pairs.add(entry, place);
            tally.add(entry);
        }
        Seen::Entry(..) => {}
        Seen::Line(fate) => tally.line(fate),
    });
    let scan = scanned.map_err(Failure::reading(&file.path))?;
    Ok((tally.finish(scan.bytes, &weaver.finish(), &pairs, &scan.problems), scan.bytes))
}
