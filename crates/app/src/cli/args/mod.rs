//! The arguments. Doc comments here are the help texts: `docs/cli.md` is made of them.

use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Parser, Subcommand};

use super::out::Color;

mod command_line;
mod export;
mod pricing;
mod read;
mod search;
mod serving;
mod usage;
mod write;

pub(crate) use self::command_line::{read, unmarked};
pub(crate) use self::export::Export;
pub(crate) use self::read::{
    Agents, Branches, Context, Detail, Diff, Doctor, Explain, Find, Format, Ls, ReadingRule, Role, Schema,
    Show, Stats, Tools, Tree,
};
pub(crate) use self::search::{Index, Search};
pub(crate) use self::serving::Serve;
pub(crate) use self::usage::{Statusline, Usage};
pub(crate) use self::write::{Branch, Fork, Goto, Log, Rename, Repair, Restore, Rm, Undo};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default())
    .placeholder(AnsiColor::Cyan.on_default());

/// Find, read, rewind, fork and repair every conversation with Claude Code
///
/// Sessions are JSON Lines files below ~/.claude/projects. rethread reads them all, whatever client version wrote
/// them and in whatever state they are. What it changes it backs up first, and `rethread undo` takes it back. Without a
/// command it shows what there is.
#[derive(Debug, Parser)]
#[command(name = "rethread", version, styles = STYLES, max_term_width = 100)]
#[command(
    after_help = "Naming a session: its id or the beginning of it, words of its title, a path, or `last`.\n\
    Exit codes: 0 done, 1 nothing matched, 2 failed, 3 refused for safety, 130 interrupted."
)]
#[command(
    after_long_help = "Naming a session: its id or the beginning of it, words of its title, a path, or `last`.\n\n\
    Examples:\n  \
    rethread                      what there is, and what to type next\n  \
    rethread show last            read the newest session\n  \
    rethread ls --since 7d        sessions of the last week\n  \
    rethread search flaky test    find words in all sessions\n  \
    rethread --demo show last     try it on invented sessions\n\n\
    Exit codes: 0 done, 1 nothing matched, 2 failed, 3 refused for safety, 130 interrupted."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    /// Look here instead of ~/.claude: a folder or one .jsonl file (repeatable)
    ///
    /// Takes a `.claude` folder, a `projects` folder, any folder with .jsonl files below it, or one such file. Without
    /// it, $CLAUDE_CONFIG_DIR or ~/.claude is read.
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) root: Vec<PathBuf>,

    /// Use invented sessions in a temporary folder instead of yours
    #[arg(long, global = true, conflicts_with = "root")]
    pub(crate) demo: bool,

    /// Read every file instead of asking the cache
    ///
    /// What was read is kept in $XDG_CACHE_HOME/rethread or ~/.cache/rethread, so that files which have not changed need not
    /// be read again. Answers are the same with and without it, and it can be deleted at any time.
    #[arg(long, global = true)]
    pub(crate) no_index: bool,

    /// Print JSON Lines instead of text
    ///
    /// Each line is an object with `type` and `v`; docs/json.md describes them.
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// When to use colours
    ///
    /// `auto` means: on a terminal, unless NO_COLOR is set; CLICOLOR_FORCE overrides the terminal test.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_possible_values = true)]
    pub(crate) color: Color,

    /// Print long output directly, without a pager
    ///
    /// Output longer than the screen goes through $RETHREAD_PAGER, $PAGER or `less`.
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,
}

/// What to do.
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
    Goto(Goto),
    Branch(Branch),
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
    /// The script knows all commands and options.
    #[command(after_help = "Examples:\n  \
        rethread completions bash > ~/.local/share/bash-completion/completions/rethread\n  \
        rethread completions fish > ~/.config/fish/completions/rethread.fish")]
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
}
