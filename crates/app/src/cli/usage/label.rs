//! Labels of usage rows.

use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::resume::ContextStatus;
use rethread_engine::core::usage::BLOCK_MILLIS;
use rethread_engine::ops::usage::{GroupBy, GroupKey, GroupRow};

use crate::cli::time::{Clock, format_rfc3339};
use crate::cli::{AppContext, clean};

/// Formats the labels of usage rows, which depend on the grouping.
#[derive(Clone, Copy)]
pub(super) struct Labels<'p> {
    pub(super) by: GroupBy,
    /// The grouping within each group, if any.
    pub(super) then_by: Option<GroupBy>,
    pub(super) app: &'p AppContext,
    /// The clock in the requested time zone.
    pub(super) clock: &'p Clock,
}

impl Labels<'_> {
    /// Returns the labels of the groups within a group. Returns `None` without a second grouping.
    pub(super) fn of_parts(&self) -> Option<Self> {
        self.then_by.map(|by| Labels { by, then_by: None, ..*self })
    }

    /// Returns the label of a row for tables.
    pub(super) fn label(&self, row: &GroupRow) -> String {
        match &row.key {
            GroupKey::Block(start) => {
                self.clock.format_range(*start, Timestamp(start.0.saturating_add(BLOCK_MILLIS)))
            }
            GroupKey::Name(name) if self.by == GroupBy::Project => self.app.format_path(name),
            GroupKey::Name(name) if self.by == GroupBy::Session => {
                let id: String = name.chars().take(8).collect();
                let title = row.title.as_deref().map(clean::line).unwrap_or_default();
                format!("{}  {title}", clean::line(&id)).trim_end().to_owned()
            }
            GroupKey::ContextStatus(status) => match status {
                ContextStatus::Active => "in context",
                ContextStatus::Compacted => "compacted",
                ContextStatus::OtherBranch | ContextStatus::Orphaned => "abandoned branches",
                ContextStatus::Subagent => "subagents",
                ContextStatus::Unlinked => "not part of a conversation",
            }
            .to_owned(),
            GroupKey::Unknown => self.unknown_label().to_owned(),
            key => clean::line(&self.machine_name(key).unwrap_or_default()),
        }
    }

    /// Returns the label of the group of responses without a value for the grouping.
    fn unknown_label(&self) -> &'static str {
        match self.by {
            GroupBy::Day | GroupBy::Week | GroupBy::Month | GroupBy::Block => "no date",
            GroupBy::Project => "no folder",
            GroupBy::Session => "no session",
            GroupBy::Model => "no model",
            GroupBy::Tool => "no tool called",
            GroupBy::Agent => "other subagents",
            GroupBy::Branch => "no git branch",
            GroupBy::ContextStatus => "unknown",
        }
    }

    /// Returns the machine-readable name of a group: a date, a time, an id or a name.
    ///
    /// Returns `None` for the group of unknown values, or if the time is out of range.
    pub(super) fn machine_name(&self, key: &GroupKey) -> Option<String> {
        Some(match key {
            GroupKey::Day(day) if self.by == GroupBy::Month => day.date().strftime("%Y-%m").to_string(),
            GroupKey::Day(day) => day.date().to_string(),
            GroupKey::Block(start) => format_rfc3339(*start)?,
            GroupKey::Name(name) => name.clone(),
            GroupKey::ContextStatus(status) => status.name().to_owned(),
            GroupKey::Unknown => return None,
        })
    }

    /// Returns `true` if the row is a five-hour block that contains the current time.
    pub(super) fn is_running(&self, row: &GroupRow) -> bool {
        let now = self.clock.now().as_millisecond();
        matches!(row.key, GroupKey::Block(start) if (start.0..start.0.saturating_add(BLOCK_MILLIS)).contains(&now))
    }
}
