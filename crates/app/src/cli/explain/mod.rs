//! `rethread explain`: shows the entries that Claude Code will load.

mod all;
mod labels;
mod one;
mod strip;
mod unreachable;

use rethread_engine::core::version::Version;
use rethread_engine::ops;
use rethread_engine::ops::explain::{ClientSelector, ClientVerdict, ExplainRequest};

use super::AppContext;
use super::args::{self, ReadingRule};
use super::error::{CliError, Exit};
use super::out::Out;
use super::prices::load_price_table;
use crate::json;

/// Runs `rethread explain`: prints which entries one client, or each measured client, loads.
///
/// Returns [`Exit::Nothing`] if any of them would lose an entry.
pub(crate) fn run(args: &args::Explain, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let client = select_client(args)?;
    let path = app.find_session(&args.session)?;
    let explanation = ops::explain::explain_resume(&ExplainRequest { path, client })?;
    let prices = load_price_table(None, app, out)?;
    if out.is_json() {
        for verdict in &explanation.verdicts {
            let cost = explanation.estimate_return_cost(verdict, &prices);
            out.json(&json::build_resume(&explanation, verdict, cost))?;
        }
    } else {
        out.allow_pager();
        super::print_header(&explanation.header, app, out)?;
        match &explanation.verdicts[..] {
            [verdict] => {
                let cost = explanation.estimate_return_cost(verdict, &prices);
                one::print(&explanation, verdict, cost, &args.session, app, out)?;
            }
            _ => all::print(&explanation, &args.session, out)?,
        }
    }
    // Exit code 1 if any of the clients would lose an entry.
    let is_loss = explanation.verdicts.iter().any(ClientVerdict::is_loss);
    Ok(if is_loss { Exit::Nothing } else { Exit::Done })
}

/// Returns the client to simulate. Returns an error if the version cannot be parsed.
fn select_client(args: &args::Explain) -> Result<ClientSelector, CliError> {
    match args.client.as_deref() {
        _ if args.rule == Some(ReadingRule::Seed) => Ok(ClientSelector::LastSummary),
        None => Ok(ClientSelector::Newest),
        Some("all") => Ok(ClientSelector::All),
        Some(text) => {
            let version = Version::parse(text).map(ClientSelector::Client);
            version.ok_or_else(|| CliError::BadClient(text.to_owned()))
        }
    }
}
