//! Todo lists and tasks.

use std::collections::{HashMap, HashSet};

use maud::{Markup, html};
use serde_json::Value;

use super::block::{FieldList, render_auto, render_markdown, truncate_line};
use super::call_view::{CallView, array_field, id_field, str_field};
use super::headline::CallHeadline;
use super::render::Renderer;
use crate::content::task::{TaskItem, TaskState, parse_item};
use crate::text::{clean, figures};

/// Renders calls that write the whole todo list.
pub(super) const CHECKLIST: Renderer = Renderer {
    kind: "todo",
    headline: fill_todos_headline,
    input: render_todos_input,
    result: |_, _| html! {},
};

/// Renders calls that add a task.
pub(super) const CREATE: Renderer = Renderer {
    kind: "todo",
    headline: fill_create_headline,
    input: render_create_input,
    result: |_, _| html! {},
};

/// Renders calls that change a task.
pub(super) const UPDATE: Renderer = Renderer {
    kind: "todo",
    headline: fill_update_headline,
    input: render_update_input,
    result: render_update_result,
};

/// Renders calls that list tasks or show one.
pub(super) const LIST: Renderer =
    Renderer { kind: "todo", headline: fill_list_headline, input: |_| html! {}, result: render_list_result };

/// Maximum number of tasks that are visible initially.
const VISIBLE_TASKS: usize = 200;

/// Renders the first [`VISIBLE_TASKS`] tasks, and the others collapsed.
fn render_items(items: &[TaskItem]) -> Markup {
    let (head, rest) = items.split_at(items.len().min(VISIBLE_TASKS));
    html! {
        (render_list(head))
        @if !rest.is_empty() {
            details class="more" { summary { (figures::count_noun(rest.len() as u64, "more task")) } (render_list(rest)) }
        }
    }
}

/// Renders tasks as a list with symbols for their states.
fn render_list(items: &[TaskItem]) -> Markup {
    html! {
        ul class="checks" {
            @for item in items {
                @let (symbol, label) = item.state.display();
                li class=(label.replace(' ', "-")) {
                    span class="check" role="img" aria-label=(label) { (symbol) }
                    span {
                        @if let Some(id) = &item.id { span class="tool-detail" { "#" (truncate_line(id, 20)) " " } }
                        (clean::text(&item.text))
                        @if let Some(change) = &item.change { " " span class="stat" { (change) } }
                    }
                }
            }
        }
    }
}

/// Adds the current task and the number of completed tasks to the headline.
fn push_progress(headline: &mut CallHeadline, items: &[TaskItem]) {
    let done = items.iter().filter(|item| item.state == TaskState::Done).count();
    if let Some(item) = items.iter().find(|item| item.state == TaskState::InProgress) {
        headline.push_text(&item.text);
    }
    headline.push_stat(format!("{done} of {} done", items.len()));
}

fn parse_todos(view: &CallView<'_>) -> Vec<TaskItem> {
    view.input_list("todos").iter().map(parse_item).collect()
}

fn fill_todos_headline(view: &CallView<'_>, headline: &mut CallHeadline) {
    push_progress(headline, &parse_todos(view));
}

/// Renders the todo list, with the changes since the previous list if `toolUseResult` contains that.
fn render_todos_input(view: &CallView<'_>) -> Markup {
    let mut items = parse_todos(view);
    if items.is_empty() {
        return super::render::render_raw_input(view);
    }
    if let Some(meta) = &view.context.result_meta
        && meta.get("oldTodos").is_some()
    {
        mark_changes(&mut items, array_field(meta, "oldTodos"));
    }
    // The ids of todos only number the lines.
    items.iter_mut().for_each(|item| item.id = None);
    render_items(&items)
}

/// Marks the tasks that changed since the previous list, and appends those that are no longer listed.
fn mark_changes(items: &mut Vec<TaskItem>, previous: &[Value]) {
    let previous: Vec<TaskItem> = previous.iter().map(parse_item).collect();
    if previous.is_empty() {
        return;
    }
    let mut states: HashMap<&str, TaskState> = HashMap::new();
    for old in &previous {
        states.entry(&old.text).or_insert(old.state);
    }
    for item in items.iter_mut() {
        match states.get(item.text.as_str()) {
            None => item.change = Some("new".into()),
            Some(state) if *state != item.state => item.change = Some(format!("was {}", state.display().1)),
            Some(_) => {}
        }
    }
    let listed: HashSet<String> = items.iter().map(|item| item.text.clone()).collect();
    let removed = previous.into_iter().filter(|old| !listed.contains(&old.text));
    items.extend(removed.map(|old| TaskItem {
        state: TaskState::Removed,
        change: Some("no longer listed".into()),
        ..old
    }));
}

