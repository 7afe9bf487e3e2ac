//! Skills and slash commands.

use maud::{Markup, html};

use super::block::{Rows, wrote};
use super::call_view::CallView;
use super::headline::CallHeadline;
use super::render::Renderer;

/// A skill or slash command that the model called.
pub(super) const SKILL: Renderer = Renderer { kind: "skill", gist, input, result };

fn gist(matter: &CallView<'_>, gist: &mut CallHeadline) {
    if let Some(name) = matter.asked_any(&["skill", "command", "name"]) {
        gist.code(name);
    }
    if let Some(arguments) = matter.asked_any(&["args", "arguments"]) {
        gist.aside(arguments);
    }
}

fn input(matter: &CallView<'_>) -> Markup {
    Rows::default().fields_but(&matter.input, &[]).draw()
}

fn result(_matter: &CallView<'_>, text: &str) -> Markup {
    html! { @if text.trim().is_empty() { p class="quiet" { "no words" } } @else { (wrote(text)) } }
}
