//! Questions to the user, and the answers.

use std::collections::HashSet;

use maud::{Markup, html};
use serde_json::Value;

use super::block::{render_auto, truncate_line};
use super::call_view::{CallView, array_field, str_field};
use super::headline::CallHeadline;
use super::render::{Renderer, render_raw_input};
use crate::html::text::render_prose;
use crate::text::{clean, figures};

/// Renders multiple-choice questions to the user.
pub(super) const ASK: Renderer =
    Renderer { kind: "ask", headline: fill_headline, input: render_input, result: render_result };

/// Maximum number of questions that are visible with their answers. Clients ask up to four.
const VISIBLE_QUESTIONS: usize = 20;

/// Adds the first question with its answer, and the number of questions.
fn fill_headline(view: &CallView<'_>, headline: &mut CallHeadline) {
    let questions = view.input_list("questions");
    if let Some(first) = questions.first() {
        headline.push_text(
            str_field(first, "question").or_else(|| str_field(first, "header")).unwrap_or_default(),
        );
        if let Some(answer) = find_answer(view, first, true) {
            headline.push_success(truncate_line(&answer, 60));
        }
    }
    if questions.len() > 1 {
        headline.push_stat(figures::count_noun(questions.len() as u64, "question"));
    }
}

/// Returns the answer to a question: from `toolUseResult`, else, if `search_text` is set, from the text of the
/// result. Returns `None` if it was not answered.
fn find_answer(view: &CallView<'_>, question: &Value, search_text: bool) -> Option<String> {
    let prompt = str_field(question, "question")?;
    if let Some(answers) = view.result_meta("answers") {
        return match answers.get(prompt)? {
            Value::String(answer) => Some(answer.clone()),
            Value::Array(several) => {
                Some(several.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "))
            }
            _ => None,
        };
    }
    let text = view.outcome().text().filter(|_| search_text)?;
    let marker = format!("\"{prompt}\"=\"");
    if let Some(at) = text.find(&marker) {
        let rest = &text[at + marker.len()..];
        let end = ["\", \"", "\" user notes", "\". You can", "\""].iter().find_map(|end| rest.find(end));
        return Some(rest[..end.unwrap_or(rest.len())].to_owned());
    }
    let is_option =
        array_field(question, "options").iter().any(|option| str_field(option, "label") == Some(text.trim()));
    is_option.then(|| text.trim().to_owned())
}

/// Returns the labels that the answer may consist of: the whole answer, and its comma-separated parts.
fn split_chosen_options(answer: &str) -> HashSet<&str> {
    answer.split(", ").map(str::trim).chain([answer]).collect()
}

/// Renders the questions with their answers. Those after the first [`VISIBLE_QUESTIONS`] are collapsed.
fn render_input(view: &CallView<'_>) -> Markup {
    let questions = view.input_list("questions");
    if questions.is_empty() {
        return render_raw_input(view);
    }
    let (head, rest) = questions.split_at(questions.len().min(VISIBLE_QUESTIONS));
    html! {
        @for question in head { (render_question(view, question, true)) }
        @if !rest.is_empty() {
            details class="more" {
                summary { (figures::count_noun(rest.len() as u64, "more question")) }
                @for question in rest { (render_question(view, question, false)) }
            }
        }
    }
}

/// Renders a question with its options, the chosen ones marked, and the notes of the user.
fn render_question(view: &CallView<'_>, question: &Value, search_text: bool) -> Markup {
    let answer = find_answer(view, question, search_text);
    let answer = answer.as_deref().unwrap_or_default();
    let chosen = split_chosen_options(answer);
    let options = array_field(question, "options");
    let is_listed =
        options.iter().any(|option| chosen.contains(str_field(option, "label").unwrap_or_default()));
    let prompt = str_field(question, "question").unwrap_or_default();
    let notes = view
        .result_meta("annotations")
        .and_then(|all| all.get(prompt))
        .and_then(|annotation| str_field(annotation, "notes"));
    html! {
        div class="question" {
            @if let Some(header) = str_field(question, "header") { div class="label" { (truncate_line(header, 60)) } }
            (render_prose(prompt))
            ul class="options" {
                @for option in options {
                    @let label = str_field(option, "label").unwrap_or_default();
                    @let is_chosen = chosen.contains(label);
                    li class=[is_chosen.then_some("chosen")] {
                        span class="check" role="img" aria-label=(if is_chosen { "chosen" } else { "not chosen" }) {
                            (if is_chosen { "●" } else { "○" })
                        }
                        span {
                            b { (clean::text(label)) }
                            @if let Some(more) = str_field(option, "description") { " " span class="tool-detail" { (clean::text(more)) } }
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

/// Renders the text of the result only if the questions above do not show all answers.
fn render_result(view: &CallView<'_>, text: &str) -> Markup {
    let questions = view.input_list("questions");
    let has_answers = (1..=VISIBLE_QUESTIONS).contains(&questions.len())
        && questions.iter().all(|question| find_answer(view, question, true).is_some());
    if has_answers {
        html! {}
    } else {
        render_auto(text)
    }
}
