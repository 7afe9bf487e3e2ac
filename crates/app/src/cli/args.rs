//! The arguments. Doc comments here are the help texts: `docs/cli.md` is made of them.

use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Parser, Subcommand, ValueEnum};

use super::out::Color;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default())
    .placeholder(AnsiColor::Cyan.on_default());

/// Find and read every conversation with Claude Code
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
    Ls(Ls),
    Show(Show),
    Explain(Explain),
    Branches(Branches),
    Tree(Tree),
    Find(Find),
    Diff(Diff),
    Goto(Goto),
    Branch(Branch),
    Fork(Fork),
    Clone(super::clone::Args),
    Rescue(super::rescue::Args),
    Doctor(Doctor),
    Repair(Repair),
    Stats(Stats),
    Tools(Tools),
    Agents(Agents),
    Schema(Schema),
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

/// List sessions, newest first
///
/// One row per session: the beginning of its id, the time since its last message, its turns, branches, subagents and
/// size, the git branch, the project and the title. Words before the title mark sessions that a client has open
/// (live), that were forked from another (fork), that plan or implement (plan, impl), that were compacted, and whose
/// file is damaged. Sessions run by a program and sessions without a word are hidden.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread ls --since 7d\n  \
    rethread ls --project website --title login\n  \
    rethread ls --all --json | jq -r .id")]
pub(crate) struct Ls {
    /// Only projects with this in their path
    #[arg(long, value_name = "TEXT")]
    pub(crate) project: Option<String>,
    /// Only titles with this in them
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Only sessions used since: 7d, 12h, 2w, yesterday, 2026-01-31
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<String>,
    /// Only sessions begun before
    #[arg(long, value_name = "WHEN")]
    pub(crate) until: Option<String>,
    /// Only git branches with this in their name
    #[arg(long, value_name = "TEXT")]
    pub(crate) git_branch: Option<String>,
    /// Only sessions that used a model with this in its name
    #[arg(long, value_name = "TEXT")]
    pub(crate) model: Option<String>,
    /// At most so many
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Also headless and empty sessions
    #[arg(short, long)]
    pub(crate) all: bool,
}

/// How much of a tool call to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Detail {
    /// Nothing
    None,
    /// One line
    Brief,
    /// Input and result
    Full,
}

/// Read a session, turn by turn
///
/// A turn goes from a prompt to its answer, with the tool calls between them. The branch that ends last is shown;
/// what is on other branches or was compacted away is counted at the end.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread show last\n  \
    rethread show 3f2a --turns 4..6 --tools full\n  \
    rethread show 3f2a --everything\n  \
    rethread show 3f2a --turns 7 --raw | jq .")]
pub(crate) struct Show {
    /// Which session: id, beginning of an id, words of its title, path, or `last`
    pub(crate) session: String,
    /// Only these turns: 5, 3..9, 3.. or ..9
    #[arg(short, long, value_name = "RANGE")]
    pub(crate) turns: Option<String>,
    /// How much of each tool call: none, brief or full
    #[arg(long, value_name = "HOW", default_value = "brief", hide_possible_values = true)]
    pub(crate) tools: Detail,
    /// Show thinking in full
    #[arg(long)]
    pub(crate) thinking: bool,
    /// Print the lines of the turns as they stand in the file, and nothing else
    ///
    /// Byte for byte into a file or a pipe; on a terminal, control characters are made visible.
    #[arg(long, conflicts_with = "json")]
    pub(crate) raw: bool,
    /// Show the branch that holds this entry: uuid, L118 (line) or t9 (turn)
    #[arg(long, value_name = "TIP")]
    pub(crate) branch: Option<String>,
    /// Also turns before a compaction and on other branches
    #[arg(short, long, conflicts_with = "branch")]
    pub(crate) everything: bool,
}

/// Say what Claude Code will load when a session is resumed
///
/// Resuming may load a small part of a session, or another branch than you mean, and does not say so. This does:
/// which entry the client goes on from and by which rule, how much it loads, where its walk stops and why, what is
/// out of reach and how to see it, what it leaves out or makes up, and what the API will refuse. The strip shows the
/// session from its first entry to its last. The rules were measured on the real client, version by version; a
/// version between two measured ones follows the older. Exit code 0: everything is within reach; 1: something is lost.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread explain last\n  \
    rethread explain last --client all\n  \
    rethread explain 3f2a --client 2.1.104\n  \
    rethread explain 3f2a || echo \"resuming would lose something\"\n  \
    rethread explain last --json | jq .stopped")]
