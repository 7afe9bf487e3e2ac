//! The list of commands in the help, grouped by task.

use std::fmt::Write;

use clap::Subcommand;
use clap::builder::StyledStr;

use super::{Command, STYLES};

/// The tasks with their commands, in the order of the help. Commands in no group are listed in the last one.
const GROUPS: [(&str, &[&str]); 9] = [
    ("Find and read", &["ls", "search", "find", "show", "export", "serve"]),
    ("Go back and try again", &["branches", "tree", "diff", "goto", "fork"]),
    ("Understand and repair a resume", &["explain", "doctor", "repair", "rescue", "clone"]),
    ("Look inside a session", &["tools", "agents", "context", "stats", "schema", "secrets"]),
    ("Know the cost", &["usage", "sql"]),
    ("Inside Claude Code", &["install", "ps", "reopen", "mcp", "statusline"]),
    ("Keep and share", &["archive", "lake"]),
    ("Tidy up and undo", &["rename", "rm", "log", "undo", "restore"]),
    ("Set up", &["config", "index", "completions", "man"]),
];

/// The width of the column with the names.
const NAME_WIDTH: usize = 11;

/// Returns the help template of the program: the commands by task, and the options after them.
pub(super) fn help_template() -> StyledStr {
    let header = STYLES.get_header();
    let mut template =
        format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}", format_groups(&list_commands()));
    let _ = write!(template, "{header}Global options:{header:#}\n{{options}}{{after-help}}");
    StyledStr::from(template)
}

/// Returns the visible commands.
fn list_commands() -> Vec<clap::Command> {
    let all = Command::augment_subcommands(clap::Command::new("rethread"));
    all.get_subcommands().filter(|command| !command.is_hide_set()).cloned().collect()
}

/// Formats a heading per task, and below it a row per command: its name, its aliases and its first help line.
fn format_groups(commands: &[clap::Command]) -> String {
    let (header, literal) = (STYLES.get_header(), STYLES.get_literal());
    let is_grouped =
        |command: &clap::Command| GROUPS.iter().any(|(_, names)| names.contains(&command.get_name()));
    let mut text = String::new();
    for (idx, (task, names)) in GROUPS.iter().enumerate() {
        let grouped = names.iter().filter_map(|name| commands.iter().find(|c| c.get_name() == *name));
        let is_last = idx + 1 == GROUPS.len();
        let ungrouped = commands.iter().filter(|command| is_last && !is_grouped(command));
        let _ = writeln!(text, "{header}{task}:{header:#}");
        for command in grouped.chain(ungrouped) {
            let names: Vec<&str> =
                [command.get_name()].into_iter().chain(command.get_visible_aliases()).collect();
            let names = names.join(", ");
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {literal}{names:<NAME_WIDTH$}{literal:#}  {about}");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{GROUPS, list_commands};
    use crate::cli::args::Args;
    use clap::CommandFactory;

    #[test]
    fn help_lists_every_command_once_and_fits_80_columns() {
        let help = Args::command().term_width(80).render_help().to_string();
        for command in list_commands() {
            let is_row = |line: &&str| {
                line.strip_prefix("  ").is_some_and(|row| {
                    row.split([',', ' ']).next().is_some_and(|name| name == command.get_name())
                })
            };
            assert_eq!(help.lines().filter(is_row).count(), 1, "{}:\n{help}", command.get_name());
        }
        let widest = help.lines().max_by_key(|line| line.chars().count()).unwrap_or_default();
        assert!(widest.chars().count() <= 80, "{widest}");
        assert!(!help.contains("  branch "), "an alias of goto");
        let groups_end = help.find("Set up:").expect("the last group");
        assert!(help.find("Global options:").is_some_and(|options| options > groups_end), "{help}");
    }

    #[test]
    fn groups_name_existing_commands() {
        let commands = list_commands();
        for name in GROUPS.iter().flat_map(|(_, names)| *names) {
            assert!(commands.iter().any(|command| command.get_name() == *name), "{name}");
        }
    }
}
