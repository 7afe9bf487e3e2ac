//! The bills of a store: what stands in several files, or under several names, is found to be one response.

use std::collections::HashMap;

use super::file_usage::{FileUsage, ResponseUsage};
use super::{TokenTotals, better};
use crate::entry::Usage;
use crate::id::{Id, IdMap};

/// A response of a store, counted once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UniqueResponse {
    /// The sheet on which it appeared first.
    pub sheet: u32,
    /// The number of its charge there: by its time, its model and the like it is booked.
    pub charge: u32,
    /// The tokens of its best line.
    pub usage: Usage,
    /// How many lines it stands on, in all files.
    pub lines: u32,
    /// How many charges were found to be copies of this one.
    pub copies: u32,
    /// Whether its output is a lower bound: no line says that the client had heard the end.
    pub open: bool,
}

impl UniqueResponse {
    /// Bills a charge that is the only one of its message.
    pub fn single(sheet: u32, charge_no: u32, charge: &ResponseUsage) -> UniqueResponse {
        let ResponseUsage { usage, lines, stopped, .. } = *charge;
        UniqueResponse { sheet, charge: charge_no, usage, lines, copies: 0, open: !stopped }
    }

    /// Returns the charge by which it is booked.
    pub fn first<'s>(&self, sheets: &'s [FileUsage]) -> (&'s FileUsage, &'s ResponseUsage) {
        let sheet = &sheets[self.sheet as usize];
        (sheet, &sheet.charges[self.charge as usize])
    }
}

/// Counts each response of some files once; the files are in the order of their paths. Bills are in the order in which
/// their messages are met.
pub fn dedupe_responses(sheets: &[FileUsage]) -> Vec<UniqueResponse> {
    dedupe_responses_where(sheets, |_| true).into_iter().map(|(bill, _)| bill).collect()
}

/// Counts each response once whose message is wanted; returns with each bill the charges it is for, where there may be more
/// than the one it is booked by.
pub fn dedupe_responses_where(
    sheets: &[FileUsage],
    wants: impl Fn(Id) -> bool,
) -> Vec<(UniqueResponse, Vec<ChargeNo>)> {
    let count = sheets.iter().flat_map(|sheet| &sheet.charges).filter(|charge| wants(charge.message)).count();
    let mut bills: Vec<(UniqueResponse, Vec<ChargeNo>)> = Vec::with_capacity(count);
    // Most messages stand in one file, under one request: what is there to decide about the others is put off.
    let mut places: IdMap<u32> = IdMap::with_capacity_and_hasher(count, Default::default());
    let mut groups: HashMap<u32, Vec<ChargeNo>> = HashMap::new();
    for (sheet_no, sheet) in (0..).zip(sheets) {
        for (charge_no, charge) in (0..).zip(&sheet.charges) {
            if !wants(charge.message) {
                continue;
            }
            let new = bills.len() as u32;
            let place = *places.entry(charge.message).or_insert(new);
            if place == new {
                bills.push((UniqueResponse::single(sheet_no, charge_no, charge), Vec::new()));
                continue;
            }
            let (first, _) = &bills[place as usize];
            let group = groups.entry(place).or_insert_with(|| vec![(first.sheet, first.charge)]);
            group.push((sheet_no, charge_no));
        }
    }
    let mut groups: Vec<(u32, Vec<ChargeNo>)> = groups.into_iter().collect();
    groups.sort_unstable_by_key(|(place, _)| *place);
    for (place, group) in groups {
        let mut united = group_copies(sheets, &group).into_iter();
        if let Some(first) = united.next() {
            bills[place as usize] = first;
        }
        bills.extend(united);
    }
    bills
}

/// Adds up what bills say.
pub fn total(bills: &[UniqueResponse]) -> TokenTotals {
    let mut spent = TokenTotals::default();
    bills.iter().for_each(|bill| spent.add(1, &bill.usage));
    spent
}

/// Adds up the responses of some files by `message.id` with `requestId`, or with the file where that is missing: copies
/// that lost their request count again.
pub fn total_by_request_id(sheets: &[FileUsage]) -> TokenTotals {
    let mut best: IdMap<Usage> = IdMap::default();
    for sheet in sheets {
        for charge in &sheet.charges {
            let key = charge.message.combine(charge.request.unwrap_or(sheet.file));
            best.entry(key).and_modify(|best| better(best, charge.usage)).or_insert(charge.usage);
        }
    }
    let mut spent = TokenTotals::default();
    best.values().for_each(|usage| spent.add(1, usage));
    spent
}

