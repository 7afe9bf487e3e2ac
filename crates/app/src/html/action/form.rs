//! Input fields of the action forms.

use maud::{Markup, html};
use rethread_engine::core::trim::{ContentKind, TrimPreset};

use crate::text::clean;

/// The kinds of content that can be omitted additionally, with their labels.
const DROPS: [(ContentKind, &str); 4] = [
    (ContentKind::Thinking, "thinking"),
    (ContentKind::ToolResults, "tool results"),
    (ContentKind::Images, "images"),
    (ContentKind::Attachments, "attachments of the client"),
];

/// The selectable context sizes, in tokens.
const FIT_TOKENS: [u64; 5] = [60_000, 100_000, 120_000, 150_000, 180_000];

/// Renders the input for the new title of a session. `title` is the current one.
pub(crate) fn render_rename_inputs(title: &str) -> Markup {
    html! {
        label class="action-field" {
            span { "Title" }
            input name="title" value=(clean::line(title)) required maxlength="200" autocomplete="off" autofocus;
        }
    }
}

/// Renders the optional input for the title of a new session.
pub(crate) fn render_fork_inputs(title: &str) -> Markup {
    html! {
        label class="action-field" {
            span { "Title " span class="muted" { "(optional)" } }
            input name="title" value=(clean::line(title)) maxlength="200" autocomplete="off";
        }
    }
}

/// Renders the inputs that choose what a trimmed copy omits.
pub(crate) fn render_clone_inputs() -> Markup {
    let (light, others) = (TrimPreset::Light, [TrimPreset::Lighter, TrimPreset::Bare, TrimPreset::Whole]);
    html! {
        p class="muted" { "Creates a new session with less content. The original is not changed." }
        fieldset class="action-choices" {
            legend { "Omit" }
            (render_choice(light.name(), preset_text(light), true))
            @for preset in others { (render_choice(preset.name(), preset_text(preset), false)) }
            (render_choice("fit", "as much as needed to fit, the least important content first", false))
            label class="action-inline" {
                span { "Fit into " }
                select name="fit" {
                    @for tokens in FIT_TOKENS { option value=(tokens) selected[tokens == 120_000] { (tokens / 1000) "k tokens" } }
                }
            }
        }
        fieldset class="action-choices" {
            legend { "Also omit " span class="muted" { "(ignored with fit)" } }
            @for (content, text) in DROPS {
                label class="action-inline" { input type="checkbox" name="drop" value=(content.name()); span { (text) } }
            }
            label class="action-inline" { span { "except in the last " } input type="number" name="older" min="0" max="9999" class="action-number"; span { " turns" } }
            label class="action-inline" { span { "Keep only the last " } input type="number" name="last" min="1" max="9999" class="action-number"; span { " turns" } }
        }
        (render_fork_inputs(""))
    }
}

/// Renders a radio button of the preset choice.
fn render_choice(value: &str, text: &str, checked: bool) -> Markup {
    html! {
        label class="action-inline" {
            input type="radio" name="preset" value=(value) checked[checked];
            span { strong { (value) } " " span class="muted" { (text) } }
        }
    }
}

/// Describes what a preset omits.
fn preset_text(preset: TrimPreset) -> &'static str {
    match preset {
        TrimPreset::Light => "internal records of the client, and large tool results older than ten turns",
        TrimPreset::Lighter => "also thinking, images and all tool results older than two turns",
        TrimPreset::Bare => "everything but prompts and answers",
        TrimPreset::Whole => "nothing: copies the active path",
    }
}
