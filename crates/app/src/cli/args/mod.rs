//! The command-line arguments. Their doc comments are the help texts; `docs/cli.md` is generated from them.

use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand};

use super::out::Color;

mod archive;
mod command_line;
mod export;
mod filter;
mod groups;
mod read;
mod search;
#[cfg(test)]
mod short_flags;
mod usage;
mod write;

pub(crate) use self::archive::{Archive, ArchiveAction};
pub(crate) use self::command_line::{parse_command_line, strip_marker};
pub(crate) use self::export::Export;
pub(crate) use self::filter::FilterArgs;
pub(crate) use self::read::{
    Agents, Branches, Context, Detail, Diff, Doctor, Explain, Find, Format, Ls, ReadingRule, Schema, Serve,
    Show, Stats, Tools, Tree,
};
pub(crate) use self::search::{Index, Search};
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
    /// $CLAUDE_CONFIG_DIR or ~/.claude.
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) root: Vec<PathBuf>,

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

    /// When to use colours
    ///
    /// `auto`: on a terminal, unless NO_COLOR is set. CLICOLOR_FORCE overrides the terminal test.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_possible_values = true)]
    pub(crate) color: Color,

    /// Print long output directly, without a pager
    ///
    /// Output longer than the screen is piped through $RETHREAD_PAGER, $PAGER or `less`.
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,
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
    Statusline(Statusline),
    Stats(Stats),
    Tools(Tools),
    Agents(Agents),
    Context(Context),
    Schema(Schema),
    Index(Index),
    Doctor(Doctor),
    Archive(Archive),
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
    /// Print a completion script for your shell
    ///
    /// The script completes all commands and options.
    #[command(after_help = "Examples:\n  \
        rethread completions bash > ~/.local/share/bash-completion/completions/rethread\n  \
        rethread completions fish > ~/.config/fish/completions/rethread.fish")]
    Completions {
        /// Shell to complete for
        shell: clap_complete::Shell,
    },
}
