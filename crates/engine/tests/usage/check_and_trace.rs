//! The checks of `usage --check` and the lines of `usage --explain`.

use std::collections::{BTreeMap, BTreeSet};

use rethread_engine::ops;
use rethread_engine::ops::usage::{GroupBy, Trace};
use rethread_testkit::spending::{ExpectedResponse, StoreGenerator};

use super::expected_rows::{ExpectedTotals, sum_responses};
use super::written_store::{WrittenStore, prices, request, zones};

#[test]
fn every_grouping_sums_to_the_total_and_copies_are_counted() {
    let (prices, [zone, ..]) = (prices(), zones());
    for seed in 500..510 {
        let generator = StoreGenerator::new(seed, 20);
        let store = WrittenStore::new(&generator);
        let (expected, copies) = (generator.store.expected_responses(), generator.store.count_copies());
        let cache = store.cache();
        for cache in [None, Some(&cache), Some(&cache)] {
            let request = request(GroupBy::Day, zone.clone(), &prices);
            let check = ops::usage::check_usage(&store.roots(), &request, cache);
            assert!(check.is_consistent() && check.failures.is_empty(), "seed {seed}: {check:?}");
            assert_eq!(check.totals.len(), 12, "turns and every grouping");
            let total = sum_responses(&expected);
            assert_eq!(ExpectedTotals::from_engine(&check.total), total, "seed {seed}");
            let counted =
                [check.copies.lines, check.copies.files].map(|totals| (totals.responses, totals.usage));
            assert_eq!(counted, [copies.lines, copies.files], "seed {seed}");
            assert_eq!(
                (check.copies.once.responses, check.copies.once.usage),
                (total.responses, total.usage)
            );
        }
    }
}

/// Returns the lines of a response and the indices of the counted ones.
fn trace_lines(trace: &Trace, store: &WrittenStore) -> (Vec<(String, u32)>, Vec<usize>) {
    let root = store.path("");
    let name =
        |path: &std::path::Path| path.strip_prefix(&root).expect("below the root").display().to_string();
    let lines = trace.lines.iter().map(|line| (name(&line.path), line.line)).collect();
    let counted = (0..trace.lines.len()).filter(|&idx| trace.lines[idx].is_counted).collect();
    (lines, counted)
}

#[test]
fn trace_lists_every_line_of_a_response_and_the_counted_one() {
    let prices = prices();
    for seed in 600..604 {
        let generator = StoreGenerator::new(seed, 20);
        let (store, expected) = (WrittenStore::new(&generator), generator.store.expected_responses());
        let mut by_message_id: BTreeMap<&str, Vec<&ExpectedResponse>> = BTreeMap::new();
        for response in &expected {
            by_message_id.entry(&response.message_id).or_default().push(response);
        }
        // All message ids of several responses, and every third of the others.
        let chosen = by_message_id
            .iter()
            .enumerate()
            .filter(|(idx, (_, responses))| responses.len() > 1 || idx % 3 == 0);
        for (_, (message_id, responses)) in chosen {
            let case = format!("seed {seed}, {message_id}");
            let (traces, failures) = ops::usage::trace_usage(&store.roots(), message_id, &prices);
            assert!(failures.is_empty(), "{case}: {failures:?}");
            let actual: BTreeSet<_> = traces.iter().map(|trace| trace_lines(trace, &store)).collect();
            let expected: BTreeSet<_> = responses
                .iter()
                .map(|response| (response.lines.clone(), vec![response.counted_line]))
                .collect();
            assert_eq!(actual, expected, "{case}");
            for trace in &traces {
                let (lines, _) = trace_lines(trace, &store);
                let response =
                    responses.iter().find(|response| response.lines == lines).expect("the lines are equal");
                let actual = (&trace.session, &trace.model, trace.time.map(|time| time.0));
                assert_eq!(actual, (&response.session, &response.model, response.time), "{case}");
                let totals = ExpectedTotals::from_engine(&trace.totals);
                assert_eq!(totals, sum_responses([*response]), "{case}");
            }
        }
    }
    let store = WrittenStore::new(&StoreGenerator::new(600, 3));
    let (traces, failures) = ops::usage::trace_usage(&store.roots(), "unknown_message_id", &prices);
    assert!(traces.is_empty() && failures.is_empty());
}
