//! The command-line arguments. Their doc comments are the help texts; `docs/cli.md` is generated from them.

use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand};

use crate::config::{Color, GlobalOptions, Kept};

mod archive;
mod command_line;
mod config;
mod export;
mod filter;
mod groups;
mod lake;
mod mcp;
mod ps;
mod read;
mod search;
mod secrets;
mod setup;
#[cfg(test)]
mod short_flags;
mod sql;
mod usage;
mod write;

pub(crate) use self::archive::{
    Archive, ArchiveAction, ArchivePruneArgs, ArchiveSyncArgs, Exclude, FollowUpArgs, Forget, Schedule,
};
pub(crate) use self::command_line::{parse_command_line, strip_marker};
pub(crate) use self::config::{Config, ConfigCommand};
pub(crate) use self::export::Export;
pub(crate) use self::filter::FilterArgs;
pub(crate) use self::lake::{Lake, LakeAction};
pub(crate) use self::mcp::{Hook, Install, Mcp};
pub(crate) use self::ps::{Ps, Reopen};
pub(crate) use self::read::{
    Agents, Branches, Context, Detail, Diff, Doctor, Explain, Find, Format, Ls, ReadingRule, Schema, Serve,
    Show, Stats, Tools, Tree,
};
pub(crate) use self::search::{Index, Search};
pub(crate) use self::secrets::Secrets;
pub(crate) use self::setup::{Completions, Man};
pub(crate) use self::sql::{Sql, SqlFormat};
pub(crate) use self::usage::{Statusline, Usage};
pub(crate) use self::write::{Fork, Goto, Log, Rename, Repair, Restore, Rm, Undo};

/// Builds a parser that accepts exactly the names of `values` and returns the value. `name` returns the name of a value.
pub(crate) fn name_parser<T: Copy + Send + Sync + 'static>(
    values: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let find =
        move |text: String| values.iter().copied().find(|&value| name(value) == text).ok_or("unknown name");
    PossibleValuesParser::new(values.iter().map(|&value| name(value))).try_map(find)
}

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default())
    .placeholder(AnsiColor::Cyan.on_default());

/// Find, read, rewind, fork and repair every conversation with Claude Code
///
/// Sessions are JSON Lines files below ~/.claude/projects. rethread reads those of all client versions, even damaged ones.
/// It backs up every file before changing it, and `rethread undo` reverts the change. Without a command, it prints an
/// overview.
#[derive(Debug, Parser)]
#[command(name = "rethread", version, styles = STYLES, max_term_width = 100)]
#[command(help_template = groups::help_template(), next_help_heading = "Global options")]
#[command(
    after_help = "To name a session, use its id or the start of it, words from its title, a path, or `last`.\n\
    Exit codes: 0 done, 1 nothing matched, 2 failed, 3 refused for safety, 130 interrupted."
)]
#[command(
    after_long_help = "To name a session, use its id or the start of it, words from its title, a path, or `last`.\n\n\
    Examples:\n  \
    rethread                      overview and next steps\n  \
    rethread show last            read the newest session\n  \
    rethread ls --since monday    sessions of this week\n  \
    rethread search flaky test    search all sessions\n  \
    rethread --demo show last     try it with invented sessions\n\n\
    Exit codes: 0 done, 1 nothing matched, 2 failed, 3 refused for safety, 130 interrupted."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    /// Read this folder or .jsonl file instead of ~/.claude (repeatable)
    ///
    /// Accepts a `.claude` folder, a `projects` folder, any folder with .jsonl files below it, or one such file. Default:
    /// $CLAUDE_CONFIG_DIR, `roots` in the configuration file, or ~/.claude.
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) root: Vec<PathBuf>,

    /// Which sessions to read: with, without or only those deleted since they were archived
    ///
    /// `rethread archive` keeps sessions that the client deletes. They are read like the others, unless this is `without`. With
    /// --root, only those that were below this folder are read. Default: `kept` in the configuration file, or `with`.
    #[arg(long, global = true, value_name = "WHICH", hide_possible_values = true)]
    pub(crate) kept: Option<Kept>,

    /// Use invented sessions instead of yours
    ///
    /// They are in $XDG_STATE_HOME/rethread/demo or ~/.local/state/rethread/demo, with a journal of their own, so that changes
    /// can be tried and undone. Without changes, they are written again after a day, so that their dates stay recent.
    #[arg(long, global = true, conflicts_with = "root")]
    pub(crate) demo: bool,

    /// With --demo: discard all changes of the invented sessions
    #[arg(long, global = true, requires = "demo")]
    pub(crate) reset: bool,

    /// Read every file instead of using the cache
    ///
    /// The cache in $XDG_CACHE_HOME/rethread or ~/.cache/rethread avoids reading unchanged files again. Results are the same
    /// with and without it, and it can be deleted at any time.
    #[arg(long, global = true)]
    pub(crate) no_index: bool,

    /// Print JSON Lines instead of text
    ///
    /// Each line is an object with `type` and `v`. See docs/json.md.
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// When to use colours: auto, always or never
    ///
    /// `auto`: on a terminal, unless NO_COLOR is set. CLICOLOR_FORCE overrides the terminal test. Default: `color` in the
    /// configuration file, or `auto`.
    #[arg(long, global = true, value_name = "WHEN", hide_possible_values = true)]
    pub(crate) color: Option<Color>,

    /// Print only data and errors: no progress, hints, notes or warnings
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,

    /// Use this configuration file
    ///
    /// Default: $RETHREAD_CONFIG, $XDG_CONFIG_HOME/rethread/config.toml or ~/.config/rethread/config.toml. `rethread config
    /// edit` creates it. See docs/config.md.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Print long output directly, without a pager
    ///
    /// Output longer than the screen is piped through $RETHREAD_PAGER, $PAGER or `less`.
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,
}

impl Args {
    /// Returns the options that override settings of the configuration file.
    pub(crate) fn global_options(&self) -> GlobalOptions {
        GlobalOptions {
            config: self.config.clone(),
            roots: self.root.clone(),
            color: self.color,
            kept: self.kept,
        }
    }
}

/// The subcommand.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Serve(Serve),
    Ls(Ls),
    Show(Show),
    Export(Export),
    Explain(Explain),
    Branches(Branches),
    Tree(Tree),
    Search(Search),
    Find(Find),
    Diff(Diff),
    Usage(Usage),
    Sql(Sql),
    Statusline(Statusline),
    Ps(Ps),
    Reopen(Reopen),
    Mcp(Mcp),
    Install(Install),
    Hook(Hook),
    Stats(Stats),
    Tools(Tools),
    Agents(Agents),
    Context(Context),
    Schema(Schema),
    Secrets(Secrets),
    Index(Index),
    Doctor(Doctor),
    Archive(Archive),
    Lake(Lake),
    Goto(Goto),
    Fork(Fork),
    Clone(super::clone::Args),
    Rescue(super::rescue::Args),
    Repair(Repair),
    Rename(Rename),
    Rm(Rm),
    Log(Log),
    Undo(Undo),
    Restore(Restore),
    Config(Config),
    Completions(Completions),
    Man(Man),
}

impl Command {
    /// Returns `true` if the command may change sessions or their backups.
    pub(crate) fn may_change_sessions(&self) -> bool {
        match self {
            Command::Goto(_)
            | Command::Fork(_)
            | Command::Clone(_)
            | Command::Rescue(_)
            | Command::Repair(_)
            | Command::Rename(_)
            | Command::Rm(_)
            | Command::Undo(_)
            | Command::Restore(_) => true,
            Command::Log(log) => log.prune,
            _ => false,
        }
    }
}
