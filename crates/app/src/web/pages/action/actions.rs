//! One function per action: reads the fields, calls an operation, and renders its outcome.

use maud::{Markup, html};
use rethread_engine::Error;
use rethread_engine::ops;
use rethread_engine::ops::EntrySelector;
use rethread_engine::ops::explain::{ClientSelector, ExplainRequest};
use rethread_engine::ops::fork::ForkRequest;
use rethread_engine::ops::goto::GotoRequest;
use rethread_engine::ops::rename::RenameRequest;
use rethread_engine::ops::repair::{RepairRequest, RepairTarget};

use super::request::{ActionRequest, ActionStage};
use crate::html::action;
use crate::text::shell::quote;

/// Makes clients resume the session from another entry, or renders the preview of that.
pub(super) fn goto(action_request: &ActionRequest<'_>) -> Result<Markup, Error> {
    let (at, before) = read_selected_entry(action_request);
    let request = GotoRequest {
        path: action_request.target.path.clone(),
        at: EntrySelector { name: at.clone(), before, exact: true },
        now: action_request.now(),
        dry_run: action_request.is_dry_run(),
        even_if_live: false,
    };
    let loaded_now = if action_request.is_dry_run() { count_loaded(action_request)? } else { None };
    let outcome = ops::goto::goto(&request, &action_request.server.context.writer)?;
    let mut summary = action::summarize_goto(
        &outcome,
        loaded_now,
        &action_request.target.path,
        &action_request.server.context,
    );
    action_request.warn_if_live(&mut summary);
    let command = action_request.command("goto", &build_entry_args(&at, before));
    let form = action_request.form(build_entry_fields(&at, before), &command);
    let alternative = action_request.form(build_entry_fields(&at, !before), "");
    let rendered = action_request.render_summary(summary, &form, &html! {}, None);
    let label = if before { "Go to it instead" } else { "Go to just before it instead" };
    Ok(html! {
        (rendered)
        @if action_request.is_dry_run() { (action::render_alternative(&alternative, label)) }
    })
}

/// Creates a new session from the path to an entry, or from the active path, or renders the preview of that.
pub(super) fn fork(action_request: &ActionRequest<'_>) -> Result<Markup, Error> {
    let (at, before) = read_selected_entry(action_request);
    let title = action_request.fields.text("title");
    let request = ForkRequest {
        path: action_request.target.path.clone(),
        at: (!at.is_empty()).then(|| EntrySelector { name: at.clone(), before, exact: true }),
        title: title.clone(),
        now: action_request.now(),
        dry_run: action_request.is_dry_run(),
    };
    let session = ops::fork::fork(&request, &action_request.server.context.writer)?;
    let mut args = if at.is_empty() { Vec::new() } else { build_entry_args(&at, before) };
    args.extend(build_title_args(title.as_deref()));
    let form = action_request.form(build_entry_fields(&at, before), &action_request.command("fork", &args));
    let inputs = action::render_fork_inputs(title.as_deref().unwrap_or_default());
    Ok(action_request.render_summary(
        action::summarize_fork(&session, &action_request.server.context),
        &form,
        &inputs,
        Some(&session),
    ))
}

/// Sets the title of the session. Renders the form or the preview in the earlier stages.
pub(super) fn rename(action_request: &ActionRequest<'_>) -> Result<Markup, Error> {
    if action_request.stage == ActionStage::Input {
        let inputs = action::render_rename_inputs(&action_request.target.title);
        return Ok(action::render_form("Rename", &action_request.form(Vec::new(), ""), &inputs));
    }
    let title = action_request.fields.get("title").to_owned();
    let request = RenameRequest {
        path: action_request.target.path.clone(),
        title: title.clone(),
        even_if_live: false,
        dry_run: action_request.is_dry_run(),
    };
    let outcome = ops::rename::rename(&action_request.server.context.writer, &request)?;
    let mut summary = action::summarize_rename(&outcome, &action_request.server.context);
    action_request.warn_if_live(&mut summary);
    let command = action_request.command("rename", &[quote(&title)]);
    Ok(action_request.render_summary(
        summary,
        &action_request.form(vec![("title", title)], &command),
        &html! {},
        None,
    ))
}

/// Creates a repaired copy of the session, or renders the preview of that.
pub(super) fn repair(action_request: &ActionRequest<'_>) -> Result<Markup, Error> {
    let request = RepairRequest {
        path: action_request.target.path.clone(),
        in_place: false,
        drop_unpaired: false,
        extract: None,
        leaf: None,
        now: action_request.now(),
        dry_run: action_request.is_dry_run(),
        even_if_live: false,
    };
    let outcome = ops::repair::repair(&request, &action_request.server.context.writer)?;
    let session = match &outcome.target {
        Some(RepairTarget::New(session)) => Some(&**session),
        Some(RepairTarget::InPlace { .. }) | None => None,
    };
    let summary = action::summarize_repair(&outcome, &action_request.server.context);
    let form = action_request.form(Vec::new(), &action_request.command("repair", &[]));
    Ok(action_request.render_summary(summary, &form, &html! {}, session))
}

/// Returns the name of the selected entry, and `true` if the entry before it is meant.
fn read_selected_entry(action_request: &ActionRequest<'_>) -> (String, bool) {
    (action_request.fields.get("at").to_owned(), action_request.fields.text("before").is_some())
}

/// Returns the hidden form fields that select an entry, or the one before it.
fn build_entry_fields(at: &str, before: bool) -> Vec<(&'static str, String)> {
    let mut fields = vec![("at", at.to_owned())];
    if before {
        fields.push(("before", "1".to_owned()));
    }
    fields
}

/// Returns the shell arguments that select an entry, or the one before it.
fn build_entry_args(at: &str, before: bool) -> Vec<String> {
    let mut args = vec![quote(at)];
    if before {
        args.push("--before".to_owned());
    }
    args
}

/// Returns the shell arguments that set a title. Returns none if there is no title.
pub(super) fn build_title_args(title: Option<&str>) -> Vec<String> {
    title.map(|title| vec!["--title".to_owned(), quote(title)]).unwrap_or_default()
}

/// Returns the number of entries and of tokens that the newest client loads now. Returns `None` if there is no
/// verdict for it.
fn count_loaded(action_request: &ActionRequest<'_>) -> Result<Option<(usize, u64)>, Error> {
    let request = ExplainRequest { path: action_request.target.path.clone(), client: ClientSelector::Newest };
    let explanation = ops::explain::explain_resume(&request)?;
    Ok(explanation.verdicts.first().map(|verdict| (verdict.resume.path.len(), verdict.tokens)))
}
