//! Plans that were made and put to the user.

use maud::{Markup, html};

use super::block::{Rows, folded, short, wrote};
use super::call_view::CallView;
use super::headline::CallHeadline;
use super::outcome::Outcome;
use super::render::Renderer;
use crate::html::text::prose;

/// A plan put to the user.
pub(super) const EXIT: Renderer =
    Renderer { kind: "plan", gist: exit_gist, input: exit_input, result: exit_result };

/// The beginning of planning.
pub(super) const ENTER: Renderer = Renderer {
    kind: "plan",
    gist: |_, gist| gist.say("begins to plan"),
    input: |matter| Rows::default().fields_but(&matter.input, &[]).draw(),
    result: |_, text| folded("what the client told the model", &wrote(text)),
};

/// Returns the plan: as it was asked, as the client noted it, or as it told the model.
fn plan<'m>(matter: &'m CallView<'_>) -> Option<&'m str> {
    matter.input_str("plan").or_else(|| matter.noted_words("plan")).or_else(|| {
        let text = matter.outcome().words()?;
        Some(text.split_once("## Approved Plan:\n")?.1)
    })
}

fn exit_gist(matter: &CallView<'_>, gist: &mut CallHeadline) {
    let title = plan(matter).unwrap_or_default().lines().find(|line| !line.trim().is_empty());
    gist.say(title.unwrap_or_default().trim_start_matches(['#', ' ']));
    if let Outcome::Fine(text) = matter.outcome()
        && text.contains("approved")
    {
        gist.good("approved");
    }
}

fn exit_input(matter: &CallView<'_>) -> Markup {
    let file = matter.noted_words("filePath").or_else(|| matter.input_str("planFilePath"));
    let mut rows = Rows::default();
    if let Some(file) = file {
        rows = rows.piece("file", matter.path(file));
    }
    html! {
        @match plan(matter) {
            Some(plan) => article class="plan" { (prose(plan)) },
            None => p class="quiet" { "the plan is not in the session" },
        }
        (rows.fields_but(&matter.input, &["plan", "planFilePath"]).draw())
    }
}

fn exit_result(_matter: &CallView<'_>, text: &str) -> Markup {
    let says = if text.contains("approved") { "approved by the user".into() } else { short(text, 200) };
    html! { p class="quiet" { (says) } }
}
