//! Which lines count: a response once, whatever it was copied to.
//!
//! The key is `message.id` with `requestId` over the whole store, because forks and resumes copy lines between
//! files; without a `requestId` it is `message.id` within its file. Of the lines of a response the one with the
//! most output counts, the last of equals. What the client itself wrote (`<synthetic>`) counts nothing.
//!
//! Clients up to 2.0.1 lose the `requestId` when they copy. [`Ledger::once`] sees through that: a line without one is
//! a copy of the response with the same `message.id` that has one, and such lines of several files are one response.

mod cost_state;
mod money;
pub mod price;
mod receipts;

use crate::entry::{Entry, Flags, Kind, Text, Usage};
use crate::id::{Id, IdMap, IdSet};

pub use cost_state::{CostState, ModelCost};
pub use money::Money;
pub use price::{PriceProblem, Prices, Tariff};
pub use receipts::Receipts;

/// Responses and their tokens.
///
/// What was taken from each file stands behind what was taken from those before; only who asks for sums pays for finding
/// what is there twice.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Ledger {
    /// By message and request, or by message and file: the best line of each file.
    responses: Vec<(Id, Usage)>,
    /// Messages that have a request somewhere.
    requested: Vec<Id>,
    /// Of the responses without a request: the message of each.
    bare: Vec<(Id, Id)>,
}

/// Fills a ledger with the lines of one file.
#[derive(Debug, Default)]
pub struct Booking {
    ledger: Ledger,
    /// Where each response stands.
    places: IdMap<u32>,
}

crate::pack_fields!(Ledger { responses, requested, bare });

/// How many responses, and their tokens.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Spent {
    /// How many responses.
    pub responses: usize,
    /// Their tokens.
    pub usage: Usage,
}

/// Returns the message of a line that counts, and its tokens.
fn response(entry: &Entry<'_>) -> Option<(Id, Usage)> {
    let message = entry.message.as_ref().filter(|_| entry.kind == Kind::Assistant)?;
    let (id, usage) = message.id.zip(message.usage)?;
    (!entry.is(Flags::SYNTHETIC)).then(|| (id.id(), usage))
}

impl Booking {
    /// Takes a line of the file called `file`.
    pub fn add(&mut self, entry: &Entry<'_>, file: Id) {
        let Some((id, usage)) = response(entry) else { return };
        let key = id.with(entry.request.map_or(file, Text::id));
        let ledger = &mut self.ledger;
        let new = ledger.responses.len() as u32;
        let place = *self.places.entry(key).or_insert(new);
        if place < new {
            better(&mut ledger.responses[place as usize].1, usage);
            return;
        }
        ledger.responses.push((key, usage));
        match entry.request {
            Some(_) => ledger.requested.push(id),
            None => ledger.bare.push((key, id)),
        }
    }

    /// Returns the ledger.
    pub fn finish(self) -> Ledger {
        self.ledger
    }
}

/// Of two lines of a response the one with more output counts, the later of equals.
fn better(best: &mut Usage, usage: Usage) {
    if usage.output >= best.output {
        *best = usage;
    }
}

impl Ledger {
    /// Takes what another ledger holds; files must be taken in the order of their paths.
    pub fn merge(&mut self, later: Ledger) {
        if self.responses.is_empty() {
            *self = later;
            return;
        }
        self.responses.extend(later.responses);
        self.requested.extend(later.requested);
        self.bare.extend(later.bare);
    }

    /// Returns each response once.
    fn distinct(&self) -> IdMap<Usage> {
        let mut distinct = IdMap::with_capacity_and_hasher(self.responses.len(), Default::default());
        for &(key, usage) in &self.responses {
            distinct.entry(key).and_modify(|best| better(best, usage)).or_insert(usage);
        }
        distinct
    }

    /// Returns the sums by the plain rule.
    pub fn spent(&self) -> Spent {
        let distinct = self.distinct();
        let mut spent = Spent { responses: distinct.len(), usage: Usage::default() };
        distinct.values().for_each(|usage| spent.usage.add(usage));
        spent
    }

    /// Returns the sums with copies that lost their request counted as what they are.
    pub fn once(&self) -> Spent {
        if self.bare.is_empty() {
            return self.spent();
        }
        let requested: IdSet = self.requested.iter().copied().collect();
        let messages: IdMap<Id> = self.bare.iter().copied().collect();
        let mut spent = Spent::default();
        let mut bare: IdMap<Usage> = IdMap::default();
        for (key, usage) in &self.distinct() {
            match messages.get(key) {
                None => {
                    spent.responses += 1;
                    spent.usage.add(usage);
                }
                Some(message) if requested.contains(message) => {}
                Some(message) => better(bare.entry(*message).or_default(), *usage),
            }
        }
        spent.responses += bare.len();
        bare.values().for_each(|usage| spent.usage.add(usage));
        spent
    }
}
