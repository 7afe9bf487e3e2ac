//! Combines the command line, the environment, the configuration file and the defaults, in this order of precedence.

use std::path::PathBuf;

use rethread_engine::ops::client_stores::find_other_stores;

use super::Config;
use super::file::{ConfigFile, FileProblem, find_config_file};
use super::problem::{ConfigProblem, ConfigReport, Severity};
use super::read::{ReadContext, read_config};
use super::setting::{Color, Kept, Origin, Setting, ShownSetting, choice_name, path_text};
use crate::env;
use crate::prices::{PricesSource, check_price_table};
use crate::text::time::Clock;

/// The options of the command line that override settings of every command.
#[derive(Debug, Clone, Default)]
pub(crate) struct GlobalOptions {
    /// The configuration file.
    pub(crate) config: Option<PathBuf>,
    /// The folders with sessions.
    pub(crate) roots: Vec<PathBuf>,
    /// When to use colours.
    pub(crate) color: Option<Color>,
    /// Which sessions are read.
    pub(crate) kept: Option<Kept>,
}

/// Loads the settings. A problem of the file never prevents this: the value of the next source is used.
pub(crate) fn load_config(options: &GlobalOptions, clock: &Clock) -> (Config, ConfigReport) {
    let mut config = Config::default();
    if let Some(claude) = env::claude_dir() {
        config.roots.value = vec![claude];
    }
    let mut report = ConfigReport::default();
    if let Some(file) = find_config_file(options.config.as_deref()) {
        let home = env::home_dir();
        match file.read() {
            Ok(text) => {
                let context = ReadContext { home: home.as_deref(), path: file.path(), clock };
                report.exists = true;
                report.problems = read_config(&text, &context, &mut config);
            }
            Err(FileProblem::Missing) => report.problems.extend(report_missing(&file)),
            Err(FileProblem::Unreadable(message)) => {
                report.exists = true;
                report.problems.push(ConfigProblem::in_file(Severity::Error, message));
            }
        }
        report.path = Some(file.into_path());
    }
    override_settings(&mut config, options);
    if !config.has_named_root() {
        add_other_stores(&mut config.roots.value);
    }
    report.problems.extend(find_missing_roots(&config.roots));
    report.problems.sort_by_key(|problem| problem.line);
    (config, report)
}

/// Adds the stores of the user's other clients: more configuration folders and sandboxes of the desktop app.
fn add_other_stores(roots: &mut Vec<PathBuf>) {
    let stores = find_other_stores(env::home_dir().as_deref(), &env::app_data_dirs(), roots);
    roots.extend(stores.into_iter().map(|store| store.path));
}

/// Returns a problem if the user named the missing file.
fn report_missing(file: &ConfigFile) -> Option<ConfigProblem> {
    let source = file.named_by()?;
    Some(ConfigProblem::in_file(Severity::Error, format!("the file does not exist ({source} names it)")))
}

/// Returns a warning per configured folder that does not exist.
fn find_missing_roots(roots: &Setting<Vec<PathBuf>>) -> Vec<ConfigProblem> {
    let Origin::File { line } = roots.origin else { return Vec::new() };
    let missing = roots.value.iter().filter(|root| !root.exists());
    let problem = |root: &PathBuf| ConfigProblem {
        severity: Severity::Warning,
        line: Some(line),
        key: "roots".to_owned(),
        message: format!("`roots`: `{}` does not exist", root.display()),
    };
    missing.map(problem).collect()
}

