//! Runs the command.

use rethread_engine::core::version::Version;
use rethread_engine::ops::{self, ExplainRequest, Reader, Verdict};

use super::super::args::{self, ReadingRule};
use super::super::out::Out;
use super::super::report::{Exit, Stop};
use super::super::{Place, wire};
use super::{all, one};

/// Runs the command.
pub(crate) fn run(args: &args::Explain, place: &Place, out: &mut Out) -> Result<Exit, Stop> {
    let reader = reader(args)?;
    let path = place.session(&args.session)?;
    let explained = ops::explain(&ExplainRequest { path, reader })?;
    if out.is_json() {
        for verdict in &explained.verdicts {
            out.json(&wire::resume(&explained, verdict))?;
        }
    } else {
        out.may_page();
        super::super::header(&explained.head, place, out)?;
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
fn reader(args: &args::Explain) -> Result<Reader, Stop> {
    match args.client.as_deref() {
        _ if args.rule == Some(ReadingRule::Seed) => Ok(Reader::Seed),
        None => Ok(Reader::Newest),
        Some("all") => Ok(Reader::All),
        Some(text) => {
            let version = Version::parse(text).map(Reader::Client);
            version.ok_or_else(|| Stop::BadClient(text.to_owned()))
        }
    }
}
