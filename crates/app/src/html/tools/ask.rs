//! Questions to the user, and what they chose.

use std::collections::HashSet;

use maud::{Markup, html};
use serde_json::Value;

use super::block::{short, told};
use super::call_view::{CallView, list, words};
use super::headline::CallHeadline;
use super::render::{Renderer, as_it_stands};
use crate::html::text::prose;
use crate::text::{clean, figures};

/// Questions with choices.
pub(super) const ASK: Renderer = Renderer { kind: "ask", gist, input, result };

/// How many questions show at once, each with its answer: clients ask up to four.
const ASKED: usize = 20;

fn gist(matter: &CallView<'_>, gist: &mut CallHeadline) {
    let questions = matter.asked_list("questions");
    if let Some(first) = questions.first() {
        gist.say(words(first, "question").or_else(|| words(first, "header")).unwrap_or_default());
        if let Some(answer) = answer(matter, first, true) {
            gist.good(short(&answer, 60));
        }
    }
    if questions.len() > 1 {
        gist.figure(figures::things(questions.len() as u64, "question"));
    }
}

/// Returns the answer to a question: from the note, else, where it is worth a look, from the sentence that tells the model.
fn answer(matter: &CallView<'_>, question: &Value, look: bool) -> Option<String> {
    let asked = words(question, "question")?;
    if let Some(answers) = matter.result_meta("answers") {
        return match answers.get(asked)? {
            Value::String(answer) => Some(answer.clone()),
            Value::Array(several) => {
                Some(several.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "))
            }
            _ => None,
        };
    }
    let text = matter.outcome().words().filter(|_| look)?;
    let mark = format!("\"{asked}\"=\"");
    if let Some(at) = text.find(&mark) {
        let rest = &text[at + mark.len()..];
        let end = ["\", \"", "\" user notes", "\". You can", "\""].iter().find_map(|end| rest.find(end));
        return Some(rest[..end.unwrap_or(rest.len())].to_owned());
    }
    let is_option =
        list(question, "options").iter().any(|option| words(option, "label") == Some(text.trim()));
    is_option.then(|| text.trim().to_owned())
}

/// Returns the chosen options: the answer, or its parts between commas.
fn chosen(answer: &str) -> HashSet<&str> {
    answer.split(", ").map(str::trim).chain([answer]).collect()
}

fn input(matter: &CallView<'_>) -> Markup {
    let questions = matter.asked_list("questions");
    if questions.is_empty() {
        return as_it_stands(matter);
    }
    let (head, rest) = questions.split_at(questions.len().min(ASKED));
    html! {
        @for question in head { (draw(matter, question, true)) }
        @if !rest.is_empty() {
            details class="more" {
                summary { (figures::things(rest.len() as u64, "more question")) }
                @for question in rest { (draw(matter, question, false)) }
            }
        }
    }
}

fn draw(matter: &CallView<'_>, question: &Value, look: bool) -> Markup {
    let answer = answer(matter, question, look);
    let answer = answer.as_deref().unwrap_or_default();
    let chosen = chosen(answer);
    let options = list(question, "options");
    let is_listed = options.iter().any(|option| chosen.contains(words(option, "label").unwrap_or_default()));
    let asked = words(question, "question").unwrap_or_default();
    let notes =
        matter.result_meta("annotations").and_then(|all| all.get(asked)).and_then(|of| words(of, "notes"));
    html! {
        div class="question" {
            @if let Some(header) = words(question, "header") { div class="label" { (short(header, 60)) } }
            (prose(asked))
            ul class="options" {
                @for option in options {
                    @let label = words(option, "label").unwrap_or_default();
                    @let is_chosen = chosen.contains(label);
                    li class=[is_chosen.then_some("chosen")] {
                        span class="check" role="img" aria-label=(if is_chosen { "chosen" } else { "not chosen" }) {
                            (if is_chosen { "●" } else { "○" })
                        }
                        span {
                            b { (clean::text(label)) }
                            @if let Some(more) = words(option, "description") { " " span class="tool-aside" { (clean::text(more)) } }
                        }
                    }
                }
                @if !answer.is_empty() && !is_listed {
                    li class="chosen" {
                        span class="check" role="img" aria-label="answered" { "●" }
                        span { (clean::text(answer)) }
                    }
                }
            }
            @if let Some(notes) = notes { blockquote { (clean::text(notes)) } }
        }
    }
}

/// Draws the words of the result only where the questions above do not show the answers.
fn result(matter: &CallView<'_>, text: &str) -> Markup {
    let questions = matter.asked_list("questions");
    let is_shown = (1..=ASKED).contains(&questions.len())
        && questions.iter().all(|question| answer(matter, question, true).is_some());
    if is_shown {
        html! {}
    } else {
        told(text)
    }
}
