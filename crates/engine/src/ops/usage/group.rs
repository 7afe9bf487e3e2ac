//! Groups of responses. The rows of every grouping add up to the total.

use std::collections::HashMap;

use rethread_core::entry::Timestamp;
use rethread_core::resume::ContextStatus;
use rethread_core::usage::{CostTotals, Day, SessionTotals};

/// The grouping of a usage report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupBy {
    /// The local day of the first line of the response.
    Day,
    /// The week, from Monday.
    Week,
    /// The month.
    Month,
    /// The working folder of the session.
    Project,
    /// The session.
    Session,
    /// The model.
    Model,
    /// The tools that the response calls. Its cost is divided equally among the calls.
    Tool,
    /// The agent type.
    Agent,
    /// The git branch.
    Branch,
    /// The five-hour block.
    Block,
    /// The context status: whether the client would still load the response.
    ContextStatus,
}

impl GroupBy {
    /// All groupings, in display order.
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
        GroupBy::ContextStatus,
    ];

    /// Returns the name of the grouping on the command line.
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
            GroupBy::ContextStatus => "reach",
        }
    }
}

/// The property that all responses of a row have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GroupKey {
    /// A day, or the first day of a week or month.
    Day(Day),
    /// The start of a block.
    Block(Timestamp),
    /// Any other name.
    Name(String),
    /// The context status.
    ContextStatus(ContextStatus),
    /// The property is unknown.
    Unknown,
}

/// A row of a usage report.
#[derive(Debug, Clone)]
pub struct GroupRow {
    /// The property that the responses of the row have in common.
    pub key: GroupKey,
    /// The title of the session, if the rows are grouped by session and the title is known.
    pub title: Option<String>,
    /// The tokens and costs of the session itself and of subagents.
    pub totals: SessionTotals,
    /// The times of the first and the last response. `None` if no response has a time.
    pub time_range: Option<(Timestamp, Timestamp)>,
    /// The groups within this one, which add up to its totals. Empty without a second grouping.
    pub parts: Vec<GroupRow>,
}

/// Collects the rows of a report.
#[derive(Debug, Default)]
pub(super) struct GroupRows {
    rows: Vec<GroupRow>,
    /// The index of the row of each key.
    row_idxs: HashMap<GroupKey, usize>,
    /// The index of the row of the last response. The next response usually has the same row.
    last_idx: usize,
}

impl GroupRows {
    /// Adds the cost of a response to the row of a key, and returns the index of the row. Creates it if necessary.
    pub(super) fn add(
        &mut self,
        key: GroupKey,
        is_subagent: bool,
        time: Option<Timestamp>,
        cost: &CostTotals,
    ) -> usize {
        if self.rows.get(self.last_idx).is_none_or(|row| row.key != key) {
            let new_idx = self.rows.len();
            self.last_idx = *self.row_idxs.entry(key).or_insert_with_key(|key| {
                self.rows.push(GroupRow {
                    key: key.clone(),
                    title: None,
                    totals: SessionTotals::default(),
                    time_range: None,
                    parts: Vec::new(),
                });
                new_idx
            });
        }
        let row = &mut self.rows[self.last_idx];
        row.totals.add_part(is_subagent, cost);
        if let Some(time) = time {
            let (first, last) = row.time_range.unwrap_or((time, time));
            row.time_range = Some((first.min(time), last.max(time)));
        }
        self.last_idx
    }

    /// Returns the rows: times in ascending order, all others by descending cost. `parts` are the groups within each row,
    /// by the index of the row.
    pub(super) fn finish(mut self, parts: Vec<GroupRows>) -> Vec<GroupRow> {
        for (row, parts) in self.rows.iter_mut().zip(parts) {
            row.parts = parts.finish(Vec::new());
        }
        let sort_key = |row: &GroupRow| {
            let total = row.totals.total();
            (total.cost, total.counts.usage.total())
        };
        self.rows.sort_by(|a, b| match (&a.key, &b.key) {
            (
                GroupKey::Day(_) | GroupKey::Block(_) | GroupKey::Unknown,
                GroupKey::Day(_) | GroupKey::Block(_) | GroupKey::Unknown,
            ) => a.key.cmp(&b.key),
            _ => sort_key(b).cmp(&sort_key(a)).then_with(|| a.key.cmp(&b.key)),
        });
        self.rows
    }
}
