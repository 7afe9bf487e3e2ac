//! Calls of subagents.

use maud::{Markup, html};
use serde_json::Value;

use super::block::{FieldList, render_collapsed, render_markdown, truncate_line};
use super::call_view::{CallView, array_field, str_field};
use super::headline::CallHeadline;
use super::render::Renderer;
use crate::text::figures;

/// Renders calls that start a subagent.
pub(super) const AGENT: Renderer =
    Renderer { kind: "agent", headline: fill_headline, input: render_input, result: render_result };

/// Returns the key of a subagent's slot in the page: the id `call` of the call that started it, truncated to 200
/// characters.
pub(crate) fn agent_key(call: &str) -> String {
    truncate_line(call, 200)
}

/// Returns the type of the subagent. Returns `None` if it is unknown.
fn agent_type<'m>(view: &'m CallView<'_>) -> Option<&'m str> {
    view.input_str("subagent_type").or_else(|| view.result_meta_str("agentType"))
}

/// Adds the name or type of the subagent, its description, and its numbers of calls and tokens.
fn fill_headline(view: &CallView<'_>, headline: &mut CallHeadline) {
    if let Some(name) = view.input_str("name").or(agent_type(view)) {
        headline.push_muted(name);
    }
    match view.first_input_str(&["description", "prompt"]) {
        Some(description) => headline.push_text(description),
        None => headline.push_muted("no description"),
    }
    let number = |name| view.result_meta(name).and_then(Value::as_u64);
    if let Some(count) = number("totalToolUseCount") {
        headline.push_stat(figures::count_noun(count, "call"));
    }
    if let Some(count) = number("totalTokens") {
        headline.push_stat(format!("{} tokens", figures::format_tokens(count)));
    }
    if is_launched(view) {
        headline.push_stat("background");
    }
}

/// Returns `true` if the call only started the subagent, so that its answer arrives later or in another entry.
fn is_launched(view: &CallView<'_>) -> bool {
    let status = view.result_meta_str("status").unwrap_or_default();
    matches!(status, "async_launched" | "teammate_spawned" | "remote_launched")
        || view.result_meta("isAsync").and_then(Value::as_bool) == Some(true)
}

/// Renders the slot for the conversation of the subagent, the fields of the input, and the prompt.
fn render_input(view: &CallView<'_>) -> Markup {
    let fields = FieldList::default()
        .text("agent", agent_type(view))
        .text("model", view.input_str("model").or_else(|| view.result_meta_str("resolvedModel")))
        .fields_except(&view.input, &["subagent_type", "model", "prompt", "description"]);
    html! {
        // The script of the page loads the conversation of the subagent into this slot.
        div class="agent-slot" data-call=(agent_key(&view.call.id)) {}
        (fields.render())
        @if let Some(prompt) = view.input_str("prompt") { (render_collapsed("prompt", &render_markdown(prompt))) }
    }
}

/// Renders the answer of the subagent, or the client's message that it was started.
fn render_result(view: &CallView<'_>, text: &str) -> Markup {
    if is_launched(view) {
        return render_collapsed("started; message of the client to the model", &render_markdown(text));
    }
    let meta = view.context.result_meta.as_ref();
    let blocks: Vec<&str> = meta
        .map_or(&[][..], |meta| array_field(meta, "content"))
        .iter()
        .filter_map(|block| str_field(block, "text"))
        .collect();
    let answer = if blocks.is_empty() { strip_agent_footer(text).to_owned() } else { blocks.join("\n\n") };
    html! { @if answer.trim().is_empty() { p class="muted" { "no text" } } @else { (render_markdown(&answer)) } }
}

/// Removes the id and usage of the subagent, which the client appends to its answer.
fn strip_agent_footer(text: &str) -> &str {
    let end = text.rfind("\nagentId: ").filter(|at| text[*at..].lines().count() <= 8);
    text[..end.unwrap_or(text.len())].trim_end()
}
