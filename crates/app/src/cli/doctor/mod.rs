//! `rethread doctor`: what is wrong, what it costs, what mends it.

mod session;
mod store;

use rethread_engine::core::check::Severity;
use rethread_engine::ops::{self, DoctorRequest};

use super::error::{self, CliError, Exit};
use super::out::Out;
use super::{AppContext, args};
use crate::json;
use crate::text::diagnostic;

/// Runs the command.
pub(crate) fn run(args: &args::Doctor, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    match &args.session {
        Some(session) => session_run(session, place, out),
        None => store_run(args, place, out),
    }
}

fn session_run(name: &str, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let path = place.session(name)?;
    let diagnosis = ops::diagnose(&path)?;
    if out.is_json() {
        for finding in &diagnosis.findings {
            let words =
                (diagnostic::cost(finding, &diagnosis), diagnostic::mend(finding, &diagnosis.head.id));
            out.json(&json::finding(&diagnosis, finding, words))?;
        }
        out.json(&json::one_session(&diagnosis))?;
    } else {
        out.may_page();
        super::header(&diagnosis.head, place, out)?;
        session::print(&diagnosis, name, out)?;
    }
    Ok(exit(diagnosis.worst()))
}

fn store_run(args: &args::Doctor, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let now = place.clock.now().into();
    let round = ops::doctor(&place.roots, &DoctorRequest { everything: args.everything, now });
    error::warn(&round.failures, out);
    if out.is_json() {
        for diagnosis in &round.sessions {
            for finding in &diagnosis.findings {
                let words =
                    (diagnostic::cost(finding, diagnosis), diagnostic::mend(finding, &diagnosis.head.id));
                out.json(&json::finding(diagnosis, finding, words))?;
            }
        }
        for finding in &round.store {
            out.json(&json::store_finding(
                finding,
                diagnostic::store_cost(finding),
                diagnostic::store_mend(finding),
            ))?;
        }
        out.json(&json::whole_store(&round))?;
    } else if round.examined == 0 && round.store.is_empty() {
        super::say_nothing_found(place, out);
    } else {
        out.may_page();
        store::print(&round, place, out)?;
    }
    Ok(if round.failures.is_empty() { exit(round.worst()) } else { Exit::Failed })
}

/// Harmless findings alone are clean.
fn exit(worst: Option<Severity>) -> Exit {
    if worst > Some(Severity::Harmless) { Exit::Nothing } else { Exit::Done }
}
