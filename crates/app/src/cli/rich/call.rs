//! Tool calls in full: diffs of edits, commands, task lists, results with their colours.

use rethread_engine::core::turn::ToolCall;
use serde_json::Value;

use super::code::highlight_lines;
use super::diff::print_diff;
use super::markdown::{TextKind, render_markdown};
use super::output::print_output;
use super::page::{Margin, Page};
use super::styled::StyledText;
use crate::cli::error::CliError;
use crate::cli::out::Out;
use crate::cli::style::{BAD, GOOD, MARK, PLAIN, QUIET};
use crate::cli::{clean, summary};
use crate::content::highlight::Language;
use crate::content::task::{TaskState, parse_item};

/// Prints the input and the result of a tool call, each line after `indent`.
pub(crate) fn print_call_body(call: &ToolCall, indent: &str, out: &mut Out) -> Result<(), CliError> {
    let width = out.width();
    let mut emit = |line: &str| out.line(line);
    print_call(call, &mut Page::new(width, Margin::new(StyledText::new(PLAIN, indent)), &mut emit))
}

/// Prints the input and the result of a tool call on a page.
pub(super) fn print_call(call: &ToolCall, page: &mut Page<'_>) -> Result<(), CliError> {
    print_input(call, page)?;
    let Some(result) = &call.result else { return Ok(()) };
    page.push_margin(Margin::new(StyledText::new(QUIET, "│ ")));
    let style = if result.is_error { BAD } else { QUIET };
    print_output(&result.text, style, usize::MAX, page)?;
    for media in summary::format_media(&result.media) {
        page.print_block(&StyledText::new(QUIET, &format!("[{media}]")))?;
    }
    Ok(())
}

/// Prints the input of a call field by field.
fn print_input(call: &ToolCall, page: &mut Page<'_>) -> Result<(), CliError> {
    let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(&call.input) else {
        return print_plain(&call.input, page);
    };
    let has_old = fields.contains_key("old_string");
    for (name, value) in &fields {
        match (call.name.as_str(), name.as_str(), value) {
            ("Edit" | "MultiEdit", "new_string", Value::String(_)) if has_old => {}
            ("Edit" | "MultiEdit", "old_string" | "new_string", Value::String(_)) => {
                print_edit(fields.get("old_string"), fields.get("new_string"), page)?;
            }
            ("MultiEdit", "edits", Value::Array(edits)) => {
                edits.iter().enumerate().try_for_each(|(idx, edit)| print_part(idx, edit, page))?;
            }
            ("Write", "content", Value::String(content)) if content.is_empty() => {
                page.print_block(&StyledText::new(QUIET, "empty file"))?;
            }
            ("Write", "content", Value::String(content)) => print_diff("", content, page)?,
            ("Bash", "command", Value::String(command)) => print_command(command, page)?,
            ("TodoWrite", "todos", Value::Array(todos)) => {
                todos.iter().try_for_each(|todo| print_task(todo, page))?;
            }
            ("ExitPlanMode", "plan", Value::String(plan)) => {
                render_markdown(plan, TextKind::Answer, PLAIN, page)?;
            }
            _ => print_field(&call.name, name, value, page)?,
        }
    }
    Ok(())
}

/// Prints a field as it is written.
fn print_field(tool: &str, name: &str, value: &Value, page: &mut Page<'_>) -> Result<(), CliError> {
    let lines = summary::split_field(tool, name, value);
    lines.iter().try_for_each(|line| page.print_block(&StyledText::new(PLAIN, line.text())))
}

/// Prints one of several edits: its number, its diff and its other fields.
fn print_part(idx: usize, edit: &Value, page: &mut Page<'_>) -> Result<(), CliError> {
    page.print_block(&StyledText::new(QUIET, &format!("edit {}", idx + 1)))?;
    let Some(fields) = edit.as_object() else { return print_plain(&edit.to_string(), page) };
    let is_text = |name: &str| matches!(name, "old_string" | "new_string");
    print_edit(fields.get("old_string"), fields.get("new_string"), page)?;
    let mut others = fields.iter().filter(|(name, _)| !is_text(name));
    others.try_for_each(|(name, value)| print_field("", name, value, page))
}

fn print_plain(text: &str, page: &mut Page<'_>) -> Result<(), CliError> {
    clean::text(text).lines().try_for_each(|line| page.print_block(&StyledText::new(PLAIN, line)))
}

/// Prints the diff of an edit. A missing text is empty.
fn print_edit(old: Option<&Value>, new: Option<&Value>, page: &mut Page<'_>) -> Result<(), CliError> {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    print_diff(&text(old), &text(new), page)
}

/// Prints a shell command after `$`.
fn print_command(command: &str, page: &mut Page<'_>) -> Result<(), CliError> {
    page.push_margin(Margin::with_mark(StyledText::new(GOOD, "$ ")));
    let command = clean::text(command);
    highlight_lines(&command, Language::from_name("bash"))
        .iter()
        .try_for_each(|line| page.print_block(line))?;
    page.pop_margin()
}

/// Prints a task with the symbol of its state.
fn print_task(todo: &Value, page: &mut Page<'_>) -> Result<(), CliError> {
    let item = parse_item(todo);
    let (mark_style, style) = match item.state {
        TaskState::Done => (GOOD, QUIET),
        TaskState::InProgress => (MARK, PLAIN),
        TaskState::Open => (PLAIN, PLAIN),
        TaskState::Removed => (BAD, QUIET),
    };
    let (symbol, _) = item.state.display();
    page.push_margin(Margin::with_mark(StyledText::new(mark_style, &format!("{symbol} "))));
    page.print_prose(&StyledText::new(style, &item.text))?;
    page.pop_margin()
}
