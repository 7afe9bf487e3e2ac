//! What `--check` proves and `--explain` lists.

use std::collections::{BTreeMap, BTreeSet};

use rethread_engine::ops::{self, GroupBy, Trace};
use rethread_testkit::spending::{Spend, StoreGenerator};

use super::expected_rows::{Figures, sum};
use super::written_store::{Disk, prices, request, zones};

#[test]
fn every_sum_is_the_total_and_copies_are_told() {
    let (prices, [zone, ..]) = (prices(), zones());
    for seed in 500..510 {
        let maker = StoreGenerator::new(seed, 20);
        let (disk, truth, times) = (Disk::new(&maker), maker.store.truth(), maker.store.times());
        let index = disk.index();
        for index in [None, Some(&index), Some(&index)] {
            let check = ops::check_usage(&disk.roots(), &request(GroupBy::Day, zone.clone(), &prices), index);
            assert!(check.holds() && check.failures.is_empty(), "seed {seed}: {check:?}");
            assert_eq!(check.proofs.len(), 12, "turns, and all there is to group by");
            assert_eq!(Figures::read(&check.total), sum(&truth), "seed {seed}");
            let told = [check.copies.lines, check.copies.files].map(|spent| (spent.responses, spent.usage));
            assert_eq!(told, [times.lines, times.files], "seed {seed}");
            let total = sum(&truth);
            assert_eq!(
                (check.copies.once.responses, check.copies.once.usage),
                (total.responses, total.usage)
            );
        }
    }
}

/// Tells the lines of a response, and which one counts.
fn lines(trace: &Trace, disk: &Disk) -> (Vec<(String, u32)>, Vec<usize>) {
    let root = disk.path("");
    let name =
        |path: &std::path::Path| path.strip_prefix(&root).expect("below the root").display().to_string();
    let all = trace.lines.iter().map(|line| (name(&line.path), line.line)).collect();
    let counts = (0..trace.lines.len()).filter(|&no| trace.lines[no].counts).collect();
    (all, counts)
}

#[test]
fn a_trace_lists_every_line_of_a_response_and_the_one_that_counts() {
    let prices = prices();
    for seed in 600..604 {
        let maker = StoreGenerator::new(seed, 20);
        let (disk, truth) = (Disk::new(&maker), maker.store.truth());
        let mut messages: BTreeMap<&str, Vec<&Spend>> = BTreeMap::new();
        truth.iter().for_each(|spend| messages.entry(&spend.message).or_default().push(spend));
        // Of names that several responses have, every one; of the others some.
        let chosen = messages.iter().enumerate().filter(|(no, (_, spends))| spends.len() > 1 || no % 3 == 0);
        for (_, (message, spends)) in chosen {
            let what = format!("seed {seed}, {message}");
            let (traces, failures) = ops::trace_usage(&disk.roots(), message, &prices);
            assert!(failures.is_empty(), "{what}: {failures:?}");
            let ours: BTreeSet<_> = traces.iter().map(|trace| lines(trace, &disk)).collect();
            let theirs: BTreeSet<_> =
                spends.iter().map(|spend| (spend.lines.clone(), vec![spend.counts])).collect();
            assert_eq!(ours, theirs, "{what}");
            for trace in &traces {
                let (all, _) = lines(trace, &disk);
                let spend = spends.iter().find(|spend| spend.lines == all).expect("the lines are the same");
                let booked = (&trace.session, &trace.model, trace.time.map(|time| time.0));
                assert_eq!(booked, (&spend.session, &spend.model, spend.time), "{what}");
                assert_eq!(Figures::read(&trace.sum), sum([*spend]), "{what}");
            }
        }
    }
    let maker = StoreGenerator::new(600, 3);
    let (traces, failures) = ops::trace_usage(&Disk::new(&maker).roots(), "msg_that_is_not_there", &prices);
    assert!(traces.is_empty() && failures.is_empty());
}
