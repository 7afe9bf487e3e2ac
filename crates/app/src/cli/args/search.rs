//! Arguments of `search` and `index`.

/// Search all sessions, including every branch and subagent
///
/// Searches prompts, answers, thinking, tool calls and results, client messages, summaries and titles, also before
/// compactions and on abandoned branches. Hits are ranked by relevance, then by time: rare words, whole-word matches,
/// short texts, and messages before tool output. Copies of an entry in several sessions are one hit. Each hit shows
/// whether it is in context when its session is resumed, and if not, why. A full-text index in the cache is updated by
/// each search. The hits are the same with and without it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = LANGUAGE)]
pub(crate) struct Search {
    /// Query
    ///
    /// A single argument is parsed as a query. If there are several, an argument with spaces is a phrase, because the
    /// shell has removed its quotes.
    #[arg(value_name = "QUERY", required_unless_present_any = ["rest", "regex"], num_args = 1..)]
    pub(crate) query: Vec<String>,
    /// Query words that begin with two dashes
    #[arg(last = true, hide = true)]
    pub(crate) rest: Vec<String>,
    /// Only entries that match this regular expression; the same as /REGEX/ in the query
    #[arg(short = 'e', long, value_name = "REGEX", allow_hyphen_values = true)]
    pub(crate) regex: Option<String>,
    /// Show at most N hits; 0 for all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// Show N lines of text above and below each match
    ///
    /// Default: the text around the match, on one line.
    #[arg(long, value_name = "N")]
    pub(crate) context: Option<usize>,
    /// Print one row per session, with its number of hits
    #[arg(short = 'l', long)]
    pub(crate) sessions: bool,
    /// Show the session of hit N, at the turn of the hit
    #[arg(long, value_name = "N", conflicts_with_all = ["sessions", "resume"])]
    pub(crate) open: Option<usize>,
    /// Print the command that resumes the session of hit N
    #[arg(long, value_name = "N", conflicts_with = "sessions")]
    pub(crate) resume: Option<usize>,
    /// Include attachments, progress and lines of unknown types
    #[arg(short, long)]
    pub(crate) all: bool,
}

const EXAMPLES: &str = "Examples:\n  \
    rethread search websocket retry\n  \
    rethread search 'role:user \"off by one\" since:30d'\n  \
    rethread search tool:Bash error:yes cargo -clippy\n  \
    rethread search is:abandoned parser --open 1\n  \
    rethread search flaky -l --json | jq -r .session";

const LANGUAGE: &str = "Query language:\n  \
    socket retry          both words in one entry, in any case, also inside other words\n  \
    \"off by one\"          an exact phrase; quotes turn any characters into text\n  \
    socket OR websocket   either word; | means the same\n  \
    -word  -tool:Bash     exclude\n  \
    /time(d )?out/        a regular expression, case-sensitive unless (?i);\n  \
    \u{20}                     /tmp/ is a word, because it has no special characters\n  \
    role:user             only text of user, assistant, tool, thinking, system,\n  \
    \u{20}                     summary, context; or prompt, answer, result\n  \
    tool:Bash             calls of a tool and their results; part of a name such as\n  \
    \u{20}                     mcp__server__tool is enough\n  \
    file:src/main.rs      calls with this text in a path\n  \
    project:shop          sessions with this text in their project path\n  \
    branch:main           written on a git branch with this text in its name\n  \
    model:opus            written by a model with this text in its name\n  \
    session:3f2a          sessions with an id that begins with this\n  \
    pr:123                the link to a pull request, by number, owner/shop#123 or address\n  \
    since:7d              written since then; until:2026-01-31 before then\n  \
    error:yes             failed tool calls, by words of the call or its result; error:no all others\n  \
    is:active             in context when the session is resumed; is:compacted and\n  \
    \u{20}                     is:abandoned not in context; is:subagent by subagents\n\n\
    Field names are case-insensitive. Anything that is not a field is text: std::fs, http://x.\n\n\
    Examples:\n  \
    rethread search websocket retry\n  \
    rethread search 'role:user \"off by one\" since:30d'\n  \
    rethread search tool:Bash error:yes cargo -clippy\n  \
    rethread search is:abandoned parser --open 1\n  \
    rethread search flaky -l --json | jq -r .session";

/// Build the search index, or show its status
///
/// Searches update the index themselves. Building it in advance makes the first search of a large store faster. The index
/// is in $XDG_CACHE_HOME/rethread or ~/.cache/rethread. It is derived from the sessions and can be deleted at any time.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread index\n  \
    rethread index --status\n  \
    rethread index --drop")]
pub(crate) struct Index {
    /// Delete the index and read every file again
    #[arg(long)]
    pub(crate) rebuild: bool,
    /// Only show the status of the index
    #[arg(long, conflicts_with_all = ["rebuild", "drop"])]
    pub(crate) status: bool,
    /// Delete the index
    #[arg(long, conflicts_with = "rebuild")]
    pub(crate) drop: bool,
}