pub(crate) struct Explain {
    /// Which session
    pub(crate) session: String,
    /// Which client resumes: a version such as 2.1.325, or all that were measured
    ///
    /// Without it, the client that wrote the newest line of the session.
    #[arg(long, value_name = "VERSION|all")]
    pub(crate) client: Option<String>,
    /// By which rule: the client's, or that of older descriptions, which go by the last summary
    #[arg(long, value_name = "client|seed", hide_possible_values = true, conflicts_with = "client")]
    pub(crate) rule: Option<ReadingRule>,
}

/// By which rule a session is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReadingRule {
    /// That of a client
    Client,
    /// From the entry that the last summary names
    Seed,
}

/// List every way a conversation went
///
/// An edited prompt, a rewind, a retry or a second process leaves the older way in the file. One row per branch, in
/// the order in which they began: the line of its tip, the last entry it shares with another, how it arose and which
/// of how many ways it is, its own turns and all of them, the tokens of its own, its last message and the first prompt
/// that differs. ● marks the branch that the client loads. Islands are parts that nothing leads to, because their
/// parent is missing or they run in a circle.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread branches last\n  \
    rethread show last --branch L118\n  \
    rethread branches last --json | jq -r .handle")]
pub(crate) struct Branches {
    /// Which session
    pub(crate) session: String,
}

/// How to draw a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For the terminal
    Text,
    /// For Graphviz
    Dot,
    /// A picture
    Svg,
    /// JSON Lines
    Json,
}

/// Draw a session as a tree
///
/// One row per turn, straight down; where the conversation forks, the other ways stand further right, before the one
/// that goes on. ● is loaded by the client, ◌ was before a compaction, ○ is on another branch; ◆ is a compaction. Long
/// runs without a fork are left out. Near an entry: some turns above it, the ways beside it, what is right below it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread tree last\n  \
    rethread tree last t9\n  \
    rethread tree last L118 --all\n  \
    rethread tree last --format svg > tree.svg\n  \
    rethread tree last --format dot | dot -Tpdf -o tree.pdf")]
pub(crate) struct Tree {
    /// Which session
    pub(crate) session: String,
    /// Only what is near this entry: uuid, L118 (line) or t9 (turn)
    pub(crate) around: Option<String>,
    /// Every entry, not one row per turn, and nothing left out
    #[arg(short, long)]
    pub(crate) all: bool,
    /// How to draw it: text, dot, svg or json
    #[arg(long, value_name = "FORMAT", hide_possible_values = true, conflicts_with = "json")]
    pub(crate) format: Option<Format>,
}

/// Find words in a session, with what stands around them
///
/// Looks through prompts, answers, thinking, inputs and results of tools, texts of the client, queued prompts,
/// summaries and titles, on all branches and before compactions, in the order of the file. Each entry that holds the
/// words is shown with the prompts and answers above it, what follows right below it, the tip of its branch, and
/// whether it is on the active path (●) or elsewhere (○). Words are matched in any case, unless one of their letters
/// is upper-case.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread find last 'off by one'\n  \
    rethread find 3f2a Harbour --role prompt\n  \
    rethread find 3f2a --regex 'error\\[E0[0-9]+\\]' --ancestors 1\n  \
    rethread find 3f2a panicked --json | jq .line")]
pub(crate) struct Find {
    /// Which session
    pub(crate) session: String,
    /// What to look for, as it reads in the conversation
    #[arg(value_name = "TEXT", required_unless_present = "regex", conflicts_with = "regex")]
    pub(crate) text: Option<String>,
    /// Look for a regular expression instead
    ///
    /// In the syntax of Perl without look-around and back-references. `(?i)` before it matches in any case,
    /// `(?s)` lets a dot match line breaks. Classes such as \w and cases know ASCII only.
    #[arg(short = 'e', long, value_name = "REGEX")]
    pub(crate) regex: Option<String>,
    /// Match upper and lower case as typed
    #[arg(short = 's', long, conflicts_with = "regex")]
    pub(crate) case_sensitive: bool,
    /// How many prompts and answers above each match to show
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) ancestors: usize,
    /// Only what this one says: prompt, answer, thinking, tool, result, system, summary or context (repeatable)
    #[arg(long, value_name = "ROLE", hide_possible_values = true)]
    pub(crate) role: Vec<Role>,
    /// At most so many entries
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Also subagents inside the file, attachments, progress and lines of unknown types
    ///
    /// Old clients wrote subagents into the file of the session; newer ones write files of their own, which are
    /// looked through by their path or id.
    #[arg(short, long)]
    pub(crate) all: bool,
}