/// A charge: the number of its sheet, and its own number there.
pub type ChargeNo = (u32, u32);

/// Finds which charges of one message are one response; returns the bill of each, and the charges it is for.
pub fn group_copies(sheets: &[FileUsage], group: &[ChargeNo]) -> Vec<(UniqueResponse, Vec<ChargeNo>)> {
    let charge = |&(sheet, charge): &ChargeNo| &sheets[sheet as usize].charges[charge as usize];
    let family = |&(sheet, _): &ChargeNo| sheets[sheet as usize].session.as_str();
    let mut classes = DisjointSets::new(group.len());
    // One request is one response, wherever it stands.
    let mut requests: IdMap<usize> = IdMap::default();
    for (no, charge) in group.iter().map(charge).enumerate() {
        if let Some(request) = charge.request {
            classes.join(*requests.entry(request).or_insert(no), no);
        }
    }
    // Clients up to 2.0.1 lose the request when they copy. Where nobody knows it, lines of one family are one response,
    // and so are those of different ones that say the same: a copy does, while gateways that give the same name to
    // different responses do not.
    let requested = group.iter().position(|place| charge(place).request.is_some());
    let mut families: HashMap<&str, usize> = HashMap::new();
    let mut tokens: HashMap<Usage, usize> = HashMap::new();
    for (no, place) in group.iter().enumerate().filter(|(_, place)| charge(place).request.is_none()) {
        match requested {
            Some(known) => classes.join(known, no),
            None => {
                classes.join(*families.entry(family(place)).or_insert(no), no);
                classes.join(*tokens.entry(charge(place).usage).or_insert(no), no);
            }
        }
    }
    // A subagent that is told what was said so far replays it under a request of its own.
    let mains = group.iter().enumerate().filter(|(_, place)| !charge(place).side);
    let mains: HashMap<&str, usize> = mains.map(|(no, place)| (family(place), no)).collect();
    for (no, place) in group.iter().enumerate().filter(|(_, place)| charge(place).side) {
        if let Some(&main) = mains.get(family(place)) {
            classes.join(main, no);
        }
    }
    classes.bills(group, charge)
}

/// Which charges of a message belong together: each names one before it, or itself.
struct DisjointSets(Vec<usize>);

impl DisjointSets {
    fn new(count: usize) -> DisjointSets {
        DisjointSets((0..count).collect())
    }

    /// Returns the first of those that belong with one.
    fn first(&mut self, mut no: usize) -> usize {
        while self.0[no] != no {
            self.0[no] = self.0[self.0[no]];
            no = self.0[no];
        }
        no
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.first(a), self.first(b));
        self.0[a.max(b)] = a.min(b);
    }

    /// Returns the bill of each class, in the order of their first charges.
    fn bills<'c>(
        mut self,
        group: &[ChargeNo],
        charge: impl Fn(&ChargeNo) -> &'c ResponseUsage,
    ) -> Vec<(UniqueResponse, Vec<ChargeNo>)> {
        // What appeared first is what was written first; what does not say that it was copied goes before what does.
        let order = |place: &ChargeNo| {
            let charge = charge(place);
            (charge.time.is_none(), charge.time, charge.copied, *place)
        };
        let mut places: HashMap<usize, usize> = HashMap::new();
        let mut bills: Vec<(UniqueResponse, Vec<ChargeNo>)> = Vec::new();
        for (no, place) in group.iter().enumerate() {
            let one = UniqueResponse::single(place.0, place.1, charge(place));
            let new = bills.len();
            let at = *places.entry(self.first(no)).or_insert(new);
            if at == new {
                bills.push((one, vec![*place]));
                continue;
            }
            let (bill, charges) = &mut bills[at];
            charges.push(*place);
            better(&mut bill.usage, one.usage);
            bill.lines = bill.lines.saturating_add(one.lines);
            bill.copies += 1;
            bill.open &= one.open;
            if order(place) < order(&(bill.sheet, bill.charge)) {
                (bill.sheet, bill.charge) = *place;
            }
        }
        bills
    }
}
