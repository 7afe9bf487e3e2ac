//! What rows are called.

use std::collections::HashMap;

use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::usage::BLOCK_MILLIS;
use rethread_engine::ops::{GroupBy, GroupKey, GroupRow, Reach};

use super::super::time::{Clock, rfc3339};
use super::super::{AppContext, clean};

/// Names rows.
pub(super) struct Labels<'p> {
    pub(super) by: GroupBy,
    pub(super) place: &'p AppContext,
    /// The clock of the zone that was asked for.
    pub(super) clock: &'p Clock,
    /// What sessions are called.
    pub(super) titles: HashMap<String, String>,
}

impl Labels<'_> {
    /// Names a row for a reader.
    pub(super) fn of(&self, key: &GroupKey) -> String {
        match key {
            GroupKey::Block(begin) => {
                self.clock.range(*begin, Timestamp(begin.0.saturating_add(BLOCK_MILLIS)))
            }
            GroupKey::Name(name) if self.by == GroupBy::Project => self.place.tilde(name),
            GroupKey::Name(name) if self.by == GroupBy::Session => {
                let id: String = name.chars().take(8).collect();
                let title = self.titles.get(name).map(|title| clean::line(title)).unwrap_or_default();
                format!("{}  {title}", clean::line(&id)).trim_end().to_owned()
            }
            GroupKey::Reach(reach) => match reach {
                Reach::Active => "remembered",
                Reach::Compacted => "before a compaction",
                Reach::Abandoned => "abandoned branches",
                Reach::Subagent => "subagents",
                Reach::Outside => "no part of a conversation",
            }
            .to_owned(),
            GroupKey::Unknown => self.unknown().to_owned(),
            key => clean::line(&self.plain(key).unwrap_or_default()),
        }
    }

    fn unknown(&self) -> &'static str {
        match self.by {
            GroupBy::Day | GroupBy::Week | GroupBy::Month | GroupBy::Block => "no date",
            GroupBy::Project => "no folder",
            GroupBy::Session => "no session",
            GroupBy::Model => "no model",
            GroupBy::Tool => "no tool called",
            GroupBy::Agent => "other subagents",
            GroupBy::Branch => "no git branch",
            GroupBy::Reach => "unknown",
        }
    }

    /// Names a row for a program; none where it has no name.
    pub(super) fn plain(&self, key: &GroupKey) -> Option<String> {
        Some(match key {
            GroupKey::Day(day) if self.by == GroupBy::Month => day.date().strftime("%Y-%m").to_string(),
            GroupKey::Day(day) => day.date().to_string(),
            GroupKey::Block(begin) => rfc3339(*begin)?,
            GroupKey::Name(name) => name.clone(),
            GroupKey::Reach(reach) => reach.name().to_owned(),
            GroupKey::Unknown => return None,
        })
    }

    /// Whether a row is that of the block that is running.
    pub(super) fn is_running(&self, row: &GroupRow) -> bool {
        let now = self.clock.now().as_millisecond();
        matches!(row.key, GroupKey::Block(begin) if (begin.0..begin.0.saturating_add(BLOCK_MILLIS)).contains(&now))
    }
}
