//! Shell commands, the output of background tasks, and stopping them.

use maud::{Markup, html};
use rethread_engine::core::turn::extract_tag;
use serde_json::Value;

use super::block::{FieldList, render_label, truncate_line};
use super::call_view::{CallView, id_field, str_field};
use super::collapse;
use super::headline::CallHeadline;
use super::outcome::Outcome;
use super::render::Renderer;
use crate::content::highlight::Language;
use crate::html::text::{render_code, render_terminal};
use crate::text::figures;

/// Renders shell commands.
pub(super) const BASH: Renderer = Renderer {
    kind: "shell",
    headline: fill_command_headline,
    input: |view| render_command(view, "bash"),
    result: render_command_result,
};

/// Renders PowerShell commands.
pub(super) const POWERSHELL: Renderer = Renderer { input: |view| render_command(view, "powershell"), ..BASH };

/// Renders calls that read the output of a background command or subagent so far.
pub(super) const OUTPUT: Renderer = Renderer {
    kind: "shell",
    headline: fill_output_headline,
    input: render_output_input,
    result: render_output_result,
};

/// Renders calls that stop a background task.
pub(super) const KILL: Renderer =
    Renderer { kind: "stop", headline: fill_kill_headline, input: |_| html! {}, result: render_kill_result };

/// Adds the command, its description, and its outcome: exit code, meaning of the exit code, or number of lines.
fn fill_command_headline(view: &CallView<'_>, headline: &mut CallHeadline) {
    if let Some(command) = view.input_str("command") {
        headline.push_code(command);
    }
    if let Some(description) = view.input_str("description") {
        headline.push_muted(description);
    }
    if let Some(id) = view.result_meta_str("backgroundTaskId") {
        headline.push_stat(format!("background {}", truncate_line(id, 24)));
    }
    if view.result_meta("interrupted").and_then(Value::as_bool) == Some(true) {
        headline.push_failure("interrupted");
    }
    match view.outcome() {
        Outcome::Failed(text) => {
            if let Some(code) = parse_exit_code(text) {
                headline.push_failure(format!("exit {code}"));
            }
        }
        Outcome::Succeeded(text) => match view.result_meta_str("returnCodeInterpretation") {
            Some(meaning) => headline.push_stat(truncate_line(meaning, 40)),
            None => push_line_count(headline, view.result_meta_str("stdout").unwrap_or(text)),
        },
        _ => {}
    }
}

/// Adds the number of lines of a text to the headline if there is more than one.
fn push_line_count(headline: &mut CallHeadline, text: &str) {
    let count = text.trim_end().lines().count();
    if count > 1 {
        headline.push_stat(figures::count_noun(count as u64, "line"));
    }
}

