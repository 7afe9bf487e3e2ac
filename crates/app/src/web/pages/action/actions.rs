//! One function per action: fields in, an op called, its outcome drawn.

use maud::{Markup, html};
use rethread_engine::Error;
use rethread_engine::ops::{
    self, ClientSelector, EntrySelector, ExplainRequest, ForkRequest, GotoRequest, RenameRequest,
    RepairRequest, Written,
};

use super::request::{ActionRequest, ActionStage};
use crate::html::action;
use crate::text::clean;
use crate::text::shell::typed;

/// Moves the point from which the next resume goes on.
pub(super) fn goto(case: &ActionRequest<'_>) -> Result<Markup, Error> {
    let (at, before) = place(case);
    let request = GotoRequest {
        path: case.target.path.clone(),
        at: EntrySelector { name: at.clone(), before, exact: true },
        now: case.now(),
        dry_run: case.is_dry(),
        even_if_live: false,
    };
    let now = if case.is_dry() { loaded(case)? } else { None };
    let moved = ops::goto(&request, &case.server.place.pen)?;
    let mut sheet = action::moved(&moved, now, &case.target.path, &case.server.place);
    case.warn_if_live(&mut sheet);
    let form = case.form(fields(&at, before), &case.command("goto", &rest(&at, before)));
    let other = case.form(fields(&at, !before), "");
    let drawn = case.told(sheet, &form, &html! {}, None);
    Ok(
        html! { (drawn) @if case.is_dry() { (action::instead(&other, if before { "Go to it instead" } else { "Go to just before it instead" })) } },
    )
}

/// Makes a new session of the path to a point.
pub(super) fn fork(case: &ActionRequest<'_>) -> Result<Markup, Error> {
    let (at, before) = place(case);
    let title = case.fields.words("title");
    let request = ForkRequest {
        path: case.target.path.clone(),
        at: (!at.is_empty()).then(|| EntrySelector { name: at.clone(), before, exact: true }),
        title: title.clone(),
        now: case.now(),
        dry_run: case.is_dry(),
    };
    let born = ops::fork(&request, &case.server.place.pen)?;
    let mut typed_rest = if at.is_empty() { Vec::new() } else { rest(&at, before) };
    typed_rest.extend(title_option(title.as_deref()));
    let form = case.form(fields(&at, before), &case.command("fork", &typed_rest));
    let ask = action::fork(title.as_deref().unwrap_or_default());
    Ok(case.told(action::fork_summary(&born, &case.server.place), &form, &ask, Some(&born)))
}

/// Gives the session a title.
pub(super) fn rename(case: &ActionRequest<'_>) -> Result<Markup, Error> {
    if case.go == ActionStage::Ask {
        let ask = action::rename(&clean::line(&case.target.title));
        return Ok(action::form("Give it a title", &case.form(Vec::new(), ""), &ask));
    }
    let title = case.fields.get("title").to_owned();
    let request = RenameRequest {
        path: case.target.path.clone(),
        title: title.clone(),
        even_if_live: false,
        dry_run: case.is_dry(),
    };
    let renamed = ops::rename(&case.server.place.pen, &request)?;
    let mut sheet = action::renamed(&renamed, &case.server.place);
    case.warn_if_live(&mut sheet);
    let command = case.command("rename", &[typed(&title)]);
    Ok(case.told(sheet, &case.form(vec![("title", title)], &command), &html! {}, None))
}

/// Mends the session in a new one.
pub(super) fn repair(case: &ActionRequest<'_>) -> Result<Markup, Error> {
    let request = RepairRequest {
        path: case.target.path.clone(),
        in_place: false,
        drop_unpaired: false,
        extract: None,
        leaf: None,
        now: case.now(),
        dry_run: case.is_dry(),
        even_if_live: false,
    };
    let repair = ops::repair(&request, &case.server.place.pen)?;
    let born = match &repair.written {
        Some(Written::New(born)) => Some(&**born),
        Some(Written::InPlace { .. }) | None => None,
    };
    let sheet = action::mended(&repair, &case.server.place);
    let form = case.form(Vec::new(), &case.command("repair", &[]));
    Ok(case.told(sheet, &form, &html! {}, born))
}

/// Reads which entry is meant.
fn place(case: &ActionRequest<'_>) -> (String, bool) {
    (case.fields.get("at").to_owned(), case.fields.words("before").is_some())
}

fn fields(at: &str, before: bool) -> Vec<(&'static str, String)> {
    let mut fields = vec![("at", at.to_owned())];
    if before {
        fields.push(("before", "1".to_owned()));
    }
    fields
}

fn rest(at: &str, before: bool) -> Vec<String> {
    let mut rest = vec![typed(at)];
    if before {
        rest.push("--before".to_owned());
    }
    rest
}

/// Writes a title as it is typed.
pub(super) fn title_option(title: Option<&str>) -> Vec<String> {
    title.map(|title| vec!["--title".to_owned(), typed(title)]).unwrap_or_default()
}

/// Counts what the client loads now: entries and tokens.
fn loaded(case: &ActionRequest<'_>) -> Result<Option<(usize, u64)>, Error> {
    let request = ExplainRequest { path: case.target.path.clone(), reader: ClientSelector::Newest };
    let explained = ops::explain(&request)?;
    Ok(explained.verdicts.first().map(|verdict| (verdict.resume.path.len(), verdict.tokens)))
}
