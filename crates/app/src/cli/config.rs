//! `rethread config`: where the configuration file is, what it sets, and what is wrong with it.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::args::{self, Args, ConfigCommand};
use super::clean;
use super::error::{self, CliError, Exit};
use super::figures::count_noun;
use super::out::Out;
use super::style::{BAD, MARK, NAME, QUIET, paint};
use crate::config::{
    Config, ConfigProblem, ConfigReport, GlobalOptions, Origin, Severity, create_template, load_config,
};
use crate::text::command::quote_command;
use crate::text::time::Clock;
use crate::{env, json};

/// The maximum number of problems that other commands report.
const MAX_WARNINGS: usize = 5;

/// Runs `rethread config`.
pub(crate) fn run(
    command: ConfigCommand,
    settings: &Config,
    report: &ConfigReport,
    out: &mut Out,
) -> Result<Exit, CliError> {
    let path = report.path.as_deref().ok_or(CliError::NoConfigFile)?;
    match command {
        ConfigCommand::Path if out.is_json() => {
            let counts = count_problems(&report.problems);
            out.json(&json::build_config_check(path, report.exists, counts))?;
            Ok(Exit::Done)
        }
        ConfigCommand::Path => out.line(&path.display().to_string()).map(|()| Exit::Done),
        ConfigCommand::Show => {
            warn(report, out);
            show(settings, path, out)
        }
        ConfigCommand::Edit => edit(path, out),
        ConfigCommand::Check => check(settings, report, path, out),
    }
}

/// Prints the problems of the configuration file as warnings, before a command that does not concern it.
///
/// Returns an error if the named file is missing, or if the command changes sessions and the folders are uncertain.
pub(crate) fn check_before_command(
    args: &Args,
    settings: &Config,
    report: &ConfigReport,
    out: &mut Out,
) -> Result<(), CliError> {
    if let Some(path) = args.config.as_ref().filter(|_| !report.exists) {
        return Err(CliError::MissingConfig(path.clone()));
    }
    warn(report, out);
    let is_uncertain = report.is_roots_value_lost() && settings.roots.origin == Origin::Default && !args.demo;
    if is_uncertain && args.command.as_ref().is_some_and(args::Command::may_change_sessions) {
        return Err(CliError::UnknownRoots);
    }
    Ok(())
}

/// Prints the problems as warnings, at most 5, and the number of others.
fn warn(report: &ConfigReport, out: &mut Out) {
    for problem in report.problems.iter().take(MAX_WARNINGS) {
        error::print_warning(&format_problem(problem, report.path.as_deref()), out);
    }
    if report.problems.len() > MAX_WARNINGS {
        let more = report.problems.len() - MAX_WARNINGS;
        error::print_hint(&format!("{} lists {more} more", quote_command(&["config", "check"])), out);
    }
}

/// Formats a problem after its file and line.
fn format_problem(problem: &ConfigProblem, path: Option<&Path>) -> String {
    let path = path.map(|path| path.display().to_string()).unwrap_or_default();
    let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
    clean::line(&format!("{path}{line}: {}", problem.message))
}

/// Returns the numbers of errors and warnings.
fn count_problems(problems: &[ConfigProblem]) -> (usize, usize) {
    let errors = problems.iter().filter(|problem| problem.severity == Severity::Error).count();
    (errors, problems.len() - errors)
}

/// Prints every key with its origin and its value.
fn show(settings: &Config, path: &Path, out: &mut Out) -> Result<Exit, CliError> {
    let file_name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    for setting in settings.list_settings() {
        if out.is_json() {
            let (origin, source, line) = match setting.origin {
                Origin::CommandLine(option) => ("command_line", Some(option.to_owned()), None),
                Origin::Environment(variable) => ("environment", Some(variable.to_owned()), None),
                Origin::File { line } => ("file", Some(path.display().to_string()), Some(line)),
                Origin::Default => ("default", None, None),
            };
            out.json(&json::build_config_setting(&setting.key, &setting.value, origin, source, line))?;
            continue;
        }
        let role = if setting.origin == Origin::Default { QUIET } else { MARK };
        let origin = clean::line(&setting.origin.describe(&file_name));
        // Spaces at the ends are part of the value.
        let value = if setting.value.trim() == setting.value {
            clean::line(&setting.value)
        } else {
            format!("\"{}\"", clean::text(&setting.value))
        };
        // Values are last, so that none is truncated.
        let (key, origin) = (format!("{:<20}", setting.key), format!("{origin:<16}"));
        out.line(&format!("{}  {}  {value}", paint(NAME, &key), paint(role, &origin)))?;
    }
    Ok(Exit::Done)
}

/// Prints all problems. Returns [`Exit::Nothing`] if there are any.
fn check(settings: &Config, report: &ConfigReport, path: &Path, out: &mut Out) -> Result<Exit, CliError> {
    let mut problems = report.problems.clone();
    problems.extend(settings.find_price_problems());
    problems.sort_by_key(|problem| problem.line);
    let (errors, warnings) = count_problems(&problems);
    if out.is_json() {
        for problem in &problems {
            let severity = if problem.severity == Severity::Error { "error" } else { "warning" };
            out.json(&json::build_config_problem(
                severity,
                path,
                problem.line,
                &problem.key,
                &problem.message,
            ))?;
        }
        out.json(&json::build_config_check(path, report.exists, (errors, warnings)))?;
        return Ok(Exit::from_found(problems.is_empty()));
    }
    for problem in &problems {
        let (role, label) = match problem.severity {
            Severity::Error => (BAD, "error:"),
            Severity::Warning => (MARK, "warning:"),
        };
        out.line(&format!("{} {}", paint(role, label), format_problem(problem, Some(path))))?;
    }
    let shown_path = clean::line(&path.display().to_string());
    if !problems.is_empty() {
        let counts = [count_noun(errors as u64, "error"), count_noun(warnings as u64, "warning")];
        out.note(&counts.join(", "));
    } else if report.exists {
        out.note(&format!("no problems in `{shown_path}`"));
    } else {
        out.note(&format!("`{shown_path}` does not exist; all values are the defaults"));
        error::print_hint(&format!("{} creates it", quote_command(&["config", "edit"])), out);
    }
    Ok(Exit::from_found(problems.is_empty()))
}

/// Creates the file if it is missing, opens the editor, and checks the file afterwards.
fn edit(path: &Path, out: &mut Out) -> Result<Exit, CliError> {
    create_template(path).map_err(|source| CliError::Unwritable(path.to_owned(), source))?;
    let words = env::editor();
    let failed = |reason: String| CliError::NoEditor { command: words.join(" "), reason };
    let (program, options) = words.split_first().ok_or_else(|| failed("no command".to_owned()))?;
    let status = Command::new(program).args(options).arg(path).status();
    let status = status.map_err(|error| failed(rethread_engine::describe_io_error(&error)))?;
    if !status.success() {
        return Err(failed(status.to_string()));
    }
    let options = GlobalOptions { config: Some(PathBuf::from(path)), ..GlobalOptions::default() };
    let (settings, report) = load_config(&options, &Clock::now_here());
    check(&settings, &report, path, out)
}