/// Parses the exit code at the start of the output of a failed command. Returns `None` if there is none.
fn parse_exit_code(text: &str) -> Option<i64> {
    let rest = text.trim_start().strip_prefix("Exit code ")?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// Renders a command, its description and its other fields. `language` selects the highlighting.
fn render_command(view: &CallView<'_>, language: &str) -> Markup {
    let Some(command) = view.input_str("command") else { return super::render::render_raw_input(view) };
    let timeout = view.input_u64("timeout").map(figures::format_duration);
    let background = view.input_bool("run_in_background").then_some("yes");
    let shown = ["command", "description", "timeout", "run_in_background"];
    let fields = FieldList::default()
        .text("at most", timeout.as_deref())
        .text("in the background", background)
        .fields_except(&view.input, &shown);
    html! {
        @if let Some(description) = view.input_str("description") { p class="description" { (crate::text::clean::text(description)) } }
        div class="command" { (collapse::fold_lines(render_code(command, Language::from_name(language), None))) }
        (fields.render())
    }
}

/// Renders the output of a command: from `toolUseResult`, else the text of the result.
fn render_command_result(view: &CallView<'_>, text: &str) -> Markup {
    let meta = |name| view.result_meta(name).and_then(Value::as_str);
    let (out, err) = match (meta("stdout"), meta("stderr")) {
        // For a result stored in a file, `toolUseResult` may contain more than the preview.
        (Some(out), err) if !(out.is_empty() && err.unwrap_or_default().is_empty()) => {
            (out, err.unwrap_or_default())
        }
        _ => (text, ""),
    };
    let meaning = view.result_meta_str("returnCodeInterpretation");
    html! {
        (render_output(out, err))
        @if let Some(meaning) = meaning { p class="muted" { (truncate_line(meaning, 120)) } }
    }
}

/// Renders stdout and stderr separately, or "no output" if both are blank.
fn render_output(out: &str, err: &str) -> Markup {
    html! {
        @if !out.trim().is_empty() { div class="output" { (collapse::fold_lines(render_terminal(out))) } }
        @if !err.trim().is_empty() { div class="output stderr" { (render_label("stderr")) (collapse::fold_lines(render_terminal(err.trim_matches('\n')))) } }
        @if out.trim().is_empty() && err.trim().is_empty() { p class="muted" { "no output" } }
    }
}

/// The state of a background task.
struct BackgroundTask {
    status: Option<String>,
    /// The exit code. `None` if the task has not ended or it is unknown.
    exit: Option<String>,
    /// The command, or the description of a subagent.
    command: Option<String>,
    /// The standard output, or the whole result if it has no tags.
    out: String,
    /// The standard error output.
    err: String,
}

impl BackgroundTask {
    /// Reads the state from `toolUseResult`, else from the tags in the text of the result.
    fn read(view: &CallView<'_>, text: &str) -> BackgroundTask {
        let null = Value::Null;
        let meta = view.context.result_meta.as_ref().unwrap_or(&null);
        let meta = meta.get("task").unwrap_or(meta);
        let either = |field: &str, name: &str| {
            str_field(meta, field)
                .or_else(|| extract_tag(text, name))
                .map(|text| text.trim_matches('\n').to_owned())
        };
        let out = either("stdout", "stdout")
            .or_else(|| either("output", "output"))
            .or_else(|| either("result", "result"));
        let is_tagged = text.trim_start().starts_with('<') || view.context.result_meta.is_some();
        BackgroundTask {
            status: either("status", "status"),
            exit: id_field(meta, "exitCode").or_else(|| extract_tag(text, "exit_code").map(str::to_owned)),
            command: str_field(meta, "command").or_else(|| str_field(meta, "description")).map(str::to_owned),
            out: out.unwrap_or_else(|| if is_tagged { String::new() } else { text.to_owned() }),
            err: either("stderr", "stderr").or_else(|| either("error", "error")).unwrap_or_default(),
        }
    }
}

/// Adds the command or the id of the background task, its exit code or status, and the number of lines of its output.
fn fill_output_headline(view: &CallView<'_>, headline: &mut CallHeadline) {
    let task = BackgroundTask::read(view, view.outcome().text().unwrap_or_default());
    match (&task.command, view.first_input_str(&["bash_id", "task_id", "agentId", "shell_id"])) {
        (Some(command), _) => headline.push_code(command),
        (None, Some(id)) => headline.push_muted(id),
        _ => {}
    }
    match task.exit.as_deref() {
        Some("0") => headline.push_success("exit 0"),
        Some(code) => headline.push_failure(format!("exit {}", truncate_line(code, 8))),
        None => {
            if let Some(status) = &task.status {
                headline.push_stat(truncate_line(status, 20));
            }
        }
    }
    push_line_count(headline, &task.out);
}

fn render_output_input(view: &CallView<'_>) -> Markup {
    FieldList::default().fields_except(&view.input, &["block"]).render()
}

fn render_output_result(view: &CallView<'_>, text: &str) -> Markup {
    let task = BackgroundTask::read(view, text);
    html! {
        (FieldList::default().text("status", task.status.as_deref()).text("exit code", task.exit.as_deref()).render())
        @if let Some(command) = &task.command { div class="command" { (collapse::fold_lines(render_code(command, Language::from_name("bash"), None))) } }
        (render_output(&task.out, &task.err))
    }
}

fn fill_kill_headline(view: &CallView<'_>, headline: &mut CallHeadline) {
    if let Some(id) = view.first_input_str(&["shell_id", "task_id", "bash_id"]) {
        headline.push_muted(id);
    }
    if let Some(command) = view.result_meta_str("command") {
        headline.push_code(command);
    }
}

fn render_kill_result(view: &CallView<'_>, text: &str) -> Markup {
    let parsed: Value = serde_json::from_str(text).unwrap_or_default();
    let message = view.result_meta_str("message").or_else(|| str_field(&parsed, "message")).unwrap_or(text);
    collapse::fold_lines(render_terminal(message))
}
