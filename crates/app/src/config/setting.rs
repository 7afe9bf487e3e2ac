//! A value with its origin, and values that are a choice.

use std::path::Path;

use rethread_engine::KeptFilter;

/// The source of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Origin {
    /// An option of the command line.
    CommandLine(&'static str),
    /// An environment variable.
    Environment(&'static str),
    /// A line of the configuration file.
    File { line: usize },
    /// No source sets it.
    #[default]
    Default,
}

impl Origin {
    /// Describes the source in a few characters. `file` is the name of the configuration file.
    pub(crate) fn describe(self, file: &str) -> String {
        match self {
            Origin::CommandLine(option) => option.to_owned(),
            Origin::Environment(variable) => format!("${variable}"),
            Origin::File { line } => format!("{file}:{line}"),
            Origin::Default => "default".to_owned(),
        }
    }
}

/// A value with its origin.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Setting<T> {
    /// The value.
    pub(crate) value: T,
    /// The source of the value.
    pub(crate) origin: Origin,
}

impl<T> Setting<T> {
    /// Creates a setting.
    pub(crate) fn new(value: T, origin: Origin) -> Setting<T> {
        Setting { value, origin }
    }
}

/// A setting as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShownSetting {
    /// The key, as in `ls.columns`.
    pub(crate) key: String,
    /// The value as in the file, without quotes around a text.
    pub(crate) value: String,
    /// The source of the value.
    pub(crate) origin: Origin,
}

/// The condition for coloured output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless the environment overrides it
    #[default]
    Auto,
    /// Also in files and pipes
    Always,
    /// Nowhere
    Never,
}

/// Which sessions are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Kept {
    /// Sessions on disk, and those that only the archive has
    #[default]
    With,
    /// Sessions on disk
    Without,
    /// Sessions that only the archive has
    Only,
}

impl Kept {
    /// Converts the choice to a filter.
    pub(crate) fn to_filter(self) -> KeptFilter {
        match self {
            Kept::With => KeptFilter::With,
            Kept::Without => KeptFilter::Without,
            Kept::Only => KeptFilter::Only,
        }
    }
}

/// The theme of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Theme {
    /// The theme of the system
    #[default]
    Auto,
    /// Dark text on a light background
    Light,
    /// Light text on a dark background
    Dark,
}

impl Theme {
    /// Returns the value of the attribute `data-theme` of a page. Returns `None` for the theme of the system.
    pub(crate) fn attribute(self) -> Option<&'static str> {
        match self {
            Theme::Auto => None,
            Theme::Light => Some("light"),
            Theme::Dark => Some("dark"),
        }
    }
}

/// Returns the name of a choice as the user types it.
pub(super) fn choice_name<T: clap::ValueEnum>(choice: &T) -> String {
    choice.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// Formats a path as text.
pub(super) fn path_text(path: &Path) -> String {
    path.display().to_string()
}
