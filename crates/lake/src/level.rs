//! Privacy levels: what leaves the machine.

use rethread_engine::ops::tables::ColumnPrivacy;

/// Selects what leaves the machine. Each level includes the former ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Level {
    /// Numbers, times, random ids and names that the client defines. Other names become keys or `other`.
    #[default]
    Metrics,
    /// Also paths, git branches and names of tools and servers.
    Names,
    /// Also prompts, answers, inputs and results, in a folder of their own.
    Text,
}

impl Level {
    /// All levels.
    pub const ALL: &'static [Level] = &[Level::Metrics, Level::Names, Level::Text];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Level::Metrics => "metrics",
            Level::Names => "names",
            Level::Text => "text",
        }
    }

    /// Returns the level with a name. Returns `None` if there is none.
    pub fn from_name(name: &str) -> Option<Level> {
        Level::ALL.iter().copied().find(|level| level.name() == name)
    }

    /// Returns the number in the column `level`, from 1.
    pub fn number(self) -> i64 {
        match self {
            Level::Metrics => 1,
            Level::Names => 2,
            Level::Text => 3,
        }
    }

    /// Returns one sentence about what leaves the machine.
    pub fn description(self) -> &'static str {
        match self {
            Level::Metrics => "numbers, times, and names that the client defines; no path, branch or text",
            Level::Names => "also paths, git branches and names of tools; no text of conversations",
            Level::Text => "also the text of conversations, without recognised secrets",
        }
    }

    /// Returns `true` if values of a column with this privacy leave the machine as they are.
    pub(crate) fn includes(self, privacy: ColumnPrivacy) -> bool {
        match privacy {
            ColumnPrivacy::Metrics => true,
            ColumnPrivacy::Vocabulary | ColumnPrivacy::Names => self >= Level::Names,
            ColumnPrivacy::Text => self >= Level::Text,
        }
    }
}
