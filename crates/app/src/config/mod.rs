//! The configuration file: values with their origins, and what is wrong with it. It contains only data: nothing in it is
//! run.
//!
//! ```text
//! file ─▶ `file` finds and reads it ─▶ `read` parses keys ─┐
//! environment, command line ───────────────────────────────┴─▶ `load` ─▶ Config, ConfigReport
//! ```

mod columns;
mod file;
mod keys;
mod load;
mod palette;
mod problem;
mod read;
mod setting;
mod statusline_format;
#[cfg(test)]
mod tests;

pub(crate) use self::columns::{LsColumn, LsColumns};
pub(crate) use self::file::create_template;

pub(crate) use self::load::{GlobalOptions, load_config};
pub(crate) use self::palette::{Palette, TextRole};
pub(crate) use self::problem::{ConfigProblem, ConfigReport, Severity};
pub(crate) use self::setting::{Color, Kept, Origin, Setting, Theme};
pub(crate) use self::statusline_format::{StatuslineField, StatuslineFormat, StatuslinePart};

use std::path::PathBuf;

use crate::export::{Detail, Format, SecretsSetting};
use crate::prices::PricesSource;
use crate::text::resume_command::ResumeTemplate;

/// The settings of the user. Each has an origin.
#[derive(Debug, Clone, Default)]
pub(crate) struct Config {
    /// The folders with sessions.
    pub(crate) roots: Setting<Vec<PathBuf>>,
    /// Whether sessions are read that only the archive has.
    pub(crate) kept: Setting<Kept>,
    /// When to use colours.
    pub(crate) color: Setting<Color>,
    /// The theme of the pages of `serve`.
    pub(crate) theme: Setting<Theme>,
    /// The name of the time zone. `None` is the zone of the system.
    pub(crate) time_zone: Setting<Option<String>>,
    /// The colours by role.
    pub(crate) palette: Palette,
    /// The columns of `ls`.
    pub(crate) ls_columns: Setting<LsColumns>,
    /// The folders whose sessions are not archived.
    pub(crate) archive_exclude: Setting<Vec<PathBuf>>,
    /// The command that resumes a session.
    pub(crate) resume_command: Setting<ResumeTemplate>,
    /// The price table.
    pub(crate) prices: Setting<PricesSource>,
    /// The parts of the status line.
    pub(crate) statusline_format: Setting<StatuslineFormat>,
    /// The text between the parts of the status line.
    pub(crate) statusline_separator: Setting<Separator>,
    /// The format of exports. `None` depends on the name of the file.
    pub(crate) export_format: Setting<Option<Format>>,
    /// The level of detail of exports. `None` depends on the format.
    pub(crate) export_detail: Setting<Option<Detail>>,
    /// Whether exports omit texts in the user's name that no user typed.
    pub(crate) export_only_typed: Setting<bool>,
    /// The theme of exported pages.
    pub(crate) export_theme: Setting<Theme>,
    /// Whether exports replace secrets.
    pub(crate) export_secrets: Setting<SecretsSetting>,
}

/// The text between the parts of the status line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Separator(pub(crate) String);

impl Default for Separator {
    fn default() -> Separator {
        Separator(" · ".to_owned())
    }
}
