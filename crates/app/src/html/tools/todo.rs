//! Lists of things to do.

use std::collections::{HashMap, HashSet};

use maud::{Markup, html};
use serde_json::Value;

use super::block::{Rows, short, told, wrote};
use super::call_view::{CallView, label, list, words};
use super::headline::CallHeadline;
use super::render::Renderer;
use crate::text::{clean, figures};

/// A list written whole.
pub(super) const CHECKLIST: Renderer =
    Renderer { kind: "todo", gist: todos_gist, input: todos_input, result: |_, _| html! {} };

/// A task that was added.
pub(super) const CREATE: Renderer =
    Renderer { kind: "todo", gist: create_gist, input: create_input, result: |_, _| html! {} };

/// A task that was changed.
pub(super) const UPDATE: Renderer =
    Renderer { kind: "todo", gist: update_gist, input: update_input, result: update_result };

/// Tasks that were looked at.
pub(super) const LIST: Renderer =
    Renderer { kind: "todo", gist: list_gist, input: |_| html! {}, result: list_result };

/// How many tasks of a list show at once.
const SHOWN: usize = 200;

/// How far a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Done,
    AtWork,
    Open,
    Gone,
}

impl State {
    fn read(status: &str) -> State {
        match status {
            "completed" | "done" => State::Done,
            "in_progress" => State::AtWork,
            "deleted" | "cancelled" => State::Gone,
            _ => State::Open,
        }
    }

    /// Returns class, mark and words.
    fn looks(self) -> (&'static str, &'static str, &'static str) {
        match self {
            State::Done => ("done", "✓", "done"),
            State::AtWork => ("at-work", "◐", "at work"),
            State::Open => ("open", "○", "open"),
            State::Gone => ("gone", "×", "gone"),
        }
    }
}

/// A line of a list.
struct Item {
    state: State,
    id: Option<String>,
    words: String,
    /// What became different since the list before.
    news: Option<String>,
}

fn item(value: &Value) -> Item {
    let words = words(value, "content").or_else(|| words(value, "subject")).or_else(|| value.as_str());
    Item {
        state: State::read(value.get("status").and_then(Value::as_str).unwrap_or_default()),
        id: label(value, "id"),
        words: words.unwrap_or("(without words)").to_owned(),
        news: None,
    }
}

fn draw(items: &[Item]) -> Markup {
    let (head, rest) = items.split_at(items.len().min(SHOWN));
    html! {
        (lines(head))
        @if !rest.is_empty() {
            details class="more" { summary { (figures::things(rest.len() as u64, "more task")) } (lines(rest)) }
        }
    }
}

fn lines(items: &[Item]) -> Markup {
    html! {
        ul class="checks" {
            @for item in items {
                @let (class, mark, says) = item.state.looks();
                li class=(class) {
                    span class="check" role="img" aria-label=(says) { (mark) }
                    span {
                        @if let Some(id) = &item.id { span class="tool-aside" { "#" (short(id, 20)) " " } }
                        (clean::text(&item.words))
                        @if let Some(news) = &item.news { " " span class="fig" { (news) } }
                    }
                }
            }
        }
    }
}

/// Says how many are done, and what is at work.
fn summary(gist: &mut CallHeadline, items: &[Item]) {
    let done = items.iter().filter(|item| item.state == State::Done).count();
    if let Some(item) = items.iter().find(|item| item.state == State::AtWork) {
        gist.say(&item.words);
    }
    gist.figure(format!("{done} of {} done", items.len()));
}

fn todos(matter: &CallView<'_>) -> Vec<Item> {
    matter.asked_list("todos").iter().map(item).collect()
}

fn todos_gist(matter: &CallView<'_>, gist: &mut CallHeadline) {
    summary(gist, &todos(matter));
}

fn todos_input(matter: &CallView<'_>) -> Markup {
    let mut items = todos(matter);
    if items.is_empty() {
        return super::render::as_it_stands(matter);
    }
    if let Some(note) = &matter.around.noted
        && note.get("oldTodos").is_some()
    {
        compare(&mut items, list(note, "oldTodos"));
    }
    // An id that only numbers the lines tells nothing.
    items.iter_mut().for_each(|item| item.id = None);
    draw(&items)
}

