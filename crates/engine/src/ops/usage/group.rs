//! Groups of bills: whatever they are grouped by, the rows add up to the whole.

use std::collections::HashMap;

use rethread_core::entry::Moment;
use rethread_core::usage::{Account, Day, Sum};

use super::super::around::Whereabouts;

/// By what to group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The day of the first line.
    Day,
    /// Its week, from Monday.
    Week,
    /// Its month.
    Month,
    /// The folder of the session.
    Project,
    /// The session.
    Session,
    /// The model.
    Model,
    /// The tools that a response calls, in equal parts.
    Tool,
    /// The kind of subagent.
    Agent,
    /// The git branch.
    Branch,
    /// The block of five hours.
    Block,
    /// Whether the client would still load it.
    Reach,
}

impl By {
    /// All of them, in the order in which they are offered.
    pub const ALL: [By; 11] = [
        By::Day,
        By::Week,
        By::Month,
        By::Project,
        By::Session,
        By::Model,
        By::Tool,
        By::Agent,
        By::Branch,
        By::Block,
        By::Reach,
    ];

    /// Names it as it is typed.
    pub fn name(self) -> &'static str {
        match self {
            By::Day => "day",
            By::Week => "week",
            By::Month => "month",
            By::Project => "project",
            By::Session => "session",
            By::Model => "model",
            By::Tool => "tool",
            By::Agent => "agent",
            By::Branch => "branch",
            By::Block => "block",
            By::Reach => "reach",
        }
    }
}

/// What the responses of a row have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key {
    /// A day, or the first one of a week or month.
    Day(Day),
    /// When a block begins.
    Block(Moment),
    /// A name of any other kind.
    Name(String),
    /// How they stand to what the client would load.
    Reach(Reach),
    /// Nothing is known about it.
    Unknown,
}

/// How a response stands to what the client would load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reach {
    /// It would be loaded.
    Active,
    /// It stands before a compaction.
    Compacted,
    /// It stands on a branch that was left.
    Abandoned,
    /// A subagent got it.
    Subagent,
    /// It is no part of the conversation.
    Outside,
}

impl Reach {
    /// Names it as a query does.
    pub fn name(self) -> &'static str {
        match self {
            Reach::Active => "active",
            Reach::Compacted => "compacted",
            Reach::Abandoned => "abandoned",
            Reach::Subagent => "subagent",
            Reach::Outside => "outside",
        }
    }
}

impl From<Whereabouts> for Reach {
    fn from(whereabouts: Whereabouts) -> Reach {
        match whereabouts {
            Whereabouts::Active => Reach::Active,
            Whereabouts::Compacted => Reach::Compacted,
            Whereabouts::Aside | Whereabouts::Island => Reach::Abandoned,
            Whereabouts::Agent => Reach::Subagent,
            Whereabouts::Outside => Reach::Outside,
        }
    }
}

/// A row of a table.
#[derive(Debug, Clone)]
pub struct Row {
    /// What its responses have in common.
    pub key: Key,
    /// What they come to.
    pub account: Account,
    /// When the first and the last of them were got.
    pub span: Option<(Moment, Moment)>,
}

/// Rows as they come together.
#[derive(Debug, Default)]
pub(super) struct Rows {
    rows: Vec<Row>,
    places: HashMap<Key, usize>,
    /// Where the last bill went: the next one mostly goes there too.
    last: usize,
}

impl Rows {
    /// Adds a sum to the row of a key.
    pub(super) fn book(&mut self, key: Key, side: bool, time: Option<Moment>, sum: &Sum) {
        if self.rows.get(self.last).is_none_or(|row| row.key != key) {
            let new = self.rows.len();
            self.last = *self.places.entry(key).or_insert_with_key(|key| {
                self.rows.push(Row { key: key.clone(), account: Account::default(), span: None });
                new
            });
        }
        let row = &mut self.rows[self.last];
        row.account.book(side, sum);
        if let Some(time) = time {
            let (first, last) = row.span.unwrap_or((time, time));
            row.span = Some((first.min(time), last.max(time)));
        }
    }

    /// Puts rows of days together.
    pub(super) fn coarser(self, into: impl Fn(Day) -> Day) -> Rows {
        let mut coarse = Rows::default();
        for row in self.rows {
            let key = if let Key::Day(day) = row.key { Key::Day(into(day)) } else { row.key };
            let (first, last) = row.span.unzip();
            for (side, sum) in [(false, row.account.own), (true, row.account.agents)] {
                coarse.book(key.clone(), side, first, &sum);
                coarse.book(key.clone(), side, last, &Sum::default());
            }
        }
        coarse
    }

    /// Returns them: times in order, all else by what they cost, the dearest first.
    pub(super) fn finish(mut self) -> Vec<Row> {
        let weight = |row: &Row| {
            let total = row.account.total();
            (total.cost, total.spent.usage.total())
        };
        self.rows.sort_by(|a, b| match (&a.key, &b.key) {
            (Key::Day(_) | Key::Block(_) | Key::Unknown, Key::Day(_) | Key::Block(_) | Key::Unknown) => {
                a.key.cmp(&b.key)
            }
            _ => weight(b).cmp(&weight(a)).then_with(|| a.key.cmp(&b.key)),
        });
        self.rows
    }
}
