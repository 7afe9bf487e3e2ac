//! Proves that the sums add up, and asks the client's own accounts for a second opinion.

use std::collections::{BTreeMap, HashMap};

use memchr::memmem::Finder;
use rayon::prelude::*;
use rethread_core::entry::Kind;
use rethread_core::usage::{CostState, CostTotals, FileUsage, TokenTotals, dedupe_responses};

use super::group::GroupBy;
use super::locations::ResponseLocations;
use super::store::UsageStore;
use super::{Group, Pricer, UsageRequest};
use crate::Error;
use crate::cache::{CacheDir, CacheWarning};
use crate::disk::{FileRole, Roots, SessionFile, scan_part};
use crate::session::per_file_cache::find_files;

/// The sum of all groups of a kind.
#[derive(Debug, Clone)]
pub struct TotalsCheck {
    /// What the groups are.
    pub what: &'static str,
    /// How many there are.
    pub groups: usize,
    /// What they come to together.
    pub sum: CostTotals,
    /// Whether that is the total.
    pub holds: bool,
}

/// How often responses stand in the files.
#[derive(Debug, Default, Clone, Copy)]
pub struct Copies {
    /// Each line for itself.
    pub lines: TokenTotals,
    /// Each response once in a file.
    pub files: TokenTotals,
    /// Each response once.
    pub once: TokenTotals,
}

/// What the client itself says that a session cost.
#[derive(Debug, Clone)]
pub struct ClientReportedCost {
    /// The session.
    pub session: String,
    /// The last account that its client wrote.
    pub theirs: CostState,
    /// What stands in the files of the session, whether it was copied there or not.
    pub ours: CostTotals,
}

/// What was checked.
#[derive(Debug, Default)]
pub struct Check {
    /// How often responses stand in the files.
    pub copies: Copies,
    /// What everything comes to.
    pub total: CostTotals,
    /// The sums of groups.
    pub proofs: Vec<TotalsCheck>,
    /// What clients say, by session.
    pub opinions: Vec<ClientReportedCost>,
    /// How many files there are.
    pub files: usize,
    /// Files and folders that could not be read.
    pub failures: Vec<Error>,
    /// Why the index was of no help, where there is something to say.
    pub notice: Option<CacheWarning>,
}

impl Check {
    /// Whether every sum is the total.
    pub fn holds(&self) -> bool {
        self.proofs.iter().all(|proof| proof.holds)
    }
}

/// Adds up everything that a request asks for in every way there is.
pub fn check_usage(roots: &Roots, request: &UsageRequest<'_>, index: Option<&CacheDir>) -> Check {
    let (files, failures) = find_files(roots, index);
    let books = UsageStore::open(&files, roots, index);
    let places = ResponseLocations::of(&files, roots, index);
    let group = |by: GroupBy| Group::new(&books, &UsageRequest { by, ..request.clone() }, &places).run();
    let total = group(GroupBy::Day).total.total();
    let ways = [
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
        ("reach", GroupBy::Reach),
    ];
    let proof = |what, sums: Vec<CostTotals>| {
        let mut sum = CostTotals::default();
        sums.iter().for_each(|part| sum.add(part));
        TotalsCheck { what, groups: sums.len(), sum, holds: sum == total }
    };
    let turns = Group::new(&books, request, &places).turns();
    let mut proofs = vec![proof("turns", turns)];
    for (what, by) in ways {
        proofs.push(proof(what, group(by).rows.iter().map(|row| row.account.total()).collect()));
    }
    let mut check = Check { copies: copies(&books), total, proofs, files: files.len(), ..Check::default() };
    check.failures = failures;
    check.opinions = opinions(&books, request, &mut check.failures);
    let (unread, notice) = books.close();
    check.failures.extend(unread.into_iter().chain(places.failures));
    check.notice = notice.or(places.notice);
    check
}

/// Counts how often responses stand in the files.
fn copies(books: &UsageStore<'_>) -> Copies {
    let mut copies = Copies::default();
    for no in 0..books.files.len() {
        let sheet = books.sheet(no);
        copies.lines.add(sheet.raw.responses, &sheet.raw.usage);
        sheet.charges.iter().for_each(|charge| copies.files.add(1, &charge.usage));
    }
    books.each(|booked| copies.once.add(1, &booked.bill.usage));
    copies
}

/// Compares what clients say with what stands in the files.
fn opinions(
    books: &UsageStore<'_>,
    request: &UsageRequest<'_>,
    failures: &mut Vec<Error>,
) -> Vec<ClientReportedCost> {
    let mut said: BTreeMap<&str, CostState> = BTreeMap::new();
    let states: Vec<_> = books.files.par_iter().map(cost_state).collect();
    for ((state, cover), file) in states.into_iter().zip(&books.covers).zip(books.files) {
        match state {
            Ok(Some(state)) if file.role == FileRole::Main => {
                said.insert(&cover.session, state);
            }
            Ok(_) => {}
            Err(failure) => failures.push(failure),
        }
    }
    let mut families: HashMap<&str, Vec<FileUsage>> = HashMap::new();
    for (no, cover) in books.covers.iter().enumerate() {
        if said.contains_key(cover.session.as_str()) {
            families.entry(&cover.session).or_default().push(books.sheet(no).into_owned());
        }
    }
    let opinion = |(session, theirs): (&str, CostState)| {
        let sheets = families.remove(session).unwrap_or_default();
        let mut till = Pricer::new(request.prices);
        let mut ours = CostTotals::default();
        for bill in dedupe_responses(&sheets) {
            let (sheet, charge) = bill.first(&sheets);
            ours.add(&till.sum(&bill, sheet.model(charge), charge.time));
        }
        ClientReportedCost { session: session.to_owned(), theirs, ours }
    };
    said.into_iter().map(opinion).collect()
}

/// Reads the last account that a client wrote into a file.
fn cost_state(file: &SessionFile) -> Result<Option<CostState>, Error> {
    let finder = Finder::new("cost-state");
    let mut last = None;
    scan_part(
        &file.path,
        0..file.len,
        0,
        |line| finder.find(line).is_some(),
        |entry, _| {
            if entry.kind == Kind::CostState {
                last = CostState::read(entry.raw).or(last.take());
            }
        },
    )
    .map_err(Error::reading(&file.path))?;
    Ok(last)
}
