//! Arguments of `usage` and `statusline`.

use std::path::{Path, PathBuf};

use rethread_engine::ops::usage::GroupBy;

use super::name_parser;

/// The source of the prices.
#[derive(Debug, clap::Args)]
pub(crate) struct PriceArgs {
    /// Use prices from this table before the built-in ones
    ///
    /// The table is TOML, in dollars per million tokens, one value per line: `[[price]]`, `models = ["my-model-*"]`, `input =
    /// 3`, `output = 15`. Optional: `cache_write_5m`, `cache_write_1h` and `cache_read` (default: 1.25, 2 and 0.1 times the
    /// input), `from = 2026-01-31` (start date), `web_search` (per thousand), and `long.above` (tokens) with `long.input`,
    /// `long.output` and so on. The first matching row applies; models without a row use the built-in prices. Default:
    /// `prices` in the configuration file, or prices.toml in $XDG_CONFIG_HOME/rethread or ~/.config/rethread, if it exists.
    #[arg(long = "prices", value_name = "FILE")]
    file: Option<PathBuf>,
}

impl PriceArgs {
    /// Returns the named price table. Returns `None` if the configured one is used.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }
}

/// Add up tokens and cost, counting each response once
///
/// One response is written as several lines, and forks, resumes and subagents repeat lines. rethread counts each response
/// once over all files, by message and request id, using the line with the most output. It belongs to the session, day
/// and project in which it first appeared. For every grouping, the rows add up to the total; --check verifies this. `≥`
/// marks a lower bound: the client wrote a response before its end was received, or a model has no price.
#[derive(Debug, clap::Args)]
#[command(visible_alias = "cost")]
#[command(after_help = "Examples:\n  \
    rethread usage --since monday\n  \
    rethread usage --by month\n  \
    rethread usage --by project,model --since monday\n  \
    rethread usage --by project --since 2026-01-01 --csv > spent.csv\n  \
    rethread usage last --by reach\n  \
    rethread usage --check")]
pub(crate) struct Usage {
    /// Only this session and its subagents: id, start of an id, words from the title, path, or `last`
    pub(crate) session: Option<String>,
    /// Group by day, week, month, project, session, model, tool, agent, branch (git), block (5 hours) or reach
    ///
    /// With two groupings, such as `--by project,model`, each group of the first is divided by the second.
    #[arg(short, long, value_name = "GROUP", default_value = "day", hide_possible_values = true)]
    #[arg(value_parser = name_parser(&GroupBy::ALL, GroupBy::name), value_delimiter = ',')]
    pub(crate) by: Vec<GroupBy>,
    /// Only usage since: today, yesterday, monday, 7d, 12h, 2w, 2026-01-31
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<String>,
    /// Only usage before
    #[arg(long, value_name = "WHEN")]
    pub(crate) until: Option<String>,
    /// Time zone that determines days: Europe/Berlin, UTC, +02:00
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true)]
    pub(crate) tz: Option<String>,
    /// Only projects with this text in their path
    #[arg(long, value_name = "TEXT")]
    pub(crate) project: Option<String>,
    /// Only models with this text in their name
    #[arg(long, value_name = "TEXT")]
    pub(crate) model: Option<String>,
    /// Show at most N rows, and combine the others into one
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Also show the cost of abandoned branches and of entries before compactions
    #[arg(long)]
    pub(crate) reach: bool,
    /// Verify that every grouping adds up to the total, and compare with the client's own records
    #[arg(long, conflicts_with_all = ["explain", "csv"])]
    pub(crate) check: bool,
    /// List every line of the message with this id, and show which one counts
    #[arg(long, value_name = "MESSAGE_ID", conflicts_with = "csv")]
    pub(crate) explain: Option<String>,
    /// Print comma-separated values
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
    #[command(flatten)]
    pub(crate) prices: PriceArgs,
}

/// Print one line for the status line of Claude Code
///
/// Claude Code runs the command in its `statusLine` setting after every message, passes session data on stdin, and shows
/// the output below the prompt. The line shows the model, the cost of the session with its subagents, of all sessions
/// today and of the 5-hour block, and the size of the context. As in `rethread usage`, each response is counted once. The
/// figures of this session are always current. Those of other sessions may be a minute old, because reading all files
/// takes too long for a status line. If the client reports when its 5-hour limit resets, that block is used. Unknown
/// figures are omitted. `≥` marks a lower bound, `~` an estimate. `statusline.format` in the configuration file selects
/// what the line shows, also the 7-day window and the prompt cache (docs/config.md).
#[derive(Debug, clap::Args)]
#[command(after_help = "In ~/.claude/settings.json:\n  \
    {\"statusLine\": {\"type\": \"command\", \"command\": \"rethread statusline\"}}\n\n\
    Examples:\n  \
    echo '{\"session_id\": \"…\", \"transcript_path\": \"….jsonl\"}' | rethread statusline\n  \
    echo '{}' | rethread statusline --json")]
pub(crate) struct Statusline {
    /// Print the output of another status line command first
    #[arg(long, value_name = "COMMAND")]
    pub(crate) after: Option<String>,
    #[command(flatten)]
    pub(crate) prices: PriceArgs,
}
