//! Prints tool calls, on one line or in full.

use rethread_engine::core::turn::ToolCall;
use unicode_width::UnicodeWidthStr;

use super::clean;
use super::error::CliError;
use super::figures::{format_duration, group_digits};
use super::layout::split_block;
use super::out::Out;
use super::rich;
use super::style::{BAD, GOOD, PLAIN, QUIET, TOOL, paint};
use super::summary::{self, InputLine};
use super::table::truncate_to_width;

/// Prints one line about a tool call: its name, a summary of its input, its duration and whether it failed.
///
/// `failure` is the kind of failure, if known. `margin` is printed at the start of the line.
pub(crate) fn print_call_header(
    call: &ToolCall,
    failure: Option<&str>,
    folder: &str,
    margin: &str,
    out: &mut Out,
) -> Result<(), CliError> {
    let indent = margin.width();
    let result = call.result.as_ref();
    let is_failed = failure.is_some() || result.is_some_and(|result| result.is_error);
    let times = call.called_at.zip(result.and_then(|result| result.answered_at));
    let duration = times
        .and_then(|(from, to)| u64::try_from(to.0 - from.0).ok())
        .map(format_duration)
        .unwrap_or_default();
    let outcome = match result {
        None => "no result".to_owned(),
        Some(_) if is_failed => format!("{duration} ✗"),
        Some(_) => duration,
    };
    let name = if call.name.is_empty() { "(result without a call)" } else { &clean::line(&call.name) };
    let input_width = out.width().min(120).saturating_sub(indent + 4 + name.width() + 2 + outcome.width());
    let input = truncate_to_width(&summary::summarize_call(call, folder), input_width);
    let pad = " ".repeat(input_width.saturating_sub(input.width()));
    let outcome = paint(if is_failed || result.is_none() { BAD } else { QUIET }, &outcome);
    let margin = paint(QUIET, margin);
    out.line(&format!("{margin}{} {}  {input}{pad}  {outcome}", paint(TOOL, "●"), paint(TOOL, name)))?;
    Ok(())
}

/// Prints the result of a failed tool call on one truncated line. Prints nothing for other calls.
pub(crate) fn print_call_error(
    call: &ToolCall,
    failure: Option<&str>,
    indent: usize,
    out: &mut Out,
) -> Result<(), CliError> {
    let Some(result) = call.result.as_ref().filter(|result| failure.is_some() || result.is_error) else {
        return Ok(());
    };
    let text =
        result.text.trim().trim_start_matches("<tool_use_error>").trim_end_matches("</tool_use_error>");
    let line = truncate_to_width(&clean::line_start(text), out.width().min(120).saturating_sub(indent + 4));
    if line.is_empty() {
        return Ok(());
    }
    out.line(&format!("{}  {}", " ".repeat(indent), paint(BAD, &format!("↳ {line}"))))
}

/// Prints the complete input and result of a tool call, each line after `indent`.
///
/// If `rich` is set, edits become diffs, and results keep their colours.
pub(crate) fn print_call_body(
    call: &ToolCall,
    indent: &str,
    rich: bool,
    out: &mut Out,
) -> Result<(), CliError> {
    let result = call.result.as_ref().map_or("", |result| &result.text);
    if rich && rich::is_renderable(&call.input) && rich::is_renderable(result) {
        return rich::print_call_body(call, indent, out);
    }
    if summary::is_long_input(call) {
        split_block(&call.input, indent, out.width()).try_for_each(|line| out.line(&line))?;
    }
    for input_line in summary::split_input(call) {
        let (style, text) = match input_line {
            InputLine::Plain(text) => (PLAIN, text),
            InputLine::Old(text) => (BAD, format!("- {text}")),
            InputLine::New(text) => (GOOD, format!("+ {text}")),
        };
        split_block(&text, indent, out.width()).try_for_each(|line| out.line(&paint(style, &line)))?;
    }
    let Some(result) = &call.result else { return Ok(()) };
    let style = if result.is_error { BAD } else { QUIET };
    let result_indent = format!("{indent}│ ");
    let mut lines = split_block(&result.text, &result_indent, out.width());
    lines.try_for_each(|line| out.line(&paint(style, &line)))?;
    for media in summary::format_media(&result.media) {
        out.line(&paint(QUIET, &format!("{indent}│ [{media}]")))?;
    }
    Ok(())
}

/// Formats a number of tool calls: `1 call`, `1,234 calls`.
pub(crate) fn count_calls(count: usize) -> String {
    format!("{} {}", group_digits(count as u64), if count == 1 { "call" } else { "calls" })
}
