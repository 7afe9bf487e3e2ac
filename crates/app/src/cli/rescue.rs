//! `rethread rescue`: makes a copy of a session that fits the context window again.

use rethread_engine::core::trim::EscalationStep;
use rethread_engine::ops;
use rethread_engine::ops::rescue::{RescueOutcome, RescueRequest};

use super::error::{CliError, Exit};
use super::figures::{format_tokens, group_digits};
use super::number::parse_amount;
use super::out::Out;
use super::style::{PLAIN, QUIET, STRONG};
use super::table::{Align, Cell, Table};
use super::{AppContext, trimmed, write_report};
use crate::json;
use crate::text::operation;

/// Make a copy of a session that fits the context window again
///
/// For a session that is too long to resume or to compact. The copy omits more and more content until it fits, least
/// valuable first: large old tool results, old images, old thinking, the other old tool results, old calls, then the oldest
/// turns, which are replaced by a note that quotes their prompts. The last two turns are changed last, and their prompts
/// and answers are always kept. The original is not changed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread rescue last --fit 120k\n  \
    rethread rescue 3f2a --fit 150k --dry-run\n  \
    rethread rescue 3f2a --fit 60k --title 'garden, again'")]
pub(crate) struct Args {
    /// Session to copy
    pub(crate) session: String,
    /// Maximum size of the copy, in tokens: 120k
    #[arg(long, value_name = "TOKENS", default_value = "120k")]
    pub(crate) fit: String,
    /// Copy the branch with this entry: uuid, L118 (line) or t9 (turn)
    #[arg(long, value_name = "ENTRY")]
    pub(crate) branch: Option<String>,
    /// Title of the copy
    #[arg(long, value_name = "TITLE")]
    pub(crate) title: Option<String>,
    /// Show what would be omitted, and create nothing
    #[arg(short = 'd', long)]
    pub(crate) dry_run: bool,
}

/// Runs `rethread rescue`: creates a copy of at most `--fit` tokens, and prints the steps that shortened it.
///
/// Returns [`Exit::Nothing`] if the session fits already.
pub(crate) fn run(args: &Args, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let max_tokens = parse_amount(&args.fit)?;
    let request = RescueRequest {
        path: app.find_session_to_copy(&args.session)?,
        branch: args.branch.clone(),
        max_tokens,
        title: args.title.clone(),
        now: write_report::now(&app.clock),
        dry_run: args.dry_run,
    };
    let outcome = ops::rescue::rescue(&request, &app.writer)?;
    let Some(copy) = &outcome.copy else {
        if out.is_json() {
            return Ok(Exit::Nothing);
        }
        let (size, limit) = (format_tokens(outcome.tokens_before), format_tokens(max_tokens));
        out.note(&format!("the session fits already: about {size} of {limit} tokens"));
        return Ok(Exit::Nothing);
    };
    if out.is_json() {
        out.json(&json::build_rescue(&outcome.steps, max_tokens, copy))?;
        return Ok(Exit::Done);
    }
    super::print_header(&copy.session.origin, app, out)?;
    build_steps_table(&outcome, max_tokens).print(out)?;
    out.line("")?;
    trimmed::build_table(copy).print(out)?;
    trimmed::print_changes(copy, out)?;
    out.line("")?;
    super::fork::print_new_session(&copy.session, app, out)?;
    Ok(Exit::Done)
}

/// Builds a table of the steps with the tokens after each. Steps within `max_tokens` are marked.
fn build_steps_table(outcome: &RescueOutcome, max_tokens: u64) -> Table {
    let mut table = Table::new(0).column("step", Align::Left, 48).column("count", Align::Right, 10).column(
        "tokens",
        Align::Right,
        10,
    );
    let label = Cell::new(PLAIN, "original").and(QUIET, format!(" (limit {})", format_tokens(max_tokens)));
    table.row(vec![label, Cell::default(), format_tokens(outcome.tokens_before).into()]);
    for EscalationStep { stage, count, after, .. } in &outcome.steps {
        let fits = *after <= max_tokens;
        let style = if fits { STRONG } else { PLAIN };
        table.row(vec![
            Cell::new(PLAIN, operation::stage_text(*stage)),
            group_digits(*count).into(),
            Cell::new(style, format!("{}{}", format_tokens(*after), if fits { " ✓" } else { "  " })),
        ]);
    }
    table
}
