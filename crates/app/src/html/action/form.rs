//! What a reader may choose before something is done.

use maud::{Markup, html};
use rethread_engine::core::trim::{ContentKind, Preset};

/// What may be left out besides, and what it is called.
const DROPS: [(ContentKind, &str); 4] = [
    (ContentKind::Thinking, "thinking"),
    (ContentKind::ToolResults, "tool results"),
    (ContentKind::Images, "pictures"),
    (ContentKind::Attachments, "context that the client added"),
];

/// How many tokens there may be room for.
const FITS: [u64; 5] = [60_000, 100_000, 120_000, 150_000, 180_000];

/// Asks for the title of a session.
pub(crate) fn rename(title: &str) -> Markup {
    html! {
        label class="act-field" {
            span { "Title" }
            input name="title" value=(title) required maxlength="200" autocomplete="off" autofocus;
        }
    }
}

/// Asks what a fork is called.
pub(crate) fn fork(title: &str) -> Markup {
    html! {
        label class="act-field" {
            span { "What to call it " span class="quiet" { "(may stay empty)" } }
            input name="title" value=(title) maxlength="200" autocomplete="off";
        }
    }
}

/// Asks what a copy leaves out.
pub(crate) fn clone() -> Markup {
    let (light, others) = (Preset::Light, [Preset::Lighter, Preset::Bare, Preset::Whole]);
    html! {
        p class="quiet" { "A new session with less in it. The original is not changed." }
        fieldset class="act-choices" {
            legend { "How much to leave out" }
            (choice(light.name(), words(light), true))
            @for preset in others { (choice(preset.name(), words(preset), false)) }
            (choice("fit", "as much as it takes, the least missed first, until it fits", false))
            label class="act-inline" {
                span { "Room for " }
                select name="fit" {
                    @for tokens in FITS { option value=(tokens) selected[tokens == 120_000] { (tokens / 1000) "k tokens" } }
                }
            }
        }
        fieldset class="act-choices" {
            legend { "Besides, leave out " span class="quiet" { "(not where it is made to fit)" } }
            @for (what, words) in DROPS {
                label class="act-inline" { input type="checkbox" name="drop" value=(what.name()); span { (words) } }
            }
            label class="act-inline" { span { "but leave the last " } input type="number" name="older" min="0" max="9999" class="act-number"; span { " turns alone" } }
            label class="act-inline" { span { "Keep only the last " } input type="number" name="last" min="1" max="9999" class="act-number"; span { " turns" } }
        }
        (fork(""))
    }
}

fn choice(value: &str, words: &str, checked: bool) -> Markup {
    html! {
        label class="act-inline" {
            input type="radio" name="preset" value=(value) checked[checked];
            span { strong { (value) } " " span class="quiet" { (words) } }
        }
    }
}

fn words(preset: Preset) -> &'static str {
    match preset {
        Preset::Light => "what the client keeps for itself, and large tool results older than ten turns",
        Preset::Lighter => "also thinking, pictures and every tool result older than two turns",
        Preset::Bare => "everything but prompts and answers",
        Preset::Whole => "nothing: a copy of the path",
    }
}
