//! Messages between agents, and their teams.

use maud::{Markup, html};
use serde_json::Value;

use super::block::{Rows, short, told, wrote};
use super::call_view::{CallView, words};
use super::headline::CallHeadline;
use super::render::Renderer;

/// A message to another agent.
pub(super) const MESSAGE: Renderer =
    Renderer { kind: "agent", gist: message_gist, input: message_input, result: answer };

/// A team made or dissolved.
pub(super) const TEAM: Renderer =
    Renderer { kind: "agent", gist: team_gist, input: team_input, result: answer };

const WORDS: [&str; 2] = ["message", "content"];

fn target<'m>(matter: &'m CallView<'_>) -> Option<&'m str> {
    matter.asked_any(&["to", "recipient"]).or_else(|| matter.noted_words("target"))
}

fn message_gist(matter: &CallView<'_>, gist: &mut CallHeadline) {
    if let Some(target) = target(matter) {
        gist.aside(&format!("to {}", short(target, 60)));
    }
    match matter.input_str("summary").or_else(|| matter.asked_any(&WORDS)) {
        Some(words) => gist.say(words),
        None => gist.aside(matter.input_str("type").unwrap_or_default()),
    }
}

fn message_input(matter: &CallView<'_>) -> Markup {
    let rows = Rows::default()
        .words("to", target(matter))
        .fields_but(&matter.input, &["to", "recipient", "content", "message"]);
    html! {
        (rows.draw())
        @match matter.asked_any(&WORDS) {
            Some(words) => (wrote(words)),
            None => @if let Some(message) = matter.input.get("message") { (Rows::default().value("message", message).draw()) },
        }
    }
}

fn team_gist(matter: &CallView<'_>, gist: &mut CallHeadline) {
    if let Some(name) = matter.input_str("team_name").or_else(|| matter.noted_words("team_name")) {
        gist.say(name);
    }
    if let Some(description) = matter.input_str("description") {
        gist.aside(description);
    }
}

fn team_input(matter: &CallView<'_>) -> Markup {
    Rows::default().fields_but(&matter.input, &[]).draw()
}

/// Draws the sentence that the client answers with; the rest repeats what was asked.
fn answer(matter: &CallView<'_>, text: &str) -> Markup {
    let parsed: Value = serde_json::from_str(text).unwrap_or_default();
    match matter.noted_words("message").or_else(|| words(&parsed, "message")) {
        Some(message) => html! { p class="quiet" { (short(message, 400)) } },
        None if parsed.is_object() => Rows::default().fields_but(&parsed, &[]).draw(),
        None => told(text),
    }
}
