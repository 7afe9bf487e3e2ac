//! Skills and slash commands.

use maud::{Markup, html};

use super::block::{FieldList, render_markdown};
use super::call_view::CallView;
use super::headline::CallHeadline;
use super::render::Renderer;

/// Renders calls that run a skill or slash command.
pub(super) const SKILL: Renderer =
    Renderer { kind: "skill", headline: fill_headline, input: render_input, result: render_result };

fn fill_headline(view: &CallView<'_>, headline: &mut CallHeadline) {
    if let Some(name) = view.first_input_str(&["skill", "command", "name"]) {
        headline.push_code(name);
    }
    if let Some(arguments) = view.first_input_str(&["args", "arguments"]) {
        headline.push_muted(arguments);
    }
}

fn render_input(view: &CallView<'_>) -> Markup {
    FieldList::default().fields_except(&view.input, &[]).render()
}

fn render_result(_view: &CallView<'_>, text: &str) -> Markup {
    html! { @if text.trim().is_empty() { p class="muted" { "no text" } } @else { (render_markdown(text)) } }
}
