//! Arguments of the commands that only read sessions.

use clap::ValueEnum;
use rethread_engine::core::query::TextSource;

use super::{FilterArgs, name_parser};

/// Read, search and edit all sessions in the browser
///
/// The server listens on this machine only. It downloads nothing and sends nothing out. The printed address contains a
/// key. Anyone with the address can read and change your sessions, so do not share it. It is valid after a restart, too:
/// the key is kept in $XDG_STATE_HOME/rethread/web or ~/.local/state/rethread/web. If you have no sessions, the server
/// shows invented ones and marks them as such.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  rethread serve --open\n  rethread --demo serve --port 8080")]
pub(crate) struct Serve {
    /// Listen on this port (default: 7333, or any free port)
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,

    /// Open the browser
    ///
    /// The browser is started with a file that only you can read. It signs the browser in, once and within 30 seconds.
    #[arg(long)]
    pub(crate) open: bool,

    /// Replace the key, so that earlier addresses and signed-in browsers no longer have access
    #[arg(long)]
    pub(crate) new_key: bool,
}

/// List sessions, newest first
///
/// Each row shows the start of the session id, the time since the last message, the number of turns, branches and
/// subagents, the size, the git branch, the project and the title. Labels before the title mark sessions that are open
/// in a client (live), deleted but in the archive (archived), forked from another session (fork), planning or implementing
/// a plan (plan, impl), compacted, or damaged. Headless sessions and sessions without messages are hidden, unless --all or
/// --empty is given.
#[derive(Debug, clap::Args)]
#[command(visible_alias = "list")]
#[command(after_help = "Examples:\n  \
    rethread ls login                 title, project, git branch or id contains `login`\n  \
    rethread ls --since monday\n  \
    rethread ls --project website --older-than 90d\n  \
    rethread ls --deleted\n  \
    rethread ls --why 3f2a\n  \
    rethread ls --all --json | jq -r .id")]
pub(crate) struct Ls {
    /// Only sessions whose title, project, git branch or id contains each of these words
    #[arg(value_name = "WORDS")]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Show at most N sessions
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Include headless and empty sessions
    #[arg(short, long)]
    pub(crate) all: bool,
    /// List what is left of sessions that are gone, instead of sessions
    ///
    /// Clients delete sessions after 30 days by default. Other files still have some of their data: prompts in the prompt
    /// history, subagents, tool results, backups of edited files, tasks, to-do lists, plans, and copies in forks. `show ID`
    /// prints the prompts in order. Sessions in the trash or in the archive are not listed.
    #[arg(long, conflicts_with_all = ["git_branch", "model", "empty"])]
    pub(crate) deleted: bool,
    /// Explain why the list of `claude --resume` does not contain a session
    ///
    /// Only measured rules are stated. Exit code 0: nothing hides it; 1: something does.
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["words", "deleted", "limit", "all"])]
    pub(crate) why: Option<String>,
}

/// The level of detail of tool calls.
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
/// A turn is a prompt, its answer and the tool calls between them. By default, the conversation that a resume continues
/// is shown, from its first turn to the entry that the client resumes from. Turns before a compaction are included and
/// marked. Turns on other branches are shown with --all. `export` and the pages of `serve` select turns in the same way.
/// With the id of a deleted session, its prompts are shown, and where the rest of its data is: see `ls --deleted`.
#[derive(Debug, clap::Args)]
#[command(visible_alias = "cat")]
#[command(after_help = "Examples:\n  \
    rethread show last\n  \
    rethread show 3f2a --turns 4-6 --tools full\n  \
    rethread show 3f2a --all\n  \
    rethread show 3f2a --turns 7 --raw | jq .")]
