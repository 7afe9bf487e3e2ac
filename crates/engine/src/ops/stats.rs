//! Counts over a session's family or a whole store.

use rayon::prelude::*;
use rethread_core::id::Id;
use rethread_core::stats::{Counts, FileCounts, Tally};
use rethread_core::tree::Weaver;
use rethread_core::turn::Pairs;

use super::agents::family;
use crate::Failure;
use crate::disk::{Roots, Seen, SessionFile, find, scan};

/// What was counted.
#[derive(Debug, Default)]
pub struct Stats {
    /// The sums.
    pub counts: Counts,
    /// The counts of each file by path below its root, where they were asked for.
    pub files: Vec<(String, FileCounts)>,
    /// Files and folders that could not be read.
    pub failures: Vec<Failure>,
}

/// Counts everything under `roots`, or the families of single session files; `by_file` keeps each file's counts.
pub fn stats(roots: &Roots, by_file: bool) -> Stats {
    let (found, failures) = find(roots);
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
    // An ordered reduction: each merge joins neighbours, so later paths stay later.
    let mut stats =
        files.par_iter().map(|file| count(file, by_file)).reduce(Stats::default, |mut earlier, later| {
            earlier.counts.merge(later.counts);
            earlier.files.extend(later.files);
            earlier.failures.extend(later.failures);
            earlier
        });
    stats.failures.extend(failures);
    stats
}

fn count(file: &SessionFile, by_file: bool) -> Stats {
    let mut tally = Tally::new(Id::of(file.path.as_os_str().as_encoded_bytes()));
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
    match scanned {
        Ok(scan) => {
            let counts = tally.finish(scan.bytes, &weaver.finish(), &pairs, &scan.problems);
            let path = file.path.strip_prefix(&file.root).unwrap_or(&file.path);
            let files = by_file.then(|| (path.display().to_string(), counts.total.clone()));
            Stats { counts, files: files.into_iter().collect(), failures: Vec::new() }
        }
        Err(error) => Stats { failures: vec![Failure::reading(&file.path)(error)], ..Stats::default() },
    }
}
