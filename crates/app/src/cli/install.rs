//! `rethread install`: sets up the plugin, the status line and the timer of the archive.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use rethread_engine::ops;
use rethread_engine::ops::install::{
    InstallOutcome, InstallRequest, InstallStatus, StatuslineCommand, ToolFile, is_own_statusline,
};

use super::args::Install;
use super::error::{CliError, Exit, print_hint};
use super::facts::print_fact;
use super::out::Out;
use super::style::PLAIN;
use super::{AppContext, clean, effects, env};
use crate::json;
use crate::text::command::quote_command;
use crate::text::shell::quote;

/// The files of the marketplace with its plugin, relative to its folder, and the part that each belongs to.
const FILES: [(&str, Option<InstallPart>, &str); 7] = [
    (".claude-plugin/marketplace.json", None, include_str!("../../../../.claude-plugin/marketplace.json")),
    (
        "plugin/.claude-plugin/plugin.json",
        None,
        include_str!("../../../../plugin/.claude-plugin/plugin.json"),
    ),
    ("plugin/.mcp.json", Some(InstallPart::Mcp), include_str!("../../../../plugin/.mcp.json")),
    (
        "plugin/hooks/hooks.json",
        Some(InstallPart::Hooks),
        include_str!("../../../../plugin/hooks/hooks.json"),
    ),
    (
        "plugin/skills/recall/SKILL.md",
        Some(InstallPart::Skill),
        include_str!("../../../../plugin/skills/recall/SKILL.md"),
    ),
    (
        "plugin/commands/search.md",
        Some(InstallPart::Skill),
        include_str!("../../../../plugin/commands/search.md"),
    ),
    (
        "plugin/commands/explain.md",
        Some(InstallPart::Skill),
        include_str!("../../../../plugin/commands/explain.md"),
    ),
];

/// The option of the status line that names the command to run first.
const AFTER: &str = " --after ";

/// A part of rethread that can be set up alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InstallPart {
    /// The MCP server.
    Mcp,
    /// The hooks.
    Hooks,
    /// The status line.
    Statusline,
    /// The skill and the slash commands.
    Skill,
}

impl InstallPart {
    /// All parts.
    pub(crate) const ALL: [InstallPart; 4] =
        [InstallPart::Mcp, InstallPart::Hooks, InstallPart::Statusline, InstallPart::Skill];

    /// Returns the name that the user types.
    pub(crate) fn name(self) -> &'static str {
        match self {
            InstallPart::Mcp => "mcp",
            InstallPart::Hooks => "hooks",
            InstallPart::Statusline => "statusline",
            InstallPart::Skill => "skill",
        }
    }
}

/// Runs `rethread install`.
pub(crate) fn run(args: &Install, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    if app.is_demo {
        return Err(CliError::DemoInstall);
    }
    if args.undo {
        return undo(args, app, out);
    }
    let settings = find_settings(args.project, app)?;
    let plugin_dir = env::data_dir().ok_or(CliError::NoArchiveDir)?.join("claude-plugin");
    let program = find_program();
    if args.status {
        let status = ops::install::find_install_status(
            &settings,
            &build_plugin_files(&plugin_dir, &InstallPart::ALL, &program),
        );
        return print_status(&status, &settings, &plugin_dir, app, out);
    }
    if args.remove {
        let request =
            InstallRequest { settings, plugin_dir, dry_run: args.dry_run, ..InstallRequest::default() };
        let outcome = ops::install::remove_installation(&request, find_other_statusline, &app.writer)?;
        if out.is_json() {
            let outcome = InstallOutcome { files: outcome, kept_statusline: None };
            out.json(&json::build_install(&outcome, args.dry_run))?;
            return Ok(Exit::Done);
        }
        out.line(if args.dry_run {
            "would remove rethread from Claude Code"
        } else {
            "removed rethread from Claude Code"
        })?;
        effects::print(&outcome.effects, outcome.op, app, out)?;
        return Ok(Exit::Done);
    }
    let parts = if args.only.is_empty() { InstallPart::ALL.to_vec() } else { args.only.clone() };
    let has_plugin = parts.iter().any(|part| *part != InstallPart::Statusline);
    let request = InstallRequest {
        settings: settings.clone(),
        plugin_files: has_plugin.then(|| build_plugin_files(&plugin_dir, &parts, &program)),
        plugin_dir,
        statusline: parts.contains(&InstallPart::Statusline).then(|| StatuslineCommand {
            command: format!("{program} statusline"),
            add_after: |other| format!("{} statusline{AFTER}{}", find_program(), quote_for_sh(other)),
        }),
        dry_run: args.dry_run,
    };
    let outcome = ops::install::install(&request, &app.writer)?;
    if out.is_json() {
        out.json(&json::build_install(&outcome, args.dry_run))?;
        return Ok(Exit::Done);
    }
    if outcome.files.effects.is_empty() {
        out.line("everything is set up already")?;
    } else {
        let verb = if args.dry_run { "would set up" } else { "set up" };
        let names: Vec<&str> = parts.iter().map(|part| part.name()).collect();
        out.line(&format!(
            "{verb} {} in {}",
            names.join(", "),
            app.format_path(&settings.display().to_string())
        ))?;
        effects::print(&outcome.files.effects, outcome.files.op, app, out)?;
    }
    if let Some(command) = &outcome.kept_statusline {
        out.note(&format!("the status line `{}` stays, above that of rethread", clean::line(command)));
    }
    if outcome.files.op.is_some() {
        out.note("new sessions of Claude Code use it");
        print_hint(
            &format!("{} also keeps sessions while no client runs", quote_command(&["archive", "schedule"])),
            out,
        );
    }
    Ok(Exit::Done)
}

