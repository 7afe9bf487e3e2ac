//! `ls --why`: why the client's list of sessions does not contain one.

use rethread_engine::ops::picker::{PickerReason, explain_picker};

use super::error::{CliError, Exit, print_hint};
use super::out::Out;
use super::style::{GOOD, MARK, NAME, QUIET, STRONG, paint};
use super::{AppContext, clean};
use crate::json;
use crate::text::command::quote_command;

/// Runs `rethread ls --why SESSION`: prints each reason. Returns [`Exit::Nothing`] if something hides the session.
pub(crate) fn run(name: &str, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let report = explain_picker(&app.find_session(name)?)?;
    let exit = if report.reasons.is_empty() { Exit::Done } else { Exit::Nothing };
    if out.is_json() {
        out.json(&json::build_picker(&report))?;
        return Ok(exit);
    }
    out.line(&paint(STRONG, &clean::line(&report.title)))?;
    out.line(&paint(NAME, &clean::line(&report.id)))?;
    let folder = report.folder.as_deref().map(|folder| app.format_path(folder));
    for reason in &report.reasons {
        print_wrapped("hidden: ", &describe_reason(reason, folder.as_deref().unwrap_or_default()), out)?;
    }
    if report.reasons.is_empty() {
        out.line(&paint(GOOD, "nothing hides it in the list of `claude --resume`"))?;
    }
    if let Some(folder) = folder.filter(|_| !report.reasons.contains(&PickerReason::FolderGone)) {
        let text = format!(
            "The list shows it if the client is started in {folder}. Elsewhere, Ctrl+A in the list shows all projects (2.0.65: A)."
        );
        for line in textwrap::wrap(&text, out.width().min(100)) {
            out.line(&paint(QUIET, &line))?;
        }
    }
    let id = clean::line(&report.id);
    match report.reasons.first() {
        Some(PickerReason::OnlyArchived) => {
            print_hint(&format!("{} brings it back", quote_command(&["restore", &id])), out);
        }
        Some(PickerReason::Headless { .. }) => {
            print_hint(
                &format!(
                    "it can be resumed by its id: {}",
                    clean::line(&app.resume_command(&id, report.folder.as_deref().unwrap_or_default()))
                ),
                out,
            );
        }
        _ => {}
    }
    Ok(exit)
}

fn print_wrapped(label: &str, text: &str, out: &mut Out) -> Result<(), CliError> {
    let lines = textwrap::wrap(text, out.width().min(100).saturating_sub(label.len()));
    for (idx, line) in lines.iter().enumerate() {
        let label = if idx == 0 { paint(MARK, label) } else { " ".repeat(label.len()) };
        out.line(&format!("{label}{line}"))?;
    }
    Ok(())
}

/// Explains a reason. `folder` is the folder of the session, for display.
fn describe_reason(reason: &PickerReason, folder: &str) -> String {
    match reason {
        PickerReason::OutsideProjects => {
            "the file is not directly in a project folder of the client (projects/FOLDER/ID.jsonl)".to_owned()
        }
        PickerReason::OnlyArchived => "the client deleted the file; only the archive has it".to_owned(),
        PickerReason::Subagent => "it is the transcript of a subagent; the client lists sessions only".to_owned(),
        PickerReason::NoMessages => {
            "the file has no messages; the client lists no empty files and none with titles only (1.0.98, 2.0.65)".to_owned()
        }
        PickerReason::Headless { entrypoints } => {
            let entrypoints: Vec<String> = entrypoints.iter().map(|name| clean::line(name)).collect();
            format!(
                "a program or `claude -p` ran it (entrypoint {}); 2.1.104, 2.1.221 and 2.1.325 list interactive sessions only, 2.0.65 \
                 and 2.1.42 list all",
                entrypoints.join(", ")
            )
        }
        PickerReason::FolderGone => format!(
            "its folder {folder} does not exist, so no client can be started there; Ctrl+A in the list shows the sessions of all projects"
        ),
    }
}
