//! Tables: sums over their rows equal the totals of `usage`, `stats` and `ls`, with and without cache.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use rethread_engine::core::usage::Money;
use rethread_engine::ops::list::{SessionFilter, list_sessions};
use rethread_engine::ops::stats::collect_stats;
use rethread_engine::ops::tables::{
    CopyPolicy, TableFileFilter, TableKind, TableRow, TableSelection, TableValue, TablesRequest, read_tables,
};
use rethread_engine::ops::usage::{GroupBy, usage};
use rethread_engine::{CacheDir, Roots};
use rethread_testkit::real;
use rethread_testkit::spending::StoreGenerator;

use super::expected_rows::rows_from_engine;
use super::written_store::{WrittenStore, prices, request, wait_for_stable_fingerprints, zones};

/// A value of a row that does not borrow from it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Value {
    Null,
    Number(i128),
    Text(String),
}

/// The rows of one table as maps from column to value.
type Rows = Vec<BTreeMap<&'static str, Value>>;

fn read(roots: &Roots, cache: Option<&CacheDir>, copies: CopyPolicy) -> BTreeMap<TableKind, Rows> {
    read_filtered(roots, cache, copies, TableFileFilter::default())
}

fn read_filtered(
    roots: &Roots,
    cache: Option<&CacheDir>,
    copies: CopyPolicy,
    filter: TableFileFilter,
) -> BTreeMap<TableKind, Rows> {
    let prices = prices();
    let selection = TableSelection::of_tables(TableKind::ALL);
    let request = TablesRequest { selection, copies, filter, prices: &prices };
    let mut tables: BTreeMap<TableKind, Rows> = BTreeMap::new();
    let report = read_tables(roots, &request, cache, &mut |row: TableRow<'_>| {
        let columns = row.table().columns().iter().map(|column| column.name);
        let values = row.values().into_iter().map(|value| match value {
            TableValue::Null => Value::Null,
            TableValue::Integer(number) => Value::Number(number.into()),
            TableValue::Boolean(value) => Value::Number(value.into()),
            TableValue::Time(time) => Value::Number(time.0.into()),
            TableValue::Money(money) => Value::Number(money.picodollars() as i128),
            TableValue::Text(text) => Value::Text(text.to_owned()),
        });
        tables.entry(row.table()).or_default().push(columns.zip(values).collect());
        true
    });
    assert!(report.failures.is_empty() && report.warning.is_none(), "{report:?}");
    tables
}

fn number(row: &BTreeMap<&'static str, Value>, column: &str) -> i128 {
    match &row[column] {
        Value::Number(number) => *number,
        Value::Null => 0,
        Value::Text(text) => panic!("{column} is `{text}`"),
    }
}

fn text<'r>(row: &'r BTreeMap<&'static str, Value>, column: &str) -> &'r str {
    match &row[column] {
        Value::Text(text) => text,
        _ => "",
    }
}

fn sum(rows: &Rows, column: &str) -> i128 {
    rows.iter().map(|row| number(row, column)).sum()
}

/// Sums a number of columns of the responses by the text of a column.
fn sum_by(rows: &Rows, key: &str) -> BTreeMap<String, [i128; 3]> {
    let mut sums: BTreeMap<String, [i128; 3]> = BTreeMap::new();
    for row in rows {
        let sum = sums.entry(text(row, key).to_owned()).or_default();
        sum[0] += 1;
        sum[1] += number(row, "output_tokens");
        sum[2] += number(row, "cost");
    }
    sums
}