/// Marks what became different, and adds what is no longer there.
fn compare(items: &mut Vec<Item>, before: &[Value]) {
    let before: Vec<Item> = before.iter().map(item).collect();
    if before.is_empty() {
        return;
    }
    let mut states: HashMap<&str, State> = HashMap::new();
    for old in &before {
        states.entry(&old.words).or_insert(old.state);
    }
    for item in items.iter_mut() {
        match states.get(item.words.as_str()) {
            None => item.news = Some("new".into()),
            Some(state) if *state != item.state => item.news = Some(format!("was {}", state.looks().2)),
            Some(_) => {}
        }
    }
    let listed: HashSet<String> = items.iter().map(|item| item.words.clone()).collect();
    let gone = before.into_iter().filter(|old| !listed.contains(&old.words));
    items.extend(gone.map(|old| Item { state: State::Gone, news: Some("no longer listed".into()), ..old }));
}

fn create_gist(matter: &CallView<'_>, gist: &mut CallHeadline) {
    if let Some(id) = matter.result_meta("task").and_then(|task| label(task, "id")) {
        gist.aside(&format!("#{id}"));
    }
    if let Some(subject) = matter.input_str("subject") {
        gist.say(subject);
    }
}

fn create_input(matter: &CallView<'_>) -> Markup {
    html! {
        (draw(&[item(&matter.input)]))
        @if let Some(description) = matter.input_str("description") { (wrote(description)) }
        (Rows::default().fields_but(&matter.input, &["subject", "description", "activeForm"]).draw())
    }
}

fn update_gist(matter: &CallView<'_>, gist: &mut CallHeadline) {
    if let Some(id) = label(&matter.input, "taskId") {
        gist.aside(&format!("#{id}"));
    }
    if let Some(subject) = matter.input_str("subject") {
        gist.say(subject);
    }
    let change = matter.result_meta("statusChange");
    let to = change.and_then(|change| words(change, "to")).or_else(|| matter.input_str("status"));
    if let Some(to) = to {
        let from = change.and_then(|change| words(change, "from")).map(|from| State::read(from).looks().2);
        let to = State::read(to).looks().2;
        gist.say(&from.map_or_else(|| to.to_owned(), |from| format!("{from} → {to}")));
    }
    if let Some(owner) = matter.input_str("owner") {
        gist.aside(&format!("for {}", short(owner, 60)));
    }
    if matter.result_meta("success").and_then(Value::as_bool) == Some(false) {
        gist.bad("failed");
    }
}

fn update_input(matter: &CallView<'_>) -> Markup {
    Rows::default().fields_but(&matter.input, &["activeForm"]).draw()
}

fn update_result(matter: &CallView<'_>, text: &str) -> Markup {
    html! { p class="quiet" { (short(matter.noted_words("error").unwrap_or(text), 400)) } }
}

/// Returns the tasks of a result: from the note, else from lines such as `#6 [pending] subject`.
fn listed(matter: &CallView<'_>, text: &str) -> Vec<Item> {
    let note = matter.around.noted.as_ref();
    let noted = note.map_or(&[][..], |note| list(note, "tasks"));
    if !noted.is_empty() {
        return noted.iter().map(item).collect();
    }
    let read = |line: &str| {
        let (id, rest) = line.strip_prefix('#')?.split_once(" [")?;
        let (status, words) = rest.split_once("] ")?;
        Some(Item {
            state: State::read(status),
            id: Some(id.trim_end_matches('.').to_owned()),
            words: words.to_owned(),
            news: None,
        })
    };
    text.lines().filter_map(read).collect()
}

fn list_gist(matter: &CallView<'_>, gist: &mut CallHeadline) {
    if let Some(task) = matter.result_meta("task") {
        return gist.say(words(task, "subject").unwrap_or_default());
    }
    if let Some(id) = label(&matter.input, "taskId") {
        gist.aside(&format!("#{id}"));
    }
    let items = listed(matter, matter.outcome().words().unwrap_or_default());
    if !items.is_empty() {
        summary(gist, &items);
    }
}

fn list_result(matter: &CallView<'_>, text: &str) -> Markup {
    if let Some(task) = matter.result_meta("task").filter(|task| task.is_object()) {
        return html! {
            (draw(&[item(task)]))
            @if let Some(description) = words(task, "description") { (wrote(description)) }
            (Rows::default().fields_but(task, &["id", "subject", "status", "description"]).draw())
        };
    }
    let items = listed(matter, text);
    if items.is_empty() { told(text) } else { draw(&items) }
}
