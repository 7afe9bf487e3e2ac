//! Rows equal the expected rows: by every grouping, after any change of the files, with and without a cache.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::tz::TimeZone;
use rethread_engine::CacheDir;
use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::usage::{CostTotals, Money, SessionTotals};
use rethread_engine::ops;
use rethread_engine::ops::usage::{GroupBy, GroupKey, GroupRow, UsageReport, UsageRequest};
use rethread_testkit::spending::{ExpectedResponse, ExpectedStatus, Rng, StoreGenerator};

use super::expected_rows::{
    ExpectedRow, ExpectedTotals, expected_rows, expected_total, rows_from_engine, sum_responses,
};
use super::written_store::{WrittenStore, prices, request, wait_for_stable_fingerprints, zones};

/// The number of sessions with which every kind of session exists.
const SESSION_COUNT: usize = 17;

/// Checks every grouping without filters.
fn check_groupings(
    store: &WrittenStore,
    expected: &[ExpectedResponse],
    cache: Option<&CacheDir>,
    case: &str,
) {
    let prices = prices();
    for by in GroupBy::ALL {
        let depends_on_zone = matches!(by, GroupBy::Day | GroupBy::Week | GroupBy::Month);
        for zone in zones().into_iter().take(if depends_on_zone { 3 } else { 1 }) {
            let report = ops::usage::usage(&store.roots(), &request(by, zone.clone(), &prices), cache);
            let case = format!("{case}, by {by:?}, {zone:?}");
            assert!(report.failures.is_empty() && report.warning.is_none(), "{case}: {report:?}");
            compare(&report, expected, expected, by, &zone, &case);
        }
    }
}

/// Compares the rows and the total of a report with the selected responses.
fn compare(
    report: &UsageReport,
    selected: &[ExpectedResponse],
    all: &[ExpectedResponse],
    by: GroupBy,
    zone: &TimeZone,
    case: &str,
) {
    let (actual, expected) = (rows_from_engine(&report.rows), expected_rows(selected, all, by, zone));
    let keys = |rows: &BTreeMap<String, ExpectedRow>| rows.keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&actual), keys(&expected), "{case}");
    for (key, row) in &expected {
        assert_eq!(&actual[key], row, "{case}: {key}");
    }
    assert_eq!(ExpectedRow::from_engine(&report.total), expected_total(selected), "{case}");
    assert!(are_sorted(&report.rows), "{case}: {:?}", report.rows);
}

/// Returns `true` if times are ascending and other rows are sorted by descending cost.
fn are_sorted(rows: &[GroupRow]) -> bool {
    let cost = |row: &GroupRow| -> Money { row.totals.total().cost };
    rows.windows(2).all(|pair| match (&pair[0].key, &pair[1].key) {
        (GroupKey::Day(_) | GroupKey::Block(_), _) => pair[0].key < pair[1].key,
        _ => cost(&pair[0]) >= cost(&pair[1]),
    })
}

#[test]
fn rows_of_every_grouping_equal_the_expected_rows() {
    for seed in 0..24 {
        let generator = StoreGenerator::new(seed, SESSION_COUNT + seed as usize % 9);
        let expected = generator.store.expected_responses();
        assert!(expected.len() > 80, "seed {seed}: {} responses", expected.len());
        check_groupings(&WrittenStore::new(&generator), &expected, None, &format!("seed {seed}"));
    }
}

#[test]
fn generated_store_covers_every_case() {
    let expected = StoreGenerator::new(1, SESSION_COUNT).store.expected_responses();
    let has = |predicate: &dyn Fn(&ExpectedResponse) -> bool| expected.iter().any(predicate);
    for status in [
        ExpectedStatus::Active,
        ExpectedStatus::Compacted,
        ExpectedStatus::OtherBranch,
        ExpectedStatus::Subagent,
    ] {
        assert!(has(&|response| response.status == status), "{status:?}");
    }
    assert!(has(&|response| response.is_lower_bound) && has(&|response| !response.is_lower_bound));
    assert!(has(&|response| response.tools.len() > 1) && has(&|response| response.tools.is_empty()));
    assert!(has(&|response| response.usage.cache_write_1h > 0 && response.usage.web_searches == 0));
    assert!(has(&|response| response.usage.web_searches > 0));
    assert!(has(&|response| response.branch.is_empty()));
    assert!(has(&|response| response.is_subagent && response.agent_type.is_none()));
    assert!(has(&|response| response.sessions.len() > 1));
    let message_ids: BTreeSet<&str> = expected.iter().map(|response| response.message_id.as_str()).collect();
    assert!(message_ids.len() < expected.len(), "some message ids belong to several responses");
}

/// Changes, removes or adds a file.
fn change_store(generator: &mut StoreGenerator, rng: &mut Rng) {
    let file_count = generator.store.files.len() as u64;
    let idx = rng.below(file_count) as usize;
    match rng.below(5) {
        0 | 1 => generator.grow(idx),
        2 => generator.shrink(idx),
        3 => drop(generator.store.files.remove(idx)),
        _ => generator.add_session(rng.below(SESSION_COUNT as u64) as usize),
    }
}

#[test]
fn rows_are_correct_after_changes_with_and_without_cache() {
    for seed in 100..108 {
        let mut generator = StoreGenerator::new(seed, SESSION_COUNT);
        let mut store = WrittenStore::new(&generator);
        let mut rng = Rng::new(seed);
        let cache = store.cache();
        for round in 0..5 {
            let expected = generator.store.expected_responses();
            for cache_state in ["without cache", "cold cache", "warm cache"] {
                let cache = Some(&cache).filter(|_| cache_state != "without cache");
                let case = format!("seed {seed}, round {round}, {cache_state}");
                check_groupings(&store, &expected, cache, &case);
            }
            (0..1 + rng.below(4)).for_each(|_| change_store(&mut generator, &mut rng));
            store.update(&generator);
            if round % 2 == 0 {
                wait_for_stable_fingerprints();
            }
        }
    }
}

