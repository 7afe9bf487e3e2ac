//! A tool call as text: one line, or all of it.

use rethread_engine::core::turn::ToolCall;
use unicode_width::UnicodeWidthStr;

use super::clean;
use super::error::CliError;
use super::figures::{count, duration};
use super::layout::block;
use super::out::Out;
use super::style::{BAD, GOOD, PLAIN, QUIET, TOOL, paint};
use super::summary::{self, Shown};
use super::table::truncate_to_width;

/// Prints the line of a call: what it does, how long it took, whether it failed.
pub(crate) fn head(
    call: &ToolCall,
    failed: Option<&str>,
    folder: &str,
    margin: &str,
    out: &mut Out,
) -> Result<(), CliError> {
    let indent = margin.width();
    let answer = call.result.as_ref();
    let is_bad = failed.is_some() || answer.is_some_and(|answer| answer.is_error);
    let took = call.called.zip(answer.and_then(|answer| answer.answered));
    let took =
        took.and_then(|(from, to)| u64::try_from(to.0 - from.0).ok()).map(duration).unwrap_or_default();
    let end = match answer {
        None => "no result".to_owned(),
        Some(_) if is_bad => format!("{took} ✗"),
        Some(_) => took,
    };
    let name = if call.name.is_empty() { "(result without a call)" } else { &clean::line(&call.name) };
    let room = out.width().min(120).saturating_sub(indent + 4 + name.width() + 2 + end.width());
    let gist = truncate_to_width(&summary::gist(call, folder), room);
    let pad = " ".repeat(room.saturating_sub(gist.width()));
    let end = paint(if is_bad || answer.is_none() { BAD } else { QUIET }, &end);
    let margin = paint(QUIET, margin);
    out.line(&format!("{margin}{} {}  {gist}{pad}  {end}", paint(TOOL, "●"), paint(TOOL, name)))?;
    Ok(())
}

/// Prints the beginning of what a failed call answered.
pub(crate) fn complaint(
    call: &ToolCall,
    failed: Option<&str>,
    indent: usize,
    out: &mut Out,
) -> Result<(), CliError> {
    let Some(answer) = call.result.as_ref().filter(|answer| failed.is_some() || answer.is_error) else {
        return Ok(());
    };
    let text =
        answer.text.trim().trim_start_matches("<tool_use_error>").trim_end_matches("</tool_use_error>");
    let line = truncate_to_width(&clean::line(text), out.width().min(120).saturating_sub(indent + 4));
    if line.is_empty() {
        return Ok(());
    }
    out.line(&format!("{}  {}", " ".repeat(indent), paint(BAD, &format!("↳ {line}"))))
}

/// Prints input and result of a call.
pub(crate) fn body(call: &ToolCall, indent: &str, out: &mut Out) -> Result<(), CliError> {
    for shown in summary::input(call) {
        let (style, text) = match shown {
            Shown::Plain(text) => (PLAIN, text),
            Shown::Old(text) => (BAD, format!("- {text}")),
            Shown::New(text) => (GOOD, format!("+ {text}")),
        };
        let (lines, _) = block(&text, indent, out.width(), usize::MAX);
        lines.iter().try_for_each(|line| out.line(&paint(style, line)))?;
    }
    let Some(answer) = &call.result else { return Ok(()) };
    let (lines, _) = block(&answer.text, &format!("{indent}│ "), out.width(), usize::MAX);
    let style = if answer.is_error { BAD } else { QUIET };
    lines.iter().try_for_each(|line| out.line(&paint(style, line)))?;
    for media in summary::media(&answer.media) {
        out.line(&paint(QUIET, &format!("{indent}│ [{media}]")))?;
    }
    Ok(())
}

/// Says how many calls there are.
pub(crate) fn calls(number: usize) -> String {
    format!("{} {}", count(number as u64), if number == 1 { "call" } else { "calls" })
}