/// Who says a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Role {
    /// The user
    Prompt,
    /// The model
    Answer,
    /// The model, to itself
    Thinking,
    /// Inputs of tools
    Tool,
    /// Results of tools
    Result,
    /// The client
    System,
    /// Summaries and titles
    Summary,
    /// Attachments and progress
    Context,
}

/// Compare two branches of a session, or two sessions
///
/// From their last common entry on: prompts, tool calls and answers turn by turn, then what each side did in
/// numbers: turns, answers, tool calls, files changed, tokens, each response counted once. A branch is named by
/// any of its entries and goes on to its newest tip; a session without an entry means its active path.
/// Where a copied session has uuids of its own, the common part is known by its responses, else by the same words
/// from the beginning on. What subagents did in files of their own is not counted.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "rethread diff [OPTIONS] <SESSION> <ENTRY> [ENTRY]\n       \
    rethread diff [OPTIONS] <SESSION[:ENTRY]> <SESSION[:ENTRY]>",
    after_help = "Examples:\n  \
    rethread diff 3f2a L118 L240       two branches of one session\n  \
    rethread diff 3f2a t9              its active path and the branch with turn 9\n  \
    rethread diff 3f2a b27e            two sessions: a fork and its origin\n  \
    rethread diff 3f2a:L118 b27e:t4    branches of two sessions"
)]
pub(crate) struct Diff {
    /// A session and one or two entries of it, or two sessions: see the examples
    ///
    /// An entry is L118 (line), t9 (turn), a uuid or its beginning.
    #[arg(required = true, num_args = 2..=3, value_name = "BRANCH")]
    pub(crate) branch: Vec<String>,
}

/// Say what is wrong with a session, or with all of them
///
/// Without a session it examines every session of the store in parallel, and the store itself: how long the client
/// keeps sessions, which are about to be deleted, folders without a session, and where the bytes are. Each finding has a
/// code that never changes, says where it is, what it costs and which command mends it. A finding blocks (the session
/// cannot be gone on with), costs (something is lost or will be) or is harmless. What the client loads is judged by
/// the rules of the client that wrote the newest line. Nothing is changed. Exit code 0: nothing worse than harmless;
/// 1: something is.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread doctor last\n  \
    rethread doctor\n  \
    rethread doctor --everything\n  \
    rethread doctor --json | jq -r 'select(.severity == \"blocks\") | .session'")]
pub(crate) struct Doctor {
    /// Which session; without one, all
    pub(crate) session: Option<String>,
    /// Every session of the store, which is the default
    #[arg(long, conflicts_with = "session")]
    pub(crate) all: bool,
    /// Also sessions in which all findings are harmless
    #[arg(short, long, conflicts_with = "session")]
    pub(crate) everything: bool,
}

/// Mend what doctor finds, in a new session or in place
///
/// What was cut off is hung on what it followed: by the tool call that it answers, else by the order of the file. Calls
/// that were interrupted get a result that says so, and what the API refuses (thoughts without a signature, empty texts,
/// pictures over a limit) leaves. Records are read out of damaged lines; the damaged bytes are kept beside the session.
/// Every line that gets another parent is listed, and marked in the file with the one it had (relinkedFrom). The session
/// itself stays as it is unless --in-place is given. What clients will load is checked before and after.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread repair last --dry-run            what would be mended\n  \
    rethread repair last                      a new session, mended\n  \
    rethread repair 3f2a --in-place           the session itself; `rethread undo` takes it back\n  \
    rethread repair 3f2a --extract pictures   keep pictures that have to leave")]
