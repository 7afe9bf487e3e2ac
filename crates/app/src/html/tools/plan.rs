//! Plan mode: plans presented to the user.

use maud::{Markup, html};

use super::block::{FieldList, render_collapsed, render_markdown, truncate_line};
use super::call_view::CallView;
use super::headline::CallHeadline;
use super::outcome::Outcome;
use super::render::Renderer;
use crate::html::text::render_prose;

/// Renders calls that present a plan to the user.
pub(super) const EXIT: Renderer = Renderer {
    kind: "plan",
    headline: fill_exit_headline,
    input: render_exit_input,
    result: render_exit_result,
};

/// Renders calls that enter plan mode.
pub(super) const ENTER: Renderer = Renderer {
    kind: "plan",
    headline: |_, headline| headline.push_text("enter plan mode"),
    input: |view| FieldList::default().fields_except(&view.input, &[]).render(),
    result: |_, text| render_collapsed("message of the client to the model", &render_markdown(text)),
};

/// Returns the plan: from the input, from `toolUseResult`, or from the text of the result. Returns `None` if none
/// contains it.
fn find_plan<'m>(view: &'m CallView<'_>) -> Option<&'m str> {
    view.input_str("plan").or_else(|| view.result_meta_str("plan")).or_else(|| {
        let text = view.outcome().text()?;
        Some(text.split_once("## Approved Plan:\n")?.1)
    })
}

fn fill_exit_headline(view: &CallView<'_>, headline: &mut CallHeadline) {
    let title = find_plan(view).unwrap_or_default().lines().find(|line| !line.trim().is_empty());
    headline.push_text(title.unwrap_or_default().trim_start_matches(['#', ' ']));
    if let Outcome::Succeeded(text) = view.outcome()
        && text.contains("approved")
    {
        headline.push_success("approved");
    }
}

/// Renders the plan, its file, and the other fields of the input.
fn render_exit_input(view: &CallView<'_>) -> Markup {
    let file = view.result_meta_str("filePath").or_else(|| view.input_str("planFilePath"));
    let mut fields = FieldList::default();
    if let Some(file) = file {
        fields = fields.markup("file", view.render_path(file));
    }
    html! {
        @match find_plan(view) {
            Some(plan) => article class="plan" { (render_prose(plan)) },
            None => p class="muted" { "the plan is not in the session" },
        }
        (fields.fields_except(&view.input, &["plan", "planFilePath"]).render())
    }
}

fn render_exit_result(_view: &CallView<'_>, text: &str) -> Markup {
    let status =
        if text.contains("approved") { "approved by the user".into() } else { truncate_line(text, 200) };
    html! { p class="muted" { (status) } }
}
