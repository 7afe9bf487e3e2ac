//! Shell commands, what they print later, and their end.

use maud::{Markup, html};
use rethread_engine::core::turn::tag;
use serde_json::Value;

use super::block::{Rows, label, short};
use super::call_view::{CallView, label as id_of, words};
use super::collapse;
use super::headline::CallHeadline;
use super::outcome::Outcome;
use super::render::Renderer;
use crate::html::text::{Language, code, terminal};
use crate::text::figures;

/// A command of a shell.
pub(super) const BASH: Renderer = Renderer {
    kind: "shell",
    gist: command_gist,
    input: |matter| command(matter, "bash"),
    result: command_result,
};

/// A command of PowerShell.
pub(super) const POWERSHELL: Renderer = Renderer { input: |matter| command(matter, "powershell"), ..BASH };

/// What a command or agent in the background printed so far.
pub(super) const OUTPUT: Renderer =
    Renderer { kind: "shell", gist: output_gist, input: output_input, result: output_result };

/// The end of something in the background.
pub(super) const KILL: Renderer =
    Renderer { kind: "stop", gist: kill_gist, input: |_| html! {}, result: kill_result };

fn command_gist(matter: &CallView<'_>, gist: &mut CallHeadline) {
    if let Some(command) = matter.input_str("command") {
        gist.code(command);
    }
    if let Some(description) = matter.input_str("description") {
        gist.aside(description);
    }
    if let Some(id) = matter.noted_words("backgroundTaskId") {
        gist.figure(format!("background {}", short(id, 24)));
    }
    if matter.result_meta("interrupted").and_then(Value::as_bool) == Some(true) {
        gist.bad("interrupted");
    }
    match matter.outcome() {
        Outcome::Failed(words) => {
            if let Some(code) = exit_code(words) {
                gist.bad(format!("exit {code}"));
            }
        }
        Outcome::Fine(text) => match matter.noted_words("returnCodeInterpretation") {
            Some(meaning) => gist.figure(short(meaning, 40)),
            None => count_lines(gist, matter.noted_words("stdout").unwrap_or(text)),
        },
        _ => {}
    }
}

/// Says how many lines there are, where there are enough to wonder.
fn count_lines(gist: &mut CallHeadline, text: &str) {
    let count = text.trim_end().lines().count();
    if count > 1 {
        gist.figure(figures::things(count as u64, "line"));
    }
}

/// Reads the code that stands before the output of a command that failed.
fn exit_code(words: &str) -> Option<i64> {
    let rest = words.trim_start().strip_prefix("Exit code ")?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len());
    rest[..end].parse().ok()
}

fn command(matter: &CallView<'_>, language: &str) -> Markup {
    let Some(command) = matter.input_str("command") else { return super::render::as_it_stands(matter) };
    let timeout = matter.asked_number("timeout").map(figures::duration);
    let background = matter.is_asked("run_in_background").then_some("yes");
    let known = ["command", "description", "timeout", "run_in_background"];
    let rows = Rows::default()
        .words("at most", timeout.as_deref())
        .words("in the background", background)
        .fields_but(&matter.input, &known);
    html! {
        @if let Some(description) = matter.input_str("description") { p class="said" { (crate::text::clean::text(description)) } }
        div class="command" { (collapse::lines(code(command, Language::named(language), None))) }
        (rows.draw())
    }
}

fn command_result(matter: &CallView<'_>, text: &str) -> Markup {
    let noted = |name| matter.result_meta(name).and_then(Value::as_str);
    let (out, err) = match (noted("stdout"), noted("stderr")) {
        // What the note holds of a result that is kept elsewhere may be longer than the preview.
        (Some(out), err) if !(out.is_empty() && err.unwrap_or_default().is_empty()) => {
            (out, err.unwrap_or_default())
        }
        _ => (text, ""),
    };
    let meaning = matter.noted_words("returnCodeInterpretation");
    html! {
        (printed(out, err))
        @if let Some(meaning) = meaning { p class="quiet" { (short(meaning, 120)) } }
    }
}

/// Draws what was printed, errors apart.
fn printed(out: &str, err: &str) -> Markup {
    html! {
        @if !out.trim().is_empty() { div class="output" { (collapse::lines(terminal(out))) } }
        @if !err.trim().is_empty() { div class="output stderr" { (label("stderr")) (collapse::lines(terminal(err.trim_matches('\n')))) } }
        @if out.trim().is_empty() && err.trim().is_empty() { p class="quiet" { "no output" } }
    }
}

/// What the client knows of something in the background.
struct Later {
    status: Option<String>,
    exit: Option<String>,
    about: Option<String>,
    out: String,
    err: String,
}

impl Later {
    /// Reads it from the note, else from the tags of the text.
    fn read(matter: &CallView<'_>, text: &str) -> Later {
        let nothing = Value::Null;
        let note = matter.around.noted.as_ref().unwrap_or(&nothing);
        let note = note.get("task").unwrap_or(note);
        let either = |field: &str, name: &str| {
            words(note, field).or_else(|| tag(text, name)).map(|words| words.trim_matches('\n').to_owned())
        };
        let out = either("stdout", "stdout")
            .or_else(|| either("output", "output"))
            .or_else(|| either("result", "result"));
        let is_tagged = text.trim_start().starts_with('<') || matter.around.noted.is_some();
        Later {
            status: either("status", "status"),
            exit: id_of(note, "exitCode").or_else(|| tag(text, "exit_code").map(str::to_owned)),
            about: words(note, "command").or_else(|| words(note, "description")).map(str::to_owned),
            out: out.unwrap_or_else(|| if is_tagged { String::new() } else { text.to_owned() }),
            err: either("stderr", "stderr").or_else(|| either("error", "error")).unwrap_or_default(),
        }
    }
}

fn output_gist(matter: &CallView<'_>, gist: &mut CallHeadline) {
    let later = Later::read(matter, matter.outcome().words().unwrap_or_default());
    match (&later.about, matter.asked_any(&["bash_id", "task_id", "agentId", "shell_id"])) {
        (Some(about), _) => gist.code(about),
        (None, Some(id)) => gist.aside(id),
        _ => {}
    }
    match later.exit.as_deref() {
        Some("0") => gist.good("exit 0"),
        Some(code) => gist.bad(format!("exit {}", short(code, 8))),
        None => {
            if let Some(status) = &later.status {
                gist.figure(short(status, 20));
            }
        }
    }
    count_lines(gist, &later.out);
}

fn output_input(matter: &CallView<'_>) -> Markup {
    Rows::default().fields_but(&matter.input, &["block"]).draw()
}

fn output_result(matter: &CallView<'_>, text: &str) -> Markup {
    let later = Later::read(matter, text);
    html! {
        (Rows::default().words("status", later.status.as_deref()).words("exit code", later.exit.as_deref()).draw())
        @if let Some(about) = &later.about { div class="command" { (collapse::lines(code(about, Language::named("bash"), None))) } }
        (printed(&later.out, &later.err))
    }
}

fn kill_gist(matter: &CallView<'_>, gist: &mut CallHeadline) {
    if let Some(id) = matter.asked_any(&["shell_id", "task_id", "bash_id"]) {
        gist.aside(id);
    }
    if let Some(command) = matter.noted_words("command") {
        gist.code(command);
    }
}

fn kill_result(matter: &CallView<'_>, text: &str) -> Markup {
    let parsed: Value = serde_json::from_str(text).unwrap_or_default();
    let message = matter.noted_words("message").or_else(|| words(&parsed, "message")).unwrap_or(text);
    collapse::lines(terminal(message))
}
