//! `rethread doctor`: finds problems, their consequences and fixes.

mod session;
mod store;

use rethread_engine::core::check::Severity;
use rethread_engine::ops;
use rethread_engine::ops::archive::ArchiveLocation;
use rethread_engine::ops::doctor::DoctorRequest;
use rethread_engine::ops::secrets::SecretReport;

use super::error::{self, CliError, Exit};
use super::facts::{print_command, print_fact};
use super::out::Out;
use super::style::MARK;
use super::{AppContext, archive, args, env};
use crate::json;
use crate::text::command::build_command;
use crate::text::diagnostic;
use crate::text::secrets::count_secrets;

/// Runs `rethread doctor`: prints the findings of one session, or of the whole store.
pub(crate) fn run(args: &args::Doctor, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    match &args.session {
        Some(session) => check_session(session, app, out),
        None => check_store(args, app, out),
    }
}

/// Checks the session with this name and prints its findings. The exit depends on the worst severity.
fn check_session(name: &str, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let path = app.find_session(name)?;
    let report = ops::doctor::check_session(&path)?;
    let secrets = ops::secrets::find_session_secrets(&path);
    if out.is_json() {
        for finding in &report.findings {
            let texts = (
                diagnostic::describe_finding(finding, &report),
                diagnostic::fix_hint(finding, &report.header.id),
            );
            out.json(&json::build_finding(&report, finding, texts))?;
        }
        out.json(&json::build_doctor_session(&report, secrets.secret_count()))?;
    } else {
        out.allow_pager();
        super::print_header(&report.header, app, out)?;
        session::print(&report, name, out)?;
        print_secrets(&secrets, &["secrets", name], out)?;
    }
    Ok(select_exit(report.worst_severity()))
}

/// Checks all sessions and the store itself. Returns [`Exit::Failed`] if a file could not be read.
fn check_store(args: &args::Doctor, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let request = DoctorRequest {
        include_harmless: args.everything,
        now: app.clock.now().into(),
        archive: app.archive_dir.clone().map(ArchiveLocation::for_reading),
        excluded: archive::list_excluded(app),
        managed_settings: Some(env::managed_settings()),
    };
    let store_report = ops::doctor::check_store(&app.roots, &request);
    error::print_warnings(&store_report.failures, out);
    let secrets = ops::secrets::find_store_secrets(&app.roots, app.cache.as_ref());
    if out.is_json() {
        for report in &store_report.sessions {
            for finding in &report.findings {
                let texts = (
                    diagnostic::describe_finding(finding, report),
                    diagnostic::fix_hint(finding, &report.header.id),
                );
                out.json(&json::build_finding(report, finding, texts))?;
            }
        }
        for finding in &store_report.store_findings {
            out.json(&json::build_store_finding(
                finding,
                diagnostic::describe_store_finding(finding),
                diagnostic::store_fix_hint(finding),
            ))?;
        }
        out.json(&json::build_doctor_store(&store_report, secrets.secret_count()))?;
    } else if store_report.session_count == 0 && store_report.store_findings.is_empty() {
        super::print_no_sessions(app, out);
    } else {
        out.allow_pager();
        store::print(&store_report, app, out)?;
        print_secrets(&secrets, &["secrets"], out)?;
    }
    Ok(if store_report.failures.is_empty() {
        select_exit(store_report.worst_severity())
    } else {
        Exit::Failed
    })
}

/// Prints how many secrets there are, and the command that lists their places. Prints nothing if there are none.
fn print_secrets(secrets: &SecretReport, command: &[&str], out: &mut Out) -> Result<(), CliError> {
    let Some(counted) = count_secrets(secrets) else { return Ok(()) };
    out.line("")?;
    print_fact("secrets", &vec![(MARK, counted)], out)?;
    print_command("see", &build_command(command), out)
}

/// Returns [`Exit::Nothing`] (exit code 1) if there are warnings or errors, otherwise [`Exit::Done`].
fn select_exit(worst: Option<Severity>) -> Exit {
    if worst > Some(Severity::Info) { Exit::Nothing } else { Exit::Done }
}