fn undo(args: &Install, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let outcome = ops::install::undo_install(&app.writer, args.dry_run)?;
    if out.is_json() {
        out.json(&json::build_undo(&outcome))?;
        return Ok(Exit::Done);
    }
    out.line(if outcome.op.is_some() { "undid the installation" } else { "would undo the installation" })?;
    effects::print(&outcome.effects, outcome.op, app, out)?;
    Ok(Exit::Done)
}

/// Returns the settings file of the user, or of the project in this folder.
fn find_settings(is_project: bool, app: &AppContext) -> Result<PathBuf, CliError> {
    if is_project {
        return Ok(std::env::current_dir().map_err(CliError::Io)?.join(".claude/settings.json"));
    }
    // A root that the user named is the folder of the client, or its folder of projects.
    let root =
        app.roots.paths.first().map(|root| match root.file_name().is_some_and(|name| name == "projects") {
            true => root.parent().unwrap_or(root).to_owned(),
            false => root.clone(),
        });
    let dir = root.or_else(env::claude_dir).ok_or(CliError::UnknownRoots)?;
    Ok(dir.join("settings.json"))
}

/// Returns the command of this program, quoted for a shell.
fn find_program() -> String {
    let program = env::current_program().and_then(|path| path.to_str().map(quote));
    program.unwrap_or_else(|| "rethread".to_owned())
}

/// Quotes a text as one word for `sh`, which keeps line breaks between single quotes.
fn quote_for_sh(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Returns the command that a status line of ours runs first. Returns `None` if it runs none.
fn find_other_statusline(command: &str) -> Option<String> {
    let (_, quoted) = command.split_once(&format!("statusline{AFTER}"))?;
    let text = quoted.strip_prefix('\'')?.strip_suffix('\'')?;
    Some(text.replace(r"'\''", "'"))
}

/// Builds the files of the marketplace. Their commands name this program by its path.
fn build_plugin_files(dir: &Path, parts: &[InstallPart], program: &str) -> Vec<ToolFile> {
    // In JSON, and in a shell command that is a JSON string.
    let escaped = serde_json::Value::from(program).to_string();
    let escaped = &escaped[1..escaped.len() - 1];
    let unquoted =
        env::current_program().map_or_else(|| "rethread".to_owned(), |path| path.display().to_string());
    let mut files: Vec<ToolFile> = FILES
        .iter()
        .filter(|(_, part, _)| part.is_none_or(|part| parts.contains(&part)))
        .map(|(path, part, text)| {
            let content = match part {
                Some(InstallPart::Hooks) => text
                    .replace("command -v rethread ", &format!("command -v {escaped} "))
                    .replace("then rethread ", &format!("then {escaped} ")),
                Some(InstallPart::Mcp) => text.replace(
                    r#""command": "rethread""#,
                    &format!(r#""command": {}"#, serde_json::Value::from(unquoted.as_str())),
                ),
                _ => (*text).to_owned(),
            };
            ToolFile { path: dir.join(path), content: Some(content) }
        })
        .collect();
    // The client copies the plugin again only if its version changes.
    let mut hasher = DefaultHasher::new();
    files.iter().for_each(|file| file.content.hash(&mut hasher));
    let version = format!("\"version\": \"{}-{:08x}\"", env!("CARGO_PKG_VERSION"), hasher.finish() as u32);
    let own_version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    for content in files.iter_mut().filter_map(|file| file.content.as_mut()) {
        *content = content.replace(&own_version, &version);
    }
    files
}

fn print_status(
    status: &InstallStatus,
    settings: &Path,
    plugin_dir: &Path,
    app: &AppContext,
    out: &mut Out,
) -> Result<Exit, CliError> {
    if out.is_json() {
        out.json(&json::build_install_status(status))?;
        return Ok(Exit::from_found(status.is_plugin_enabled));
    }
    let plugin = match (status.is_plugin_enabled, status.stale_files.len()) {
        (false, _) => "not enabled".to_owned(),
        (true, 0) => "enabled".to_owned(),
        (true, stale) => {
            format!("enabled; {stale} of {} files are missing or of another version", FILES.len())
        }
    };
    let statusline = match &status.statusline {
        None => "none".to_owned(),
        Some(command) if is_own_statusline(command) => "enabled".to_owned(),
        Some(command) => format!("of another program: {}", clean::line(command)),
    };
    let facts = [
        ("settings", app.format_path(&settings.display().to_string())),
        ("plugin", plugin),
        ("in", app.format_path(&plugin_dir.display().to_string())),
        ("status line", statusline),
    ];
    for (label, text) in facts {
        print_fact(label, &vec![(PLAIN, text)], out)?;
    }
    if !status.is_plugin_enabled || !status.stale_files.is_empty() {
        print_hint(&format!("{} sets it up", quote_command(&["install"])), out);
    }
    Ok(Exit::from_found(status.is_plugin_enabled))
}
