//! Agent teams and messages between agents.

use maud::{Markup, html};
use serde_json::Value;

use super::block::{FieldList, render_auto, render_markdown, truncate_line};
use super::call_view::{CallView, str_field};
use super::headline::CallHeadline;
use super::render::Renderer;

/// Renders messages to another agent.
pub(super) const MESSAGE: Renderer = Renderer {
    kind: "agent",
    headline: fill_message_headline,
    input: render_message_input,
    result: render_answer,
};

/// Renders calls that create or delete a team.
pub(super) const TEAM: Renderer =
    Renderer { kind: "agent", headline: fill_team_headline, input: render_team_input, result: render_answer };

/// The input fields that contain the message.
const MESSAGE_FIELDS: [&str; 2] = ["message", "content"];

/// Returns the recipient of the message. Returns `None` if it is unknown.
fn target<'m>(view: &'m CallView<'_>) -> Option<&'m str> {
    view.first_input_str(&["to", "recipient"]).or_else(|| view.result_meta_str("target"))
}

fn fill_message_headline(view: &CallView<'_>, headline: &mut CallHeadline) {
    if let Some(target) = target(view) {
        headline.push_muted(&format!("to {}", truncate_line(target, 60)));
    }
    match view.input_str("summary").or_else(|| view.first_input_str(&MESSAGE_FIELDS)) {
        Some(message) => headline.push_text(message),
        None => headline.push_muted(view.input_str("type").unwrap_or_default()),
    }
}

/// Renders the recipient, the other fields of the input, and the message.
fn render_message_input(view: &CallView<'_>) -> Markup {
    let fields = FieldList::default()
        .text("to", target(view))
        .fields_except(&view.input, &["to", "recipient", "content", "message"]);
    html! {
        (fields.render())
        @match view.first_input_str(&MESSAGE_FIELDS) {
            Some(message) => (render_markdown(message)),
            None => @if let Some(message) = view.input.get("message") { (FieldList::default().value("message", message).render()) },
        }
    }
}

fn fill_team_headline(view: &CallView<'_>, headline: &mut CallHeadline) {
    if let Some(name) = view.input_str("team_name").or_else(|| view.result_meta_str("team_name")) {
        headline.push_text(name);
    }
    if let Some(description) = view.input_str("description") {
        headline.push_muted(description);
    }
}

fn render_team_input(view: &CallView<'_>) -> Markup {
    FieldList::default().fields_except(&view.input, &[]).render()
}

/// Renders the client's message about the call. If there is none, renders the whole result.
fn render_answer(view: &CallView<'_>, text: &str) -> Markup {
    let parsed: Value = serde_json::from_str(text).unwrap_or_default();
    match view.result_meta_str("message").or_else(|| str_field(&parsed, "message")) {
        Some(message) => html! { p class="muted" { (truncate_line(message, 400)) } },
        None if parsed.is_object() => FieldList::default().fields_except(&parsed, &[]).render(),
        None => render_auto(text),
    }
}
