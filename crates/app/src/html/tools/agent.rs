//! Work given to another agent.

use maud::{Markup, html};
use serde_json::Value;

use super::block::{Rows, folded, short, wrote};
use super::call_view::{CallView, list, words};
use super::headline::CallHeadline;
use super::render::Renderer;
use crate::text::figures;

/// A call of an agent.
pub(super) const AGENT: Renderer = Renderer { kind: "agent", gist, input, result };

/// Names the place of a subagent by the call that started it.
pub(crate) fn key(call: &str) -> String {
    short(call, 200)
}

fn kind<'m>(matter: &'m CallView<'_>) -> Option<&'m str> {
    matter.input_str("subagent_type").or_else(|| matter.noted_words("agentType"))
}

fn gist(matter: &CallView<'_>, gist: &mut CallHeadline) {
    if let Some(name) = matter.input_str("name").or(kind(matter)) {
        gist.aside(name);
    }
    match matter.asked_any(&["description", "prompt"]) {
        Some(description) => gist.say(description),
        None => gist.aside("without a description"),
    }
    let number = |name| matter.result_meta(name).and_then(Value::as_u64);
    if let Some(count) = number("totalToolUseCount") {
        gist.figure(figures::things(count, "call"));
    }
    if let Some(count) = number("totalTokens") {
        gist.figure(format!("{} tokens", figures::tokens(count)));
    }
    if is_launched(matter) {
        gist.figure("background");
    }
}

/// Whether it was only started: its words come later, or elsewhere.
fn is_launched(matter: &CallView<'_>) -> bool {
    let status = matter.noted_words("status").unwrap_or_default();
    matches!(status, "async_launched" | "teammate_spawned" | "remote_launched")
        || matter.result_meta("isAsync").and_then(Value::as_bool) == Some(true)
}

fn input(matter: &CallView<'_>) -> Markup {
    let rows = Rows::default()
        .words("agent", kind(matter))
        .words("model", matter.input_str("model").or_else(|| matter.noted_words("resolvedModel")))
        .fields_but(&matter.input, &["subagent_type", "model", "prompt", "description"]);
    html! {
        // Its own conversation unfolds here; the page around fills it.
        div class="agent-here" data-call=(key(&matter.call.id)) {}
        (rows.draw())
        @if let Some(prompt) = matter.input_str("prompt") { (folded("prompt", &wrote(prompt))) }
    }
}

fn result(matter: &CallView<'_>, text: &str) -> Markup {
    if is_launched(matter) {
        return folded("started; what the client told the model", &wrote(text));
    }
    let note = matter.around.noted.as_ref();
    let noted: Vec<&str> = note
        .map_or(&[][..], |note| list(note, "content"))
        .iter()
        .filter_map(|block| words(block, "text"))
        .collect();
    let said = if noted.is_empty() { without_bookkeeping(text).to_owned() } else { noted.join("\n\n") };
    html! { @if said.trim().is_empty() { p class="quiet" { "no words" } } @else { (wrote(&said)) } }
}

/// Takes off the end what the client adds about the agent: its id and what it used.
fn without_bookkeeping(text: &str) -> &str {
    let end = text.rfind("\nagentId: ").filter(|at| text[*at..].lines().count() <= 8);
    text[..end.unwrap_or(text.len())].trim_end()
}
