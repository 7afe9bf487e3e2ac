//! The arguments of commands that account for tokens and money.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use rethread_engine::ops::GroupBy;

use super::pricing::PriceArgs;

/// Offers every way of grouping by its name.
fn groupings() -> impl TypedValueParser<Value = GroupBy> {
    let named = |name: String| GroupBy::ALL.into_iter().find(|by| by.name() == name).unwrap_or(GroupBy::Day);
    PossibleValuesParser::new(GroupBy::ALL.map(GroupBy::name)).map(named)
}

/// Add up tokens and money, each response once
///
/// One response stands on several lines, and forks, resumes and subagents repeat lines: rethread counts each response once
/// over all files, by message and request, and takes the line with the most output. It is booked to the session, the day
/// and the project in which it appeared first. Whatever it is grouped by, the rows add up to the total; --check proves it.
/// A `≥` stands before amounts of which only a lower bound is known: the client had not heard the end of a response when it
/// wrote it, or a model has no price.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread usage --since 7d\n  \
    rethread usage --by month\n  \
    rethread usage --by project --since 2026-01-01 --csv > spent.csv\n  \
    rethread usage last --by reach\n  \
    rethread usage --check")]
pub(crate) struct Usage {
    /// Only this session, its subagents included: id, beginning of an id, words of its title, path, or `last`
    pub(crate) session: Option<String>,
    /// day, week, month, project, session, model, tool, agent, branch (git), block (5 hours) or reach
    #[arg(short, long, value_name = "WHAT", default_value = "day", hide_possible_values = true)]
    #[arg(value_parser = groupings())]
    pub(crate) by: GroupBy,
    /// Only what was spent since: 7d, 12h, 2w, yesterday, 2026-01-31
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<String>,
    /// Only what was spent before
    #[arg(long, value_name = "WHEN")]
    pub(crate) until: Option<String>,
    /// Let days begin where this time zone says: Europe/Berlin, UTC, +02:00
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true)]
    pub(crate) tz: Option<String>,
    /// Only projects with this in their path
    #[arg(long, value_name = "TEXT")]
    pub(crate) project: Option<String>,
    /// Only models with this in their name
    #[arg(long, value_name = "TEXT")]
    pub(crate) model: Option<String>,
    /// Show at most so many rows, and the others in one
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Also say what abandoned branches cost, and what stands before compactions
    #[arg(long)]
    pub(crate) reach: bool,
    /// Prove that all groups add up to the total, and compare with the client's own accounts
    #[arg(long, conflicts_with_all = ["explain", "csv"])]
    pub(crate) check: bool,
    /// List every line of the message with this id, and say which one counts
    #[arg(long, value_name = "MESSAGE_ID", conflicts_with = "csv")]
    pub(crate) explain: Option<String>,
    /// Print comma-separated values
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
    #[command(flatten)]
    pub(crate) prices: PriceArgs,
}

/// Print one line about the running session for Claude Code's status line
///
/// Claude Code runs the command of its setting `statusLine` after every message, tells it on stdin about the session, and
/// shows what it prints below the prompt: model, cost of the session with its subagents, of all sessions today and of the
/// block of five hours, and how full the context is. Costs follow the same rule as `rethread usage`: each response once. The
/// session itself is always up to date; what other sessions spent may be a minute old, because to look at all files takes
/// longer than a status line should. Where the client tells when its five-hour limit starts anew, the block is that one. What
/// is not known is left out; `≥` marks a lower bound, `~` an estimate.
#[derive(Debug, clap::Args)]
#[command(after_help = "In ~/.claude/settings.json:\n  \
    {\"statusLine\": {\"type\": \"command\", \"command\": \"rethread statusline\"}}\n\n\
    Examples:\n  \
    echo '{\"session_id\": \"…\", \"transcript_path\": \"….jsonl\"}' | rethread statusline\n  \
    echo '{}' | rethread statusline --json")]
pub(crate) struct Statusline {
    #[command(flatten)]
    pub(crate) prices: PriceArgs,
}