pub(crate) struct Show {
    /// Session: id, start of an id, words from the title, path, or `last`
    pub(crate) session: String,
    /// Only these of the selected turns: 5, 3-9, 3..9, 3.. or ..9
    #[arg(short, long, value_name = "RANGE")]
    pub(crate) turns: Option<String>,
    /// Detail of tool calls: none, brief or full
    #[arg(long, value_name = "DETAIL", default_value = "brief", hide_possible_values = true)]
    pub(crate) tools: Detail,
    /// Show thinking in full
    #[arg(long)]
    pub(crate) thinking: bool,
    /// Hide texts in the user's name that no user typed: outputs of commands, notifications, reminders
    #[arg(long, conflicts_with = "raw")]
    pub(crate) only_typed: bool,
    /// Print only the original JSON lines of the turns
    ///
    /// Output to a file or a pipe is byte for byte. On a terminal, control characters are made visible.
    #[arg(long, conflicts_with = "json")]
    pub(crate) raw: bool,
    /// Show the branch with this entry instead of the active one: uuid, L118 (line) or t9 (turn)
    #[arg(long, value_name = "ENTRY", conflicts_with = "all")]
    pub(crate) branch: Option<String>,
    /// Show every turn of the file, on all branches
    #[arg(short, long)]
    pub(crate) all: bool,
    /// Show the source of Markdown and of edits instead of rendering them
    ///
    /// Output without colours is always plain, and so are texts longer than 256 kB.
    #[arg(long, conflicts_with_all = ["raw", "json"])]
    pub(crate) plain: bool,
}

/// Show what Claude Code will load when a session is resumed
///
/// A resume may load only a small part of a session, or a branch you did not expect, without any warning. This command
/// shows which entry the client resumes from and why, how much it loads, where its parent chain ends and why, which
/// entries are unreachable and how to read them, what the client omits or adds, and what the API will reject. The strip
/// shows the session from its first entry to its last. The rules were measured on the real client, version by version.
/// A version between two measured ones uses the rules of the older one. Exit code 0: nothing is lost except what you
/// left, such as a branch before a rewind; 1: something else would be lost.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread explain last\n  \
    rethread explain last --client all\n  \
    rethread explain 3f2a --client 2.1.104\n  \
    rethread explain 3f2a || echo \"resuming would lose something\"\n  \
    rethread explain last --json | jq .early_end")]
pub(crate) struct Explain {
    /// Session to explain
    pub(crate) session: String,
    /// Client version that resumes, such as 2.1.325, or `all` measured versions
    ///
    /// Default: the client that wrote the newest line of the session.
    #[arg(long, value_name = "VERSION|all")]
    pub(crate) client: Option<String>,
    /// Rule for the resume point: `client` (measured), or `seed` (the last summary, as older descriptions have it)
    #[arg(long, value_name = "client|seed", hide_possible_values = true, conflicts_with = "client")]
    pub(crate) rule: Option<ReadingRule>,
}

/// The rule that selects the resume point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReadingRule {
    /// The measured rule of a client version
    Client,
    /// The entry named by the last summary
    Seed,
}

/// Show what fills the context window
///
/// A context fills up with tool results, files and reminders, and the client does not show which. The chart shows the
/// context size at every response of the path that the client loads, with compactions (▼), cleared results (×) and
/// unexplained drops (↓). The tables show what the next request would contain, by cause: the client's own part, prompts,
/// answers, thinking, tool calls, results by tool, images, attachments and the summary. They also list files that were
/// read more than once and the largest blocks. The API reports sizes of whole requests only. The growth of each request
/// is divided among its new blocks by length, so that the parts add up. Such estimates are marked with `~`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread context last\n  \
    rethread context 3f2a --by-turn\n  \
    rethread context last --json | jq 'select(.type == \"context_cause\")'")]
pub(crate) struct Context {
    /// Session to measure
    pub(crate) session: String,
    /// Also list what each turn added
    #[arg(long, alias = "turns")]
    pub(crate) by_turn: bool,
}