#[test]
fn since_is_inclusive_and_until_is_exclusive() {
    let (prices, [zone, ..]) = (prices(), zones());
    for seed in 200..212 {
        let generator = StoreGenerator::new(seed, SESSION_COUNT);
        let (store, expected) = (WrittenStore::new(&generator), generator.store.expected_responses());
        let mut times: Vec<i64> = expected.iter().filter_map(|response| response.time).collect();
        times.sort_unstable();
        // Both limits are times of responses.
        let (since, until) = (times[times.len() / 3], times[times.len() * 2 / 3]);
        for (since, until) in [(Some(since), None), (None, Some(until)), (Some(since), Some(until))] {
            let is_within = |response: &&ExpectedResponse| {
                response.time.is_some_and(|time| {
                    since.is_none_or(|since| time >= since) && until.is_none_or(|until| time < until)
                })
            };
            let selected: Vec<ExpectedResponse> = expected.iter().filter(is_within).cloned().collect();
            for by in GroupBy::ALL {
                let request = UsageRequest {
                    since: since.map(Timestamp),
                    until: until.map(Timestamp),
                    ..request(by, zone.clone(), &prices)
                };
                let report = ops::usage::usage(&store.roots(), &request, None);
                let case = format!("seed {seed}, {since:?} to {until:?}");
                compare(&report, &selected, &expected, by, &zone, &case);
            }
        }
    }
}

/// Groups within groups: the parts of each row add up to it, and the parts with one key, over all rows, to the row of that
/// key in the report of the second grouping alone.
#[test]
fn groups_within_groups_add_up() {
    let (prices, [zone, ..]) = (prices(), zones());
    let generator = StoreGenerator::new(500, SESSION_COUNT);
    let store = WrittenStore::new(&generator);
    let report = |by, then_by| {
        let request = UsageRequest { then_by, ..request(by, zone.clone(), &prices) };
        ops::usage::usage(&store.roots(), &request, None)
    };
    for by in GroupBy::ALL {
        let single_rows = report(by, None).rows;
        assert!(single_rows.iter().all(|row| row.parts.is_empty()));
        for then_by in GroupBy::ALL {
            let rows = report(by, Some(then_by)).rows;
            let case = format!("{} then {}", by.name(), then_by.name());
            assert_eq!(rows.len(), single_rows.len(), "{case}");
            let mut sums: HashMap<GroupKey, CostTotals> = HashMap::new();
            for (row, single) in rows.iter().zip(&single_rows) {
                assert_eq!((&row.key, row.totals), (&single.key, single.totals), "{case}");
                let mut sum = SessionTotals::default();
                for part in &row.parts {
                    sum.add(&part.totals);
                    sums.entry(part.key.clone()).or_default().add(&part.totals.total());
                }
                assert_eq!(sum, row.totals, "{case}");
                assert!(by != then_by || by == GroupBy::Tool || row.parts.len() == 1, "{case}");
            }
            // The parts of a share are rounded differently.
            if by != GroupBy::Tool && then_by != GroupBy::Tool {
                let expected =
                    report(then_by, None).rows.into_iter().map(|row| (row.key, row.totals.total()));
                assert_eq!(sums, expected.collect(), "{case}");
            }
        }
    }
}

#[test]
fn usage_can_be_filtered_by_model_or_project() {
    let (prices, [zone, ..]) = (prices(), zones());
    for seed in 300..306 {
        let generator = StoreGenerator::new(seed, SESSION_COUNT);
        let (store, expected) = (WrittenStore::new(&generator), generator.store.expected_responses());
        for by in GroupBy::ALL {
            let unfiltered = request(by, zone.clone(), &prices);
            let selected: Vec<ExpectedResponse> =
                expected.iter().filter(|response| response.model.contains("opus")).cloned().collect();
            let request = UsageRequest { model: Some("OPUS".to_owned()), ..unfiltered.clone() };
            let report = ops::usage::usage(&store.roots(), &request, None);
            compare(&report, &selected, &expected, by, &zone, "by model");
            let selected: Vec<ExpectedResponse> =
                expected.iter().filter(|response| response.project.contains("shed")).cloned().collect();
            let request = UsageRequest { project: Some("Shed".to_owned()), ..unfiltered };
            let report = ops::usage::usage(&store.roots(), &request, None);
            compare(&report, &selected, &expected, by, &zone, "by project");
        }
    }
}

#[test]
fn session_usage_excludes_and_reports_copied_responses() {
    let (prices, [zone, ..]) = (prices(), zones());
    for seed in 400..406 {
        let generator = StoreGenerator::new(seed, SESSION_COUNT);
        let (store, expected) = (WrittenStore::new(&generator), generator.store.expected_responses());
        for file in generator.store.files.iter().filter(|file| file.agent.is_none()) {
            let session = &file.session;
            let own: Vec<ExpectedResponse> =
                expected.iter().filter(|response| response.session == *session).cloned().collect();
            let request = UsageRequest {
                session: Some(store.path(&file.path)),
                ..request(GroupBy::Model, zone.clone(), &prices)
            };
            let report = ops::usage::usage(&store.roots(), &request, None);
            let case = format!("seed {seed}, session {session}");
            compare(&report, &own, &expected, GroupBy::Model, &zone, &case);
            let is_copied = |response: &&ExpectedResponse| {
                response.session != *session && response.sessions.contains(session)
            };
            let copied = sum_responses(expected.iter().filter(is_copied));
            assert_eq!(ExpectedTotals::from_engine(&report.copied), copied, "{case}");
        }
    }
}
