//! Runs the command.

use rethread_engine::core::health::Severity;
use rethread_engine::ops::{self, DoctorRequest};

use super::super::out::Out;
use super::super::report::{self, CliError, Exit};
use super::super::{AppContext, args, wire};
use super::{one, store, words};

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
            let words = (words::cost(finding, &diagnosis), words::mend(finding, &diagnosis.head.id));
            out.json(&wire::finding(&diagnosis, finding, words))?;
        }
        out.json(&wire::one_session(&diagnosis))?;
    } else {
        out.may_page();
        super::super::header(&diagnosis.head, place, out)?;
        one::print(&diagnosis, name, out)?;
    }
    Ok(exit(diagnosis.worst()))
}

fn store_run(args: &args::Doctor, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let now = place.clock.now().into();
    let round = ops::doctor(&place.roots, &DoctorRequest { everything: args.everything, now });
    report::warn(&round.failures, out);
    if out.is_json() {
        for diagnosis in &round.sessions {
            for finding in &diagnosis.findings {
                let words = (words::cost(finding, diagnosis), words::mend(finding, &diagnosis.head.id));
                out.json(&wire::finding(diagnosis, finding, words))?;
            }
        }
        for finding in &round.store {
            out.json(&wire::store_finding(finding, words::store_cost(finding), words::store_mend(finding)))?;
        }
        out.json(&wire::whole_store(&round))?;
    } else if round.examined == 0 && round.store.is_empty() {
        super::super::say_nothing_found(place, out);
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
