//! Checks that the totals add up, and compares them with the costs that clients report.

use std::collections::{BTreeMap, HashMap};

use memchr::memmem::Finder;
use rayon::prelude::*;
use rethread_core::entry::Kind;
use rethread_core::usage::{CostState, CostTotals, FileUsage, TokenTotals, dedupe_responses};

use super::group::GroupBy;
use super::locations::ResponseLocations;
use super::store::UsageStore;
use super::{Pricer, UsageGrouper, UsageRequest};
use crate::Error;
use crate::cache::{CacheDir, CacheWarning};
use crate::disk::{FileRole, ReadReporter, Roots, ScanEvent, ScanOptions, SessionFile, scan};
use crate::session::per_file_cache::find_files;

/// The check of one grouping: whether its groups add up to the total.
#[derive(Debug, Clone)]
pub struct TotalsCheck {
    /// The plural name of the groups, such as `days`.
    pub group_kind: &'static str,
    /// The number of groups.
    pub groups: usize,
    /// The sum of the groups.
    pub total: CostTotals,
    /// Whether the sum equals the total of all selected responses.
    pub is_equal: bool,
}

/// The tokens at different levels of deduplication.
#[derive(Debug, Default, Clone, Copy)]
pub struct CopyCounts {
    /// The tokens of all lines with usage, without any deduplication.
    pub lines: TokenTotals,
    /// The tokens with each response counted once per file.
    pub files: TokenTotals,
    /// The tokens with each response counted once in all files.
    pub once: TokenTotals,
}

/// The cost of a session as its client reports it, and as computed from its files.
#[derive(Debug, Clone)]
pub struct ClientReportedCost {
    /// The session id.
    pub session: String,
    /// The last cost state that the client wrote.
    pub reported: CostState,
    /// The cost computed from the files of the session, including copied responses.
    pub computed: CostTotals,
}

/// The result of [`check_usage`].
#[derive(Debug, Default)]
pub struct UsageCheck {
    /// The tokens at different levels of deduplication.
    pub copies: CopyCounts,
    /// The total of all selected responses.
    pub total: CostTotals,
    /// The checks of all groupings.
    pub totals: Vec<TotalsCheck>,
    /// The costs that clients report, sorted by session id. Sessions without a reported cost are missing.
    pub client_costs: Vec<ClientReportedCost>,
    /// The number of session files, subagents included.
    pub files: usize,
    /// Files and folders that could not be read.
    pub failures: Vec<Error>,
    /// The reason why the cache could not be used. `None` if there was no problem.
    pub warning: Option<CacheWarning>,
}

impl UsageCheck {
    /// Returns `true` if the sum of every grouping equals the total.
    pub fn is_consistent(&self) -> bool {
        self.totals.iter().all(|check| check.is_equal)
    }
}

/// Sums up the selected responses by every grouping and compares the sums.
pub fn check_usage(roots: &Roots, request: &UsageRequest<'_>, cache: Option<&CacheDir>) -> UsageCheck {
    let (files, failures) = find_files(roots, cache);
    let store = UsageStore::open(&files, roots, cache);
    let locations = ResponseLocations::read(&files, roots, cache);
    let report = |by: GroupBy| {
        UsageGrouper::new(&store, &UsageRequest { by, then_by: None, ..request.clone() }, &locations)
            .build_report()
    };
    let total = report(GroupBy::Day).total.total();
    let groupings = [
        ("days", GroupBy::Day),
        ("weeks", GroupBy::Week),
        ("months", GroupBy::Month),
        ("blocks", GroupBy::Block),
        ("sessions", GroupBy::Session),
        ("projects", GroupBy::Project),
        ("models", GroupBy::Model),
        ("tools", GroupBy::Tool),
        ("agents", GroupBy::Agent),
        ("git branches", GroupBy::Branch),
        ("context status", GroupBy::ContextStatus),
    ];
    let check_groups = |group_kind, groups: Vec<CostTotals>| {
        let mut sum = CostTotals::default();
        groups.iter().for_each(|group| sum.add(group));
        TotalsCheck { group_kind, groups: groups.len(), total: sum, is_equal: sum == total }
    };
    let turns = UsageGrouper::new(&store, request, &locations).sum_turns();
    let mut totals = vec![check_groups("turns", turns)];
    for (group_kind, by) in groupings {
        totals.push(check_groups(group_kind, report(by).rows.iter().map(|row| row.totals.total()).collect()));
    }
    let mut check = UsageCheck {
        copies: count_copies(&store),
        total,
        totals,
        files: files.len(),
        ..UsageCheck::default()
    };
    check.failures = failures;
    check.client_costs = compare_client_costs(&store, request, &mut check.failures);
    let (read_errors, warning) = store.close();
    check.failures.extend(read_errors.into_iter().chain(locations.failures));
    check.warning = warning.or(locations.warning);
    check
}

/// Sums up the tokens at each level of deduplication.
fn count_copies(store: &UsageStore<'_>) -> CopyCounts {
    let mut copies = CopyCounts::default();
    for idx in 0..store.files.len() {
        let usage = store.file_usage(idx);
        copies.lines.add(usage.line_totals.responses, &usage.line_totals.usage);
        usage.responses.iter().for_each(|response| copies.files.add(1, &response.usage));
    }
    store.for_each_response(|response| copies.once.add(1, &response.unique.usage));
    copies
}

/// Compares the cost that the client reports for each session with the usage in its files. Adds read errors to
/// `failures`.
fn compare_client_costs(
    store: &UsageStore<'_>,
    request: &UsageRequest<'_>,
    failures: &mut Vec<Error>,
) -> Vec<ClientReportedCost> {
    let mut reported: BTreeMap<&str, CostState> = BTreeMap::new();
    let reporter = ReadReporter::new(store.files);
    let states: Vec<_> = store.files.par_iter().map(|file| reporter.count(file, read_cost_state)).collect();
    drop(reporter);
    for ((state, header), file) in states.into_iter().zip(&store.headers).zip(store.files) {
        match state {
            Ok(Some(state)) if file.role == FileRole::Main => {
                reported.insert(&header.session, state);
            }
            Ok(_) => {}
            Err(error) => failures.push(error),
        }
    }
    let mut usages: HashMap<&str, Vec<FileUsage>> = HashMap::new();
    for (idx, header) in store.headers.iter().enumerate() {
        if reported.contains_key(header.session.as_str()) {
            usages.entry(&header.session).or_default().push(store.file_usage(idx).into_owned());
        }
    }
    let compare = |(session, reported): (&str, CostState)| {
        let usages = usages.remove(session).unwrap_or_default();
        let mut pricer = Pricer::new(request.prices);
        let mut computed = CostTotals::default();
        for unique in dedupe_responses(&usages) {
            let (file_usage, response) = unique.find_origin(&usages);
            computed.add(&pricer.price(&unique, file_usage.model(response), response.time));
        }
        ClientReportedCost { session: session.to_owned(), reported, computed }
    };
    reported.into_iter().map(compare).collect()
}

/// Reads the last valid cost state of a file. Returns `None` if it has none.
fn read_cost_state(file: &SessionFile) -> Result<Option<CostState>, Error> {
    let finder = Finder::new("cost-state");
    let mut last = None;
    let has_state = |line: &[u8]| finder.find(line).is_some();
    scan(&file.path, &ScanOptions::exact_range(0..file.len, 0).with_filter(&has_state), |event| {
        if let ScanEvent::Entry(entry, ..) = event
            && entry.kind == Kind::CostState
        {
            last = CostState::parse(entry.raw).or(last.take());
        }
    })
    .map_err(Error::reading(&file.path))?;
    Ok(last)
}
