//! Proves that the sums add up, and asks the client's own accounts for a second opinion.

use std::collections::{BTreeMap, HashMap};

use memchr::memmem::Finder;
use rayon::prelude::*;
use rethread_core::entry::Kind;
use rethread_core::usage::{CostState, Sheet, Spent, Sum, settle};

use super::super::recall::find_files;
use super::books::Books;
use super::group::By;
use super::places::Places;
use super::run::{Group, Till, UsageRequest};
use crate::Failure;
use crate::disk::{Role, Roots, SessionFile, scan_part};
use crate::index::{Index, Notice};

/// The sum of all groups of a kind.
#[derive(Debug, Clone)]
pub struct Proof {
    /// What the groups are.
    pub what: &'static str,
    /// How many there are.
    pub groups: usize,
    /// What they come to together.
    pub sum: Sum,
    /// Whether that is the total.
    pub holds: bool,
}

/// How often responses stand in the files.
#[derive(Debug, Default, Clone, Copy)]
pub struct Copies {
    /// Each line for itself.
    pub lines: Spent,
    /// Each response once in a file.
    pub files: Spent,
    /// Each response once.
    pub once: Spent,
}

/// What the client itself says that a session cost.
#[derive(Debug, Clone)]
pub struct Opinion {
    /// The session.
    pub session: String,
    /// The last account that its client wrote.
    pub theirs: CostState,
    /// What stands in the files of the session, whether it was copied there or not.
    pub ours: Sum,
}

/// What was checked.
#[derive(Debug, Default)]
pub struct Check {
    /// How often responses stand in the files.
    pub copies: Copies,
    /// What everything comes to.
    pub total: Sum,
    /// The sums of groups.
    pub proofs: Vec<Proof>,
    /// What clients say, by session.
    pub opinions: Vec<Opinion>,
    /// How many files there are.
    pub files: usize,
    /// Files and folders that could not be read.
    pub failures: Vec<Failure>,
    /// Why the index was of no help, where there is something to say.
    pub notice: Option<Notice>,
}

impl Check {
    /// Whether every sum is the total.
    pub fn holds(&self) -> bool {
        self.proofs.iter().all(|proof| proof.holds)
    }
}

/// Adds up everything that a request asks for in every way there is.
pub fn check_usage(roots: &Roots, request: &UsageRequest<'_>, index: Option<&Index>) -> Check {
    let (files, failures) = find_files(roots, index);
    let books = Books::open(&files, roots, index);
    let places = Places::of(&files, roots, index);
    let group = |by: By| Group::new(&books, &UsageRequest { by, ..request.clone() }, &places).run();
    let total = group(By::Day).total.total();
    let ways = [
        ("days", By::Day),
        ("weeks", By::Week),
        ("months", By::Month),
        ("blocks", By::Block),
        ("sessions", By::Session),
        ("projects", By::Project),
        ("models", By::Model),
        ("tools", By::Tool),
        ("agents", By::Agent),
        ("git branches", By::Branch),
        ("reach", By::Reach),
    ];
    let proof = |what, sums: Vec<Sum>| {
        let mut sum = Sum::default();
        sums.iter().for_each(|part| sum.add(part));
        Proof { what, groups: sums.len(), sum, holds: sum == total }
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
fn copies(books: &Books<'_>) -> Copies {
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
fn opinions(books: &Books<'_>, request: &UsageRequest<'_>, failures: &mut Vec<Failure>) -> Vec<Opinion> {
    let mut said: BTreeMap<&str, CostState> = BTreeMap::new();
    let states: Vec<_> = books.files.par_iter().map(cost_state).collect();
    for ((state, cover), file) in states.into_iter().zip(&books.covers).zip(books.files) {
        match state {
            Ok(Some(state)) if file.role == Role::Main => {
                said.insert(&cover.session, state);
            }
            Ok(_) => {}
            Err(failure) => failures.push(failure),
        }
    }
    let mut families: HashMap<&str, Vec<Sheet>> = HashMap::new();
    for (no, cover) in books.covers.iter().enumerate() {
        if said.contains_key(cover.session.as_str()) {
            families.entry(&cover.session).or_default().push(books.sheet(no).into_owned());
        }
    }
    let opinion = |(session, theirs): (&str, CostState)| {
        let sheets = families.remove(session).unwrap_or_default();
        let mut till = Till::new(request.prices);
        let mut ours = Sum::default();
        for bill in settle(&sheets) {
            let (sheet, charge) = bill.first(&sheets);
            ours.add(&till.sum(&bill, sheet.model(charge), charge.time));
        }
        Opinion { session: session.to_owned(), theirs, ours }
    };
    said.into_iter().map(opinion).collect()
}

/// Reads the last account that a client wrote into a file.
fn cost_state(file: &SessionFile) -> Result<Option<CostState>, Failure> {
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
    .map_err(Failure::reading(&file.path))?;
    Ok(last)
}