/// List all branches of a session
///
/// An edited prompt, a rewind, a retry or a second process leaves the older branch in the file. Each row is one branch,
/// in the order in which they began: the line of its tip, the last entry it shares with another branch, the kind of fork
/// and its position among the alternatives, its own turns and all its turns, its own tokens, its last message and its
/// first different prompt. ● marks the branch that the client loads. Orphaned branches are parts without a path from the
/// root, because a parent is missing or parents form a cycle.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread branches last\n  \
    rethread show last --branch L118\n  \
    rethread branches last --json | jq -r .handle")]
pub(crate) struct Branches {
    /// Session to list
    pub(crate) session: String,
}

/// Output format of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For the terminal
    Text,
    /// For Graphviz
    Dot,
    /// An image
    Svg,
    /// JSON Lines
    Json,
}

/// Draw a session as a tree
///
/// Each row is one turn. At a fork, the other branches are drawn further right, before the branch that continues. ● is
/// loaded by the client, ◌ is before a compaction, ○ is on another branch, ◆ is a compaction. Long stretches without a
/// fork are omitted. With an ENTRY, only its surroundings are drawn: some turns above it, the branches next to it and
/// the entries directly below it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread tree last\n  \
    rethread tree last t9\n  \
    rethread tree last L118 --all\n  \
    rethread tree last --format svg > tree.svg\n  \
    rethread tree last --format dot | dot -Tpdf -o tree.pdf")]
pub(crate) struct Tree {
    /// Session to draw
    pub(crate) session: String,
    /// Draw only the surroundings of this entry: uuid, L118 (line) or t9 (turn)
    #[arg(value_name = "ENTRY")]
    pub(crate) around: Option<String>,
    /// Draw every entry, not one row per turn, and omit nothing
    #[arg(short, long)]
    pub(crate) all: bool,
    /// Output format: text, dot, svg or json
    #[arg(short, long, value_name = "FORMAT", hide_possible_values = true, conflicts_with = "json")]
    pub(crate) format: Option<Format>,
}

/// Find text in one session and show each match in its place
///
/// Searches prompts, answers, thinking, tool inputs and results, client messages, queued prompts, summaries and titles,
/// on all branches and before compactions, in file order. Each matching entry is shown with the prompts and answers above
/// it, the entry below it and the tip of its branch. ● marks entries on the active path, ○ all others. Upper and lower
/// case are equal unless the text contains an upper-case letter.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread find last 'off by one'\n  \
    rethread find 3f2a Harbour --role prompt\n  \
    rethread find 3f2a --regex 'error\\[E0[0-9]+\\]' --ancestors 1\n  \
    rethread find 3f2a panicked --json | jq .line")]
pub(crate) struct Find {
    /// Session to search
    pub(crate) session: String,
    /// Text to find, as shown in the conversation
    #[arg(value_name = "TEXT", required_unless_present = "regex", conflicts_with = "regex")]
    pub(crate) text: Option<String>,
    /// Find a regular expression instead
    ///
    /// Perl syntax without look-around and back-references. `(?i)` ignores case, `(?s)` lets a dot match line breaks.
    /// Classes such as \w and case folding cover ASCII only.
    #[arg(short = 'e', long, value_name = "REGEX")]
    pub(crate) regex: Option<String>,
    /// Match case exactly
    #[arg(short = 's', long, conflicts_with = "regex")]
    pub(crate) case_sensitive: bool,
    /// Number of prompts and answers to show above each match
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) ancestors: usize,
    /// Only text of this role: prompt, answer, thinking, tool, result, system, summary or context (repeatable)
    #[arg(long, value_name = "ROLE", hide_possible_values = true, value_parser = name_parser(TextSource::ALL, TextSource::name))]
    pub(crate) role: Vec<TextSource>,
    /// Show at most N entries
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Include subagents inside the file, attachments, progress and lines of unknown types
    ///
    /// Old clients wrote subagents into the session file. Newer clients write separate files: search those by their path
    /// or id.
    #[arg(short, long)]
    pub(crate) all: bool,
}

