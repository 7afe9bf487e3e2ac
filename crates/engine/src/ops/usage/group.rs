//! Groups of bills: whatever they are grouped by, the rows add up to the whole.

use std::collections::HashMap;

use rethread_core::entry::Timestamp;
use rethread_core::usage::{CostTotals, Day, SessionTotals};

use crate::session::match_context::ContextStatus;

/// By what to group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupBy {
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

impl GroupBy {
    /// All of them, in the order in which they are offered.
    pub const ALL: [GroupBy; 11] = [
        GroupBy::Day,
        GroupBy::Week,
        GroupBy::Month,
        GroupBy::Project,
        GroupBy::Session,
        GroupBy::Model,
        GroupBy::Tool,
        GroupBy::Agent,
        GroupBy::Branch,
        GroupBy::Block,
        GroupBy::Reach,
    ];

    /// Names it as it is typed.
    pub fn name(self) -> &'static str {
        match self {
            GroupBy::Day => "day",
            GroupBy::Week => "week",
            GroupBy::Month => "month",
            GroupBy::Project => "project",
            GroupBy::Session => "session",
            GroupBy::Model => "model",
            GroupBy::Tool => "tool",
            GroupBy::Agent => "agent",
            GroupBy::Branch => "branch",
            GroupBy::Block => "block",
            GroupBy::Reach => "reach",
        }
    }
}

/// What the responses of a row have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GroupKey {
    /// A day, or the first one of a week or month.
    Day(Day),
    /// When a block begins.
    Block(Timestamp),
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

impl From<ContextStatus> for Reach {
    fn from(whereabouts: ContextStatus) -> Reach {
        match whereabouts {
            ContextStatus::Active => Reach::Active,
            ContextStatus::Compacted => Reach::Compacted,
            ContextStatus::Aside | ContextStatus::Island => Reach::Abandoned,
            ContextStatus::Agent => Reach::Subagent,
            ContextStatus::Outside => Reach::Outside,
        }
    }
}

/// A row of a table.
#[derive(Debug, Clone)]
pub struct GroupRow {
    /// What its responses have in common.
    pub key: GroupKey,
    /// What they come to.
    pub account: SessionTotals,
    /// When the first and the last of them were got.
    pub span: Option<(Timestamp, Timestamp)>,
}

/// Rows as they come together.
#[derive(Debug, Default)]
pub(super) struct Rows {
    rows: Vec<GroupRow>,
    places: HashMap<GroupKey, usize>,
    /// Where the last bill went: the next one mostly goes there too.
    last: usize,
}

impl Rows {
    /// Adds a sum to the row of a key.
    pub(super) fn book(&mut self, key: GroupKey, side: bool, time: Option<Timestamp>, sum: &CostTotals) {
        if self.rows.get(self.last).is_none_or(|row| row.key != key) {
            let new = self.rows.len();
            self.last = *self.places.entry(key).or_insert_with_key(|key| {
                self.rows.push(GroupRow { key: key.clone(), account: SessionTotals::default(), span: None });
                new
            });
        }
        let row = &mut self.rows[self.last];
        row.account.add_part(side, sum);
        if let Some(time) = time {
            let (first, last) = row.span.unwrap_or((time, time));
            row.span = Some((first.min(time), last.max(time)));
        }
    }

    /// Puts rows of days together.
    pub(super) fn coarser(self, into: impl Fn(Day) -> Day) -> Rows {
        let mut coarse = Rows::default();
        for row in self.rows {
            let key = if let GroupKey::Day(day) = row.key { GroupKey::Day(into(day)) } else { row.key };
            let (first, last) = row.span.unzip();
            for (side, sum) in [(false, row.account.own), (true, row.account.agents)] {
                coarse.book(key.clone(), side, first, &sum);
                coarse.book(key.clone(), side, last, &CostTotals::default());
            }
        }
        coarse
    }

    /// Returns them: times in order, all else by what they cost, the dearest first.
    pub(super) fn finish(mut self) -> Vec<GroupRow> {
        let weight = |row: &GroupRow| {
            let total = row.account.total();
            (total.cost, total.spent.usage.total())
        };
        self.rows.sort_by(|a, b| match (&a.key, &b.key) {
            (
                GroupKey::Day(_) | GroupKey::Block(_) | GroupKey::Unknown,
                GroupKey::Day(_) | GroupKey::Block(_) | GroupKey::Unknown,
            ) => a.key.cmp(&b.key),
            _ => weight(b).cmp(&weight(a)).then_with(|| a.key.cmp(&b.key)),
        });
        self.rows
    }
}