pub(crate) struct Repair {
    /// Which session
    pub(crate) session: String,
    /// Mend the session itself, and do not make a new one
    #[arg(long)]
    pub(crate) in_place: bool,
    /// Leave tool calls without a result out, and do not add a result
    #[arg(long)]
    pub(crate) drop_unpaired: bool,
    /// Write pictures that have to leave into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) extract: Option<PathBuf>,
    /// Go on from this entry: uuid or its first digits, L118 (line) or t9 (turn)
    ///
    /// Without it, clients go on from the newest entry where links were mended, else from where they did before.
    #[arg(long, value_name = "ENTRY")]
    pub(crate) leaf: Option<String>,
    #[command(flatten)]
    pub(crate) pen: Writing,
}

/// Count lines, turns, tools, tokens and time
///
/// Over the whole store, or over the sessions named, each with its subagents. A response counts its tokens once,
/// however many lines and files repeat it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread stats\n  \
    rethread stats last --files\n  \
    rethread stats --json | jq .usage")]
pub(crate) struct Stats {
    /// Which sessions; all where none is named
    pub(crate) session: Vec<String>,
    /// Also one row per file
    #[arg(long)]
    pub(crate) files: bool,
}

/// List the tool calls of a session
///
/// With those of its subagents, in the order of their files and lines. A call without a result and a result without
/// a call are told.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread tools last --errors\n  \
    rethread tools last --name Bash --name Edit --full")]
pub(crate) struct Tools {
    /// Which session
    pub(crate) session: String,
    /// Only this tool (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Vec<String>,
    /// Only calls that failed
    #[arg(long)]
    pub(crate) errors: bool,
    /// Show input and result
    #[arg(long)]
    pub(crate) full: bool,
}

/// Draw the subagents of a session as a tree
///
/// Each below the agent that started it, with its kind, what it was asked to do, its tool calls, tokens and time,
/// and the line of the call that started it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  rethread agents last\n  rethread agents last --json | jq .description")]
pub(crate) struct Agents {
    /// Which session
    pub(crate) session: String,
    /// Also agents that the client starts only to warm up
    #[arg(short, long)]
    pub(crate) all: bool,
}

/// Show which types, blocks and fields the files hold
///
/// With how often each was seen and in which client versions. What no known client writes is marked: a new client
/// shows here first.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  rethread schema --unknown\n  rethread schema --json | jq -r .name")]
pub(crate) struct Schema {
    /// Only what is not known
    #[arg(long)]
    pub(crate) unknown: bool,
}

/// What every writing command takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Writing {
    /// Only say what would be changed
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Also while a client is at work in the session
    ///
    /// A session counts as live while a running client has it open, a process has its file open for writing, or
    /// somebody wrote to it within the last 5 seconds.
    #[arg(long)]
    pub(crate) even_if_live: bool,
}

/// Give a session a title
///
/// Appends the two lines that the client's own /rename writes, so that every client shows the title. The last title
/// given counts.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread rename last the login bug\n  \
    rethread rename 3f2a 'second try' --dry-run")]
pub(crate) struct Rename {
    /// Which session
    pub(crate) session: String,
    /// The title; several words are joined
    #[arg(required = true)]
    pub(crate) title: Vec<String>,
    #[command(flatten)]
    pub(crate) pen: Writing,
}

/// Move sessions to the trash, with all that belongs to them
///
/// The file, the folder beside it (subagents, tool results), subagents of older clients beside it, and what the client
/// keeps of the session elsewhere: file history, todos, tasks. Nothing is deleted: `rethread undo` brings it back, until
/// `rethread log --prune` throws it away.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread rm 3f2a --dry-run       what would go\n  \
    rethread rm 3f2a b27e            two sessions, each an op of its own")]
pub(crate) struct Rm {
    /// Which sessions
    #[arg(required = true)]
    pub(crate) session: Vec<String>,
    #[command(flatten)]
    pub(crate) pen: Writing,
}

/// List what rethread changed
///
/// Newest first: the number to give to `rethread undo`, when, the command, its session, whether it is in force, and
/// what it was about. The journal lies outside the client's folder, in $XDG_STATE_HOME/rethread or
/// ~/.local/state/rethread, with the backups.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread log\n  \
    rethread log 3f2a --json | jq .paths\n  \
    rethread log --prune --older-than 30d --dry-run")]
