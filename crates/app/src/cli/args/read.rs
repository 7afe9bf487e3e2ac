//! The arguments of commands that read.

use clap::ValueEnum;

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

/// Show where the context window went
///
/// A context fills up with results, files and reminders, and nothing says with which. The chart shows its size at every
/// response of the path that the client loads, with compactions (▼), cleared results (×) and drops that no line explains (↓).
/// Then what the next request would hold, by cause: the client's own part, prompts, answers, thinking, calls, results
/// by tool, pictures, attachments, the summary; files that were read again; the largest blocks. The API counts whole requests: what
/// a request grew by is shared out by length among what came in, so that the parts add up. Such numbers carry `~`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread context last\n  \
    rethread context 3f2a --turns\n  \
    rethread context last --json | jq 'select(.type == \"context_cause\")'")]
pub(crate) struct Context {
    /// Which session
    pub(crate) session: String,
    /// Also list what each turn added
    #[arg(short, long)]
    pub(crate) turns: bool,
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
