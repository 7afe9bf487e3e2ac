//! The arguments of the search and its index.

/// Search all sessions, every branch and every subagent of them
///
/// Looks through prompts, answers, thinking, tool calls and their results, texts of the client, summaries and titles,
/// also before compactions and on branches that were left. The best come first: seldom words, whole words, short
/// texts, what was said rather than what tools printed; then the newest. The same entry in several sessions is one hit.
/// Each hit says whether Claude remembers it when its session is resumed, or why not. An index of all words is kept
/// in the cache and brought up to date as you search; with and without it the hits are the same.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = LANGUAGE)]
pub(crate) struct Search {
    /// What to look for
    ///
    /// One argument is a query. Of several, those with spaces in them are phrases: the shell took their quotes away.
    #[arg(value_name = "QUERY", required_unless_present = "rest", num_args = 1..)]
    pub(crate) query: Vec<String>,
    /// Words that begin with two dashes
    #[arg(last = true, hide = true)]
    pub(crate) rest: Vec<String>,
    /// At most so many hits; 0 for all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// So many lines of text above and below each match
    ///
    /// Without it, the words around the match on one line.
    #[arg(long, value_name = "N")]
    pub(crate) context: Option<usize>,
    /// One row per session, with how many hits it has
    #[arg(short = 'l', long)]
    pub(crate) sessions: bool,
    /// Read the session at hit N, at its turn
    #[arg(long, value_name = "N", conflicts_with_all = ["sessions", "resume"])]
    pub(crate) open: Option<usize>,
    /// Print the command that resumes the session of hit N
    #[arg(long, value_name = "N", conflicts_with = "sessions")]
    pub(crate) resume: Option<usize>,
    /// Also attachments, progress and lines of unknown types
    #[arg(long)]
    pub(crate) all: bool,
}

const EXAMPLES: &str = "Examples:\n  \
    rethread search websocket retry\n  \
    rethread search 'role:user \"off by one\" since:30d'\n  \
    rethread search tool:Bash error:yes cargo -clippy\n  \
    rethread search is:abandoned parser --open 1\n  \
    rethread search flaky -l --json | jq -r .session";

const LANGUAGE: &str = "What to type:\n  \
    socket retry          both words in one entry, in any case, also inside others\n  \
    \"off by one\"          a phrase as it stands; quotes make text of anything\n  \
    socket OR websocket   either; | means the same\n  \
    -word  -tool:Bash     what must not be\n  \
    /time(d )?out/        a regular expression, case as written, (?i) for any;\n  \
    \u{20}                     /tmp/ is a word, for nothing in it has a meaning\n  \
    role:user             only what is said by user, assistant, tool, thinking,\n  \
    \u{20}                     system, summary, context; or prompt, answer, result\n  \
    tool:Bash             calls of a tool and their results; of a name such as\n  \
    \u{20}                     mcp__server__tool a part is enough\n  \
    file:src/main.rs      calls with this in a path\n  \
    project:shop          sessions with this in the path of their folder\n  \
    branch:main           written on a git branch with this in its name\n  \
    model:opus            by a model with this in its name\n  \
    session:3f2a          sessions whose id begins so\n  \
    since:7d              written since then; until:2026-01-31 before it\n  \
    error:yes             failed tool calls and requests; error:no all others\n  \
    is:active             what Claude remembers when the session is resumed;\n  \
    \u{20}                     is:compacted and is:abandoned what it does not;\n  \
    \u{20}                     is:subagent what subagents said\n\n\
    Fields are known in any case; what is no field is text: std::fs, http://x.\n\n\
    Examples:\n  \
    rethread search websocket retry\n  \
    rethread search 'role:user \"off by one\" since:30d'\n  \
    rethread search tool:Bash error:yes cargo -clippy\n  \
    rethread search is:abandoned parser --open 1\n  \
    rethread search flaky -l --json | jq -r .session";

/// Make the index that searches use, or say how it stands
///
/// Searches bring the index up to date by themselves; a first one over a large store is quicker after this. The index lies
/// in $XDG_CACHE_HOME/rethread or ~/.cache/rethread, holds nothing that is not in the sessions, and can be deleted
/// at any time.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread index\n  \
    rethread index --status\n  \
    rethread index --drop")]
pub(crate) struct Index {
    /// Throw it away and read every file again
    #[arg(long)]
    pub(crate) rebuild: bool,
    /// Only say how it stands
    #[arg(long, conflicts_with_all = ["rebuild", "drop"])]
    pub(crate) status: bool,
    /// Throw it away
    #[arg(long, conflicts_with = "rebuild")]
    pub(crate) drop: bool,
}