pub(crate) struct Log {
    /// Only ops of the session whose id begins so
    pub(crate) session: Option<String>,
    /// At most so many
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Throw away the backups and the trash of old ops
    ///
    /// Those of ops that began before --older-than go, but never those of the newest op of a session. The log still
    /// lists the ops and says so; they can no longer be undone.
    #[arg(long, conflicts_with_all = ["session", "limit"])]
    pub(crate) prune: bool,
    /// What counts as old: 90d, 12w, 2026-01-31
    #[arg(long, value_name = "WHEN", default_value = "90d", requires = "prune")]
    pub(crate) older_than: String,
    /// Only say what would be thrown away
    #[arg(long, requires = "prune")]
    pub(crate) dry_run: bool,
}

/// Take back what rethread changed
///
/// Brings every file of an op back to the bytes it had before: of the newest op that is in force, or of the one
/// named. That is an op of its own, so it can be undone too. Refuses (exit 3) where a file is no longer as the op left it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread undo                 take the newest change back\n  \
    rethread undo 7 --dry-run     what taking back op 7 would change")]
pub(crate) struct Undo {
    /// The number of the op; the newest in force where none is named
    pub(crate) op: Option<u64>,
    #[command(flatten)]
    pub(crate) pen: Writing,
}

/// Move the point where the next resume goes on
///
/// Every branch of a session is still in its file, but the client resumes only one of them. This makes it resume
/// another, from any entry: two lines are added at the end of the file, none is changed, and what each client will then
/// load is checked before and after. WHERE is a turn (t9: when it was answered), a line (L118), a uuid or its first
/// digits, the tip of a branch as `branches` names it, or words that the entry holds. Where a compaction stands between,
/// the way to the entry is written a second time behind it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread goto last t9               go on behind turn 9\n  \
    rethread goto last t9 --before      as if prompt 9 had not been asked yet\n  \
    rethread goto 3f2a L118 --dry-run   show what would be written\n  \
    rethread goto last \"the old plan\"   by words; offers a choice where several fit\n  \
    rethread undo                       take it back")]
pub(crate) struct Goto {
    /// Which session
    pub(crate) session: String,
    /// Where to: t9 (turn), L118 (line), uuid, or words
    #[arg(value_name = "WHERE", required = true, num_args = 1..)]
    pub(crate) place: Vec<String>,
    /// Go to the entry before it
    #[arg(long)]
    pub(crate) before: bool,
    #[command(flatten)]
    pub(crate) pen: Writing,
}

/// Move the point to an entry, named by its uuid
///
/// The direct form of `goto`, for scripts: takes a uuid (or its first digits, L118 or t9), never words.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread branch 3f2a 0effbfda\n  \
    rethread branches 3f2a --json | jq -r .tip | head -1 | xargs rethread branch 3f2a")]
pub(crate) struct Branch {
    /// Which session
    pub(crate) session: String,
    /// Which entry: uuid or its first digits, L118 (line) or t9 (turn)
    pub(crate) uuid: String,
    #[command(flatten)]
    pub(crate) pen: Writing,
}

/// Make a new session of the path to a point
///
/// The new session holds exactly the entries that lead to WHERE (without it: to where the client goes on), with their
/// subagents, tool results and file history, and says in every line where it comes from, as the client's own /branch
/// does. Its origin is not changed. What each client will load of it is checked after it is written.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread fork last                   a copy to try something in\n  \
    rethread fork last t9                what was said up to the end of turn 9\n  \
    rethread fork 3f2a L118 --title \"the other way\"")]
pub(crate) struct Fork {
    /// Which session
    pub(crate) session: String,
    /// Up to where: t9 (turn), L118 (line), uuid, or words
    #[arg(value_name = "WHERE")]
    pub(crate) place: Vec<String>,
    /// Up to the entry before it
    #[arg(long)]
    pub(crate) before: bool,
    /// What to call it
    #[arg(long, value_name = "TITLE")]
    pub(crate) title: Option<String>,
    /// Only say what would be made
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Bring a session back to what it was before rethread changed it
///
/// All files of the session get the earliest bytes that are kept, also where the session was deleted meanwhile, by
/// whomever. What is there now is backed up first: this is an op of its own, and can be undone. What rethread made
/// itself stays.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread restore 3f2a --dry-run\n  \
    rethread restore 3f2a")]
pub(crate) struct Restore {
    /// Which session: its id or the beginning of it, also where its file is gone
    pub(crate) session: String,
    #[command(flatten)]
    pub(crate) pen: Writing,
}