fn fill_create_headline(view: &CallView<'_>, headline: &mut CallHeadline) {
    if let Some(id) = view.result_meta("task").and_then(|task| id_field(task, "id")) {
        headline.push_muted(&format!("#{id}"));
    }
    if let Some(subject) = view.input_str("subject") {
        headline.push_text(subject);
    }
}

fn render_create_input(view: &CallView<'_>) -> Markup {
    html! {
        (render_items(&[parse_item(&view.input)]))
        @if let Some(description) = view.input_str("description") { (render_markdown(description)) }
        (FieldList::default().fields_except(&view.input, &["subject", "description", "activeForm"]).render())
    }
}

/// Adds the id, the subject, the change of status and the owner of the task.
fn fill_update_headline(view: &CallView<'_>, headline: &mut CallHeadline) {
    if let Some(id) = id_field(&view.input, "taskId") {
        headline.push_muted(&format!("#{id}"));
    }
    if let Some(subject) = view.input_str("subject") {
        headline.push_text(subject);
    }
    let change = view.result_meta("statusChange");
    let to = change.and_then(|change| str_field(change, "to")).or_else(|| view.input_str("status"));
    if let Some(to) = to {
        let from =
            change.and_then(|change| str_field(change, "from")).map(|from| TaskState::read(from).display().1);
        let to = TaskState::read(to).display().1;
        headline.push_text(&from.map_or_else(|| to.to_owned(), |from| format!("{from} → {to}")));
    }
    if let Some(owner) = view.input_str("owner") {
        headline.push_muted(&format!("for {}", truncate_line(owner, 60)));
    }
    if view.result_meta("success").and_then(Value::as_bool) == Some(false) {
        headline.push_failure("failed");
    }
}

fn render_update_input(view: &CallView<'_>) -> Markup {
    FieldList::default().fields_except(&view.input, &["activeForm"]).render()
}

fn render_update_result(view: &CallView<'_>, text: &str) -> Markup {
    html! { p class="muted" { (truncate_line(view.result_meta_str("error").unwrap_or(text), 400)) } }
}

/// Parses the tasks of a result: from `toolUseResult`, else from lines such as `#6 [pending] subject`. Other lines
/// are ignored.
fn parse_tasks(view: &CallView<'_>, text: &str) -> Vec<TaskItem> {
    let meta = view.context.result_meta.as_ref();
    let tasks = meta.map_or(&[][..], |meta| array_field(meta, "tasks"));
    if !tasks.is_empty() {
        return tasks.iter().map(parse_item).collect();
    }
    let parse_line = |line: &str| {
        let (id, rest) = line.strip_prefix('#')?.split_once(" [")?;
        let (status, subject) = rest.split_once("] ")?;
        Some(TaskItem {
            state: TaskState::read(status),
            id: Some(id.trim_end_matches('.').to_owned()),
            text: subject.to_owned(),
            change: None,
        })
    };
    text.lines().filter_map(parse_line).collect()
}

/// Adds the subject of a single task, or the progress of the listed tasks.
fn fill_list_headline(view: &CallView<'_>, headline: &mut CallHeadline) {
    if let Some(task) = view.result_meta("task") {
        return headline.push_text(str_field(task, "subject").unwrap_or_default());
    }
    if let Some(id) = id_field(&view.input, "taskId") {
        headline.push_muted(&format!("#{id}"));
    }
    let items = parse_tasks(view, view.outcome().text().unwrap_or_default());
    if !items.is_empty() {
        push_progress(headline, &items);
    }
}

fn render_list_result(view: &CallView<'_>, text: &str) -> Markup {
    if let Some(task) = view.result_meta("task").filter(|task| task.is_object()) {
        return html! {
            (render_items(&[parse_item(task)]))
            @if let Some(description) = str_field(task, "description") { (render_markdown(description)) }
            (FieldList::default().fields_except(task, &["id", "subject", "status", "description"]).render())
        };
    }
    let items = parse_tasks(view, text);
    if items.is_empty() { render_auto(text) } else { render_items(&items) }
}
