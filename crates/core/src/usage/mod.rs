//! Which lines count: a response once, whatever it was copied to.
//!
//! The key is `message.id` with `requestId` over the whole store, because forks and resumes copy lines between
//! files; without a `requestId` it is `message.id` within its file. Of the lines of a response the one with the
//! most output counts, the last of equals. What the client itself wrote (`<synthetic>`) counts nothing.
//!
//! Clients up to 2.0.1 lose the `requestId` when they copy. [`Ledger::once`] sees through that: a line without one is
//! a copy of the response with the same `message.id` that has one, and such lines of several files are one response.

mod receipts;

use crate::entry::{Entry, Flags, Kind, Usage};
use crate::id::{Id, IdMap, IdSet};

pub use receipts::Receipts;

/// Responses and their tokens.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Ledger {
    /// By message and request, or by message and file.
    responses: IdMap<Usage>,
    /// Messages that have a request somewhere.
    requested: IdSet,
    /// Of the responses without a request: the message of each.
    bare: IdMap<Id>,
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

impl Ledger {
    /// Takes a line of the file called `file`.
    pub fn add(&mut self, entry: &Entry<'_>, file: Id) {
        let Some((id, usage)) = response(entry) else { return };
        let key = match entry.request {
            Some(request) => {
                self.requested.insert(id);
                id.with(request.id())
            }
            None => {
                let key = id.with(file);
                self.bare.insert(key, id);
                key
            }
        };
        self.book(key, usage);
    }

    fn book(&mut self, key: Id, usage: Usage) {
        self.responses
            .entry(key)
            .and_modify(|best| {
                if usage.output >= best.output {
                    *best = usage;
                }
            })
            .or_insert(usage);
    }

    /// Takes what another ledger holds; files must be taken in the order of their paths.
    pub fn merge(&mut self, later: Ledger) {
        if self.responses.is_empty() {
            *self = later;
            return;
        }
        for (key, usage) in later.responses {
            self.book(key, usage);
        }
        self.requested.extend(later.requested);
        self.bare.extend(later.bare);
    }

    /// Returns the sums by the plain rule.
    pub fn spent(&self) -> Spent {
        let mut spent = Spent { responses: self.responses.len(), usage: Usage::default() };
        for usage in self.responses.values() {
            spent.usage.add(usage);
        }
        spent
    }

    /// Returns the sums with copies that lost their request counted as what they are.
    pub fn once(&self) -> Spent {
        let mut spent = Spent::default();
        let mut bare: IdMap<Usage> = IdMap::default();
        for (key, usage) in &self.responses {
            match self.bare.get(key) {
                None => {
                    spent.responses += 1;
                    spent.usage.add(usage);
                }
                Some(message) if self.requested.contains(message) => {}
                Some(message) => {
                    let best = bare.entry(*message).or_default();
                    if usage.output >= best.output {
                        *best = *usage;
                    }
                }
            }
        }
        spent.responses += bare.len();
        for usage in bare.values() {
            spent.usage.add(usage);
        }
        spent
    }
}
