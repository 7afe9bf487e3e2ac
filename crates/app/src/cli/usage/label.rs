//! What rows are called.

use std::collections::HashMap;

use rethread_engine::core::entry::Moment;
use rethread_engine::core::usage::BLOCK;
use rethread_engine::ops::{By, Key, Reach, Row};

use super::super::when::{Clock, rfc3339};
use super::super::{Place, clean};

/// Names rows.
pub(super) struct Labels<'p> {
    pub(super) by: By,
    pub(super) place: &'p Place,
    /// The clock of the zone that was asked for.
    pub(super) clock: &'p Clock,
    /// What sessions are called.
    pub(super) titles: HashMap<String, String>,
}

impl Labels<'_> {
    /// Names a row for a reader.
    pub(super) fn of(&self, key: &Key) -> String {
        match key {
            Key::Block(begin) => self.clock.range(*begin, Moment(begin.0.saturating_add(BLOCK))),
            Key::Name(name) if self.by == By::Project => self.place.tilde(name),
            Key::Name(name) if self.by == By::Session => {
                let id: String = name.chars().take(8).collect();
                let title = self.titles.get(name).map(|title| clean::line(title)).unwrap_or_default();
                format!("{}  {title}", clean::line(&id)).trim_end().to_owned()
            }
            Key::Reach(reach) => match reach {
                Reach::Active => "remembered",
                Reach::Compacted => "before a compaction",
                Reach::Abandoned => "abandoned branches",
                Reach::Subagent => "subagents",
                Reach::Outside => "no part of a conversation",
            }
            .to_owned(),
            Key::Unknown => self.unknown().to_owned(),
            key => clean::line(&self.plain(key).unwrap_or_default()),
        }
    }

    fn unknown(&self) -> &'static str {
        match self.by {
            By::Day | By::Week | By::Month | By::Block => "no date",
            By::Project => "no folder",
            By::Session => "no session",
            By::Model => "no model",
            By::Tool => "no tool called",
            By::Agent => "other subagents",
            By::Branch => "no git branch",
            By::Reach => "unknown",
        }
    }

    /// Names a row for a program; none where it has no name.
    pub(super) fn plain(&self, key: &Key) -> Option<String> {
        Some(match key {
            Key::Day(day) if self.by == By::Month => day.date().strftime("%Y-%m").to_string(),
            Key::Day(day) => day.date().to_string(),
            Key::Block(begin) => rfc3339(*begin)?,
            Key::Name(name) => name.clone(),
            Key::Reach(reach) => reach.name().to_owned(),
            Key::Unknown => return None,
        })
    }

    /// Whether a row is that of the block that is running.
    pub(super) fn is_running(&self, row: &Row) -> bool {
        let now = self.clock.now().as_millisecond();
        matches!(row.key, Key::Block(begin) if (begin.0..begin.0.saturating_add(BLOCK)).contains(&now))
    }
}