/// Checks the sums of the tables of a store against the other operations.
fn check_tables(roots: &Roots, cache: Option<&CacheDir>, case: &str) {
    let prices = prices();
    let [zone, ..] = zones();
    let tables = read(roots, cache, CopyPolicy::Once);
    let empty = Rows::new();
    let table = |kind: TableKind| tables.get(&kind).unwrap_or(&empty);
    let responses = table(TableKind::Responses);
    let ids: BTreeSet<&str> = responses.iter().map(|row| text(row, "response_id")).collect();
    assert_eq!(ids.len(), responses.len(), "{case}: each response once");
    for (by, column) in [
        (GroupBy::Session, "session_id"),
        (GroupBy::Project, "project"),
        (GroupBy::Branch, "git_branch"),
        (GroupBy::ContextStatus, "context_status"),
    ] {
        let report = usage(roots, &request(by, zone.clone(), &prices), cache);
        let expected: BTreeMap<String, [i128; 3]> = report
            .rows
            .iter()
            .map(|row| {
                let total = row.totals.total();
                let key = match &row.key {
                    rethread_engine::ops::usage::GroupKey::Name(name) => name.clone(),
                    rethread_engine::ops::usage::GroupKey::ContextStatus(status) => status.name().to_owned(),
                    _ => String::new(),
                };
                let counts = total.counts;
                let cost = total.cost.picodollars() as i128;
                (key, [counts.responses as i128, counts.usage.output.into(), cost])
            })
            .collect();
        assert_eq!(sum_by(responses, column), expected, "{case}: by {column}");
        assert_eq!(rows_from_engine(&report.rows).len(), expected.len(), "{case}: {column}");
    }
    check_calls(roots, cache, table(TableKind::ToolCalls), case);
    let stats = collect_stats(roots, false, cache).counts;
    let entries = table(TableKind::Entries);
    assert_eq!(entries.len() as u64, stats.total.types.values().sum::<u64>(), "{case}");
    assert_eq!(table(TableKind::Problems).len() as u64, stats.problems.values().sum::<u64>(), "{case}");
    assert_eq!(table(TableKind::Turns).len() as u64, stats.total.turns, "{case}");
    assert_eq!(sum(table(TableKind::Messages), "lines"), {
        let messages = entries.iter().filter(|row| matches!(text(row, "kind"), "user" | "assistant"));
        let mut seen = HashSet::new();
        let uuids = messages.filter(|row| {
            row["uuid"] == Value::Null || seen.insert((text(row, "source_id"), text(row, "uuid")))
        });
        uuids.count() as i128
    });
    let all = SessionFilter { all: true, ..SessionFilter::default() };
    let sessions = list_sessions(roots, &all, cache).rows;
    assert_eq!(table(TableKind::Sessions).len(), sessions.len(), "{case}");
    assert_eq!(
        sum(table(TableKind::Sessions), "bytes"),
        sessions.iter().map(|row| i128::from(row.bytes)).sum()
    );
    assert_eq!(
        sum(table(TableKind::Sessions), "branches"),
        table(TableKind::Branches).iter().filter(|row| number(row, "is_orphaned") == 0).count() as i128,
        "{case}"
    );
}

/// Checks the calls against `stats`, tool by tool.
fn check_calls(roots: &Roots, cache: Option<&CacheDir>, calls: &Rows, case: &str) {
    let ids: BTreeSet<&str> = calls.iter().map(|row| text(row, "call_id")).collect();
    assert_eq!(ids.len(), calls.len(), "{case}: each call once");
    let mut by_tool: BTreeMap<String, (u64, u64, u64)> = BTreeMap::new();
    for row in calls {
        let counts = by_tool.entry(text(row, "tool").to_owned()).or_default();
        counts.0 += 1;
        counts.1 += u64::from(number(row, "is_error") == 1);
        counts.2 += number(row, "duration_ms") as u64;
    }
    let stats = collect_stats(roots, false, cache).counts.unique_tools();
    let stats = stats.into_iter().filter(|(_, tool)| tool.calls > 0);
    let expected = stats.map(|(name, tool)| (name, (tool.calls, tool.errors, tool.millis)));
    assert_eq!(by_tool, expected.collect(), "{case}");
}

#[test]
fn sums_of_rows_equal_the_other_operations() {
    for seed in 300..312 {
        let store = WrittenStore::new(&StoreGenerator::new(seed, 17 + seed as usize % 5));
        wait_for_stable_fingerprints();
        let cache = store.cache();
        for (cache, state) in [(None, "without cache"), (Some(&cache), "cold"), (Some(&cache), "warm")] {
            check_tables(&store.roots(), cache, &format!("seed {seed}, {state}"));
        }
    }
}

#[test]
fn rows_of_golden_sessions_equal_the_other_operations() {
    let Some(golden) = real::data_path("tables of golden sessions", "RETHREAD_GOLDEN") else { return };
    let versions = std::fs::read_dir(golden).expect("the folder can be read");
    for version in versions.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir()) {
        check_tables(&Roots::new(vec![version.clone()]), None, &version.display().to_string());
    }
}