/// Sets the values of the environment, and those of the command line over them.
fn override_settings(config: &mut Config, options: &GlobalOptions) {
    if env::names_claude_dir() {
        let claude = env::claude_dir().into_iter().collect();
        config.roots = Setting::new(claude, Origin::Environment("CLAUDE_CONFIG_DIR"));
    }
    if let Some((use_color, variable)) = env::color() {
        let color = if use_color { Color::Always } else { Color::Never };
        config.color = Setting::new(color, Origin::Environment(variable));
    }
    if let Some(zone) = env::time_zone() {
        config.time_zone = Setting::new(Some(zone), Origin::Environment("TZ"));
    }
    if !options.roots.is_empty() {
        config.roots = Setting::new(options.roots.clone(), Origin::CommandLine("--root"));
    }
    if let Some(color) = options.color {
        config.color = Setting::new(color, Origin::CommandLine("--color"));
    }
    if let Some(kept) = options.kept {
        config.kept = Setting::new(kept, Origin::CommandLine("--kept"));
    }
}

impl Config {
    /// Returns a clock in the configured time zone. `clock` is in the zone of the system or of the environment.
    pub(crate) fn clock(&self, clock: &Clock) -> Clock {
        let zone = match self.time_zone {
            Setting { value: Some(ref zone), origin: Origin::File { .. } } => clock.in_zone(zone),
            _ => None,
        };
        zone.unwrap_or_else(|| clock.clone())
    }

    /// Returns `true` if the command line or the file names the folders with sessions.
    pub(crate) fn has_named_root(&self) -> bool {
        matches!(self.roots.origin, Origin::CommandLine(_) | Origin::File { .. })
    }

    /// Returns the problems of the configured price table, which `config check` reports.
    pub(crate) fn find_price_problems(&self) -> Option<ConfigProblem> {
        let Setting { value: PricesSource::File(path), origin: Origin::File { line } } = &self.prices else {
            return None;
        };
        let message = check_price_table(path)?;
        let (severity, key) = (Severity::Error, "prices".to_owned());
        Some(ConfigProblem { severity, line: Some(*line), key, message: format!("`prices`: {message}") })
    }

    /// Lists all settings in the order of the documentation.
    pub(crate) fn list_settings(&self) -> Vec<ShownSetting> {
        let mut shown = Vec::new();
        let mut push = |key: &str, value: String, origin: Origin| {
            shown.push(ShownSetting { key: key.to_owned(), value, origin });
        };
        let join =
            |paths: &[PathBuf]| paths.iter().map(|path| path_text(path)).collect::<Vec<_>>().join(", ");
        let optional = |name: Option<String>| name.unwrap_or_else(|| "auto".to_owned());
        push("roots", join(&self.roots.value), self.roots.origin);
        push("kept", choice_name(&self.kept.value), self.kept.origin);
        push("color", choice_name(&self.color.value), self.color.origin);
        push("theme", choice_name(&self.theme.value), self.theme.origin);
        let zone = self.time_zone.value.clone().unwrap_or_else(|| "system".to_owned());
        push("time_zone", zone, self.time_zone.origin);
        push("prices", self.prices.value.describe(), self.prices.origin);
        let columns: Vec<String> = self.ls_columns.value.0.iter().map(choice_name).collect();
        push("ls.columns", columns.join(", "), self.ls_columns.origin);
        push("archive.exclude", join(&self.archive_exclude.value), self.archive_exclude.origin);
        push("resume.command", self.resume_command.value.text().to_owned(), self.resume_command.origin);
        push(
            "statusline.format",
            self.statusline_format.value.text().to_owned(),
            self.statusline_format.origin,
        );
        push(
            "statusline.separator",
            self.statusline_separator.value.0.clone(),
            self.statusline_separator.origin,
        );
        let format = self.export_format.value.as_ref().map(choice_name);
        push("export.format", optional(format), self.export_format.origin);
        let detail = self.export_detail.value.as_ref().map(choice_name);
        push("export.detail", optional(detail), self.export_detail.origin);
        push("export.only_typed", self.export_only_typed.value.to_string(), self.export_only_typed.origin);
        push("export.theme", choice_name(&self.export_theme.value), self.export_theme.origin);
        push("export.secrets", choice_name(&self.export_secrets.value), self.export_secrets.origin);
        for (name, style, origin) in self.palette.settings() {
            push(&format!("palette.{name}"), style.to_owned(), origin);
        }
        shown
    }
}
