//! `rethread explain`: what Claude Code will load.

mod all;
mod labels;
mod one;
mod strip;
mod unreachable;

use rethread_engine::core::version::Version;
use rethread_engine::ops::{self, ClientSelector, ExplainRequest, Verdict};

use super::AppContext;
use super::args::{self, ReadingRule};
use super::error::{CliError, Exit};
use super::out::Out;
use crate::json;

/// Runs the command.
pub(crate) fn run(args: &args::Explain, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let reader = reader(args)?;
    let path = place.session(&args.session)?;
    let explained = ops::explain(&ExplainRequest { path, reader })?;
    if out.is_json() {
        for verdict in &explained.verdicts {
            out.json(&json::resume(&explained, verdict))?;
        }
    } else {
        out.may_page();
        super::header(&explained.head, place, out)?;
        match &explained.verdicts[..] {
            [verdict] => one::print(&explained, verdict, &args.session, place, out)?,
            _ => all::print(&explained, &args.session, out)?,
        }
    }
    // Something is lost where any of the clients leaves something out of reach.
    let lost = explained.verdicts.iter().any(Verdict::is_loss);
    Ok(if lost { Exit::Nothing } else { Exit::Done })
}

/// Reads who resumes.
fn reader(args: &args::Explain) -> Result<ClientSelector, CliError> {
    match args.client.as_deref() {
        _ if args.rule == Some(ReadingRule::Seed) => Ok(ClientSelector::Seed),
        None => Ok(ClientSelector::Newest),
        Some("all") => Ok(ClientSelector::All),
        Some(text) => {
            let version = Version::parse(text).map(ClientSelector::Client);
            version.ok_or_else(|| CliError::BadClient(text.to_owned()))
        }
    }
}
