//! Arguments of `install`, `mcp` and `hook`.

use super::name_parser;
use crate::cli::install::InstallPart;

/// Let Claude search and read past sessions (an MCP server)
///
/// Serves the Model Context Protocol on stdin and stdout. Claude Code starts it when a session starts and ends it with the
/// session; nothing runs in between. It offers four read-only tools: `search`, `read`, `sessions` and `files`. Every answer has
/// a budget (2,000 tokens by default), cites its sources as `session:turn` with their status, and names the next call. The
/// calling session is left out, secrets are masked, and text of sessions is quoted as data.
#[derive(Debug, clap::Args)]
#[command(after_help = "Set it up:\n  \
    rethread install --only mcp,skill")]
pub(crate) struct Mcp {}

/// Set up rethread inside Claude Code
///
/// Writes a plugin (MCP server, hooks, the skill `recall` and the commands `/rethread:search` and `/rethread:explain`) into the
/// data folder, and enables it and the status line in `~/.claude/settings.json`. All other settings stay as they are. The
/// status line of another program is kept and shown above ours. `--undo` restores every file byte for byte, unless it was edited since; `--remove` also works then. New
/// sessions of Claude Code use the plugin; running ones do not.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread install --dry-run\n  \
    rethread install --only mcp,skill\n  \
    rethread install --status\n  \
    rethread install --undo\n  \
    rethread install --remove")]
pub(crate) struct Install {
    /// Set up only these parts (comma-separated)
    #[arg(long, value_name = "PARTS", value_delimiter = ',', value_parser = name_parser(&InstallPart::ALL, InstallPart::name))]
    pub(crate) only: Vec<InstallPart>,
    /// Set it up for the project in this folder, not for the user
    #[arg(long)]
    pub(crate) project: bool,
    /// Show what would change, and change nothing
    #[arg(short = 'd', long)]
    pub(crate) dry_run: bool,
    /// Undo the newest installation, byte for byte
    #[arg(long, conflicts_with_all = ["only", "status", "project"])]
    pub(crate) undo: bool,
    /// Remove everything that installations added, and keep later changes of the settings
    #[arg(long, conflicts_with_all = ["only", "status", "undo"])]
    pub(crate) remove: bool,
    /// Show what is set up
    #[arg(long, conflicts_with_all = ["only", "dry_run"])]
    pub(crate) status: bool,
}

/// Handle an event of Claude Code
///
/// Claude Code passes the event as JSON on stdin. After a turn the archive is brought up to date. When a session is resumed, a
/// message tells the user what the resume loses; nothing is added to the context of the model. The exit code is always 0.
#[derive(Debug, clap::Args)]
#[command(
    hide = true,
    after_help = "Example:\n  \
    echo '{}' | rethread hook Stop"
)]
pub(crate) struct Hook {
    /// The name of the event, such as `Stop`
    pub(crate) event: String,
}