/// Compare two branches of a session, or two sessions
///
/// Starts at the last common entry. Shows prompts, tool calls and answers turn by turn, then totals for each side: turns,
/// answers, tool calls, changed files and tokens. Each response is counted once. Name a branch by any of its entries; it
/// extends to its newest tip. A session without an entry means its active path. If a copied session has new uuids, the
/// common part is found by response ids, or else by equal text from the start. Subagents with files of their own are not
/// counted.
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
    /// An entry is L118 (line), t9 (turn), a uuid or the start of one.
    #[arg(required = true, num_args = 2..=3, value_name = "BRANCH")]
    pub(crate) branch: Vec<String>,
}

/// Find problems in a session, or in all sessions
///
/// Without a session, all sessions of the store are checked in parallel. The store is checked too: how long the client
/// keeps sessions, which ones it will delete soon, folders without a session, and what takes up space. Each finding has
/// a stable code, the affected lines, its consequence and the command that fixes it. Severities: error (the session
/// cannot be resumed), warning (something is or will be lost), info (no consequence). The rules of the client that wrote
/// the newest line and those of the newest known client decide what is loaded. Nothing is changed. Exit code 0: nothing above info; 1: warnings or errors.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread doctor last\n  \
    rethread doctor\n  \
    rethread doctor --everything\n  \
    rethread doctor --json | jq -r 'select(.severity == \"error\") | .session'")]
pub(crate) struct Doctor {
    /// Session to check (default: all)
    pub(crate) session: Option<String>,
    /// Check all sessions of the store, which is the default
    #[arg(short, long, conflicts_with = "session")]
    pub(crate) all: bool,
    /// Include sessions without warnings or errors
    #[arg(long, conflicts_with = "session")]
    pub(crate) everything: bool,
}

/// Count lines, turns, tools, tokens and time
///
/// Covers the whole store, or the named sessions, each with its subagents. The tokens of a response are counted once, even
/// if several lines or files repeat it. Entries with several children are counted by the types of their children, such as
/// (user, user), and by cause: an edited prompt, a rewind, a retry, an interrupt, or an artifact of how the client records.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread stats\n  \
    rethread stats last --files\n  \
    rethread stats --json | jq .usage")]
pub(crate) struct Stats {
    /// Sessions to count (default: all)
    pub(crate) session: Vec<String>,
    /// Also print one row per file: an inventory of the sessions
    ///
    /// Messages are counted once, however many lines they take. `user` includes tool results. Notable: long turn (100
    /// entries and half of the file), many tools (20, and 10 a turn), heavy snapshots (a tenth of the lines), summary,
    /// compacted, forked, damaged.
    #[arg(long)]
    pub(crate) files: bool,
}

/// List the tool calls of a session
///
/// Includes the calls of subagents, ordered by file and line. Calls without a result and results without a call are
/// reported.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread tools last --errors\n  \
    rethread tools last --name Bash --name Edit --full")]
pub(crate) struct Tools {
    /// Session to list
    pub(crate) session: String,
    /// Only this tool (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Vec<String>,
    /// Only failed calls
    #[arg(long)]
    pub(crate) errors: bool,
    /// Show input and result
    #[arg(long)]
    pub(crate) full: bool,
}

/// Draw the subagents of a session as a tree
///
/// Each subagent is below the agent that started it, with its type, task, tool calls, tokens and time, and the line of the
/// call that started it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  rethread agents last\n  rethread agents last --json | jq .description")]
pub(crate) struct Agents {
    /// Session to draw
    pub(crate) session: String,
    /// Include warm-up agents of the client
    #[arg(short, long)]
    pub(crate) all: bool,
}

/// Show which entry types, blocks and fields the files contain
///
/// Each row shows how often it occurs and in which client versions. Items that no known client writes are marked: they
/// are the first sign of a new client.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  rethread schema --unknown\n  rethread schema --json | jq -r .name")]
pub(crate) struct Schema {
    /// Only unknown items
    #[arg(long)]
    pub(crate) unknown: bool,
}