#[test]
fn one_copy_of_each_response_and_call_has_the_rows_of_once() {
    for seed in 320..326 {
        let store = WrittenStore::new(&StoreGenerator::new(seed, 19));
        let once = read(&store.roots(), None, CopyPolicy::Once);
        let per_file = read(&store.roots(), None, CopyPolicy::PerFile);
        for (table, id) in [(TableKind::Responses, "response_id"), (TableKind::ToolCalls, "call_id")] {
            let ids = |rows: &Rows| rows.iter().map(|row| text(row, id).to_owned()).collect::<BTreeSet<_>>();
            assert_eq!(ids(&once[&table]), ids(&per_file[&table]), "seed {seed}: {table:?}");
            assert!(per_file[&table].len() >= once[&table].len());
        }
        let copies = per_file[&TableKind::Responses].len() - once[&TableKind::Responses].len();
        assert!(copies > 0, "seed {seed} has copies");
    }
}

#[test]
fn a_filter_selects_the_rows_of_a_session() {
    let store = WrittenStore::new(&StoreGenerator::new(330, 19));
    wait_for_stable_fingerprints();
    let cache = store.cache();
    let all = read(&store.roots(), Some(&cache), CopyPolicy::Once);
    let session = text(&all[&TableKind::Sessions][3], "session_id").to_owned();
    let filter = TableFileFilter { sessions: Some(vec![session.clone()]), ..TableFileFilter::default() };
    let selected = read_filtered(&store.roots(), Some(&cache), CopyPolicy::Once, filter);
    for table in TableKind::ALL {
        let of_session = |rows: Option<&Rows>| -> Rows {
            rows.into_iter().flatten().filter(|row| text(row, "session_id") == session).cloned().collect()
        };
        assert_eq!(of_session(selected.get(table)), of_session(all.get(table)), "{table:?}");
    }
    assert!(selected[&TableKind::Entries].len() < all[&TableKind::Entries].len());
}

#[test]
fn a_time_filter_omits_no_row_of_its_time() {
    let store = WrittenStore::new(&StoreGenerator::new(331, 19));
    wait_for_stable_fingerprints();
    let cache = store.cache();
    let all = read(&store.roots(), Some(&cache), CopyPolicy::Once);
    let mut times: Vec<i128> = all[&TableKind::Entries].iter().map(|row| number(row, "ts")).collect();
    times.sort_unstable();
    let since = times[times.len() * 9 / 10];
    let filter = TableFileFilter {
        since: Some(rethread_engine::core::entry::Timestamp(since as i64)),
        ..TableFileFilter::default()
    };
    let selected = read_filtered(&store.roots(), Some(&cache), CopyPolicy::Once, filter);
    for table in [TableKind::Entries, TableKind::ToolCalls, TableKind::Texts, TableKind::Messages] {
        let in_time =
            |rows: &Rows| -> Rows { rows.iter().filter(|row| number(row, "ts") >= since).cloned().collect() };
        assert_eq!(in_time(&selected[&table]), in_time(&all[&table]), "{table:?}");
    }
    assert!(selected[&TableKind::Entries].len() < all[&TableKind::Entries].len(), "some files are omitted");
}

#[test]
fn costs_of_turns_add_up_to_those_of_their_files() {
    let store = WrittenStore::new(&StoreGenerator::new(332, 19));
    let tables = read(&store.roots(), None, CopyPolicy::PerFile);
    let total = |rows: Vec<&BTreeMap<&'static str, Value>>| -> Money {
        Money::from_picodollars(rows.into_iter().map(|row| number(row, "cost") as u128).sum())
    };
    let turns = total(tables[&TableKind::Turns].iter().collect());
    let in_turns = tables[&TableKind::Responses].iter().filter(|row| row["turn"] != Value::Null).collect();
    assert_eq!(turns, total(in_turns));
    assert!(turns > Money::default());
}

/// With the turns, the details of responses are read in the same pass; without them, in passes of their own.
#[test]
fn responses_are_the_same_with_and_without_other_tables() {
    let prices = prices();
    for seed in 340..352 {
        let store = WrittenStore::new(&StoreGenerator::new(seed, 19));
        let read_responses = |tables: &[TableKind]| -> Vec<Vec<String>> {
            let request = TablesRequest {
                selection: TableSelection::of_tables(tables),
                copies: CopyPolicy::PerFile,
                filter: TableFileFilter::default(),
                prices: &prices,
            };
            let mut rows = Vec::new();
            read_tables(&store.roots(), &request, None, &mut |row: TableRow<'_>| {
                if row.table() == TableKind::Responses {
                    rows.push(row.values().iter().map(|value| format!("{value:?}")).collect());
                }
                true
            });
            rows
        };
        let alone = read_responses(&[TableKind::Responses]);
        assert_eq!(read_responses(&[TableKind::Responses, TableKind::Turns]), alone, "seed {seed}");
        assert!(alone.len() > 100, "seed {seed}");
    }
}
