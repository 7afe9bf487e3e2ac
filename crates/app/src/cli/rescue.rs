//! `rethread rescue`: a copy of a session that fits the context again.

use rethread_engine::core::trim::EscalationStep;
use rethread_engine::ops::{self, Rescue, RescueRequest};

use super::error::{CliError, Exit};
use super::figures::{count, tokens};
use super::number::amount;
use super::out::Out;
use super::style::{PLAIN, QUIET, STRONG};
use super::table::{Align, Cell, Table};
use super::{AppContext, trimmed, write_report};
use crate::json;
use crate::text::operation;

/// Make a copy of a session that fits the context again
///
/// For a session that is too long to resume and too long to compact. More and more is left out of a copy, the least
/// missed first, and only until it fits: large old tool results, old pictures, old thinking, the rest of the old tool
/// results, old calls, then the oldest turns, for which a note stands that names their prompts. The last two turns are
/// left alone as long as possible; their prompts and answers stay. The original is not changed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread rescue last --fit 120k\n  \
    rethread rescue 3f2a --fit 150k --dry-run\n  \
    rethread rescue 3f2a --fit 60k --title 'garden, again'")]
pub(crate) struct Args {
    /// Which session
    pub(crate) session: String,
    /// How many tokens there is room for: 120k
    #[arg(long, value_name = "TOKENS", default_value = "120k")]
    pub(crate) fit: String,
    /// Rescue the branch with this entry: uuid, L118 (line) or t9 (turn)
    #[arg(long, value_name = "ENTRY")]
    pub(crate) branch: Option<String>,
    /// What to call it
    #[arg(long, value_name = "TITLE")]
    pub(crate) title: Option<String>,
    /// Show what would be left out, and make nothing
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,
}

/// Runs the command.
pub(crate) fn run(args: &Args, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let fit = amount(&args.fit)?;
    let request = RescueRequest {
        path: place.session_to_change(&args.session)?,
        branch: args.branch.clone(),
        fit,
        title: args.title.clone(),
        now: write_report::now(&place.clock),
        dry_run: args.dry_run,
    };
    let rescue = ops::rescue(&request, &place.pen)?;
    let Some(copy) = &rescue.copy else {
        if out.is_json() {
            return Ok(Exit::Nothing);
        }
        let (has, room) = (tokens(rescue.before), tokens(fit));
        out.note(&format!("it fits already: about {has} tokens, room for {room}"));
        return Ok(Exit::Nothing);
    };
    if out.is_json() {
        out.json(&json::rescue(&rescue.taken, fit, copy))?;
        return Ok(Exit::Done);
    }
    super::header(&copy.born.origin, place, out)?;
    steps(&rescue, fit).print(out)?;
    out.line("")?;
    trimmed::table(copy).print(out)?;
    trimmed::changes(copy, out)?;
    out.line("")?;
    super::fork::print(&copy.born, place, out)?;
    Ok(Exit::Done)
}

fn steps(rescue: &Rescue, fit: u64) -> Table {
    let mut table = Table::new(0)
        .column("step", Align::Left, 48)
        .column("how many", Align::Right, 10)
        .column("tokens", Align::Right, 10);
    let head = Cell::new(PLAIN, "as it is").and(QUIET, format!(" (room for {})", tokens(fit)));
    table.row(vec![head, Cell::default(), tokens(rescue.before).into()]);
    for EscalationStep { stage, count: taken, after, .. } in &rescue.taken {
        let fits = *after <= fit;
        let style = if fits { STRONG } else { PLAIN };
        table.row(vec![
            Cell::new(PLAIN, operation::stage(*stage)),
            count(*taken).into(),
            Cell::new(style, format!("{}{}", tokens(*after), if fits { " ✓" } else { "  " })),
        ]);
    }
    table
}
