//! Formats a session as GitHub-flavoured markdown: a heading per turn, prompts as quotations, answers unchanged.

use std::io::{self, Write};

use rethread_engine::core::entry::EntryRole;
use rethread_engine::core::tree::PathRelation;
use rethread_engine::core::turn::{Prompt, ToolCall, Turn, TurnPart};
use rethread_engine::ops::read::SessionView;
use rethread_engine::ops::show::ShownTurn;

use super::detail::Detail;
use super::markdown_block::MarkdownBlock;
use super::options::ExportContext;
use super::sanitize::{escape_line, format_code_span, format_fenced_block};
use crate::html::session::format_session_span;
use crate::text::entry;
use crate::text::outcome::call_status;
use crate::text::session::git_branch_label;
use crate::text::summary::{self, InputLine, summarize_call};
use crate::text::time::Clock;

/// Maximum number of characters of the summary of a call.
const MAX_SUMMARY_CHARS: usize = 200;

/// Formats the title and the facts of the session: id, folder, git branch, time span in UTC and models.
/// `scope` states which turns follow.
pub(super) fn format_header(view: &SessionView, scope: &str, context: &ExportContext<'_>) -> String {
    let session = &view.session;
    let info = &session.info;
    let title = escape_line(&session.title.text);
    let title = if title.is_empty() { "(no messages)".to_owned() } else { title };
    let folder = (context.format_path)(info.cwd.as_deref().unwrap_or_default());
    let branch = git_branch_label(info.git_branch.as_deref());
    let models: Vec<String> = info.models.iter().map(|model| escape_line(model)).collect();
    let facts = [
        Some(format!("session {}", format_code_span(&session.id))),
        Some(folder)
            .filter(|folder| !folder.is_empty())
            .map(|folder| format!("in {}", format_code_span(&folder))),
        branch.map(|branch| format!("git branch {}", format_code_span(&branch))),
        format_session_span(info, &Clock::utc()).map(|span| format!("{span}, times in UTC")),
        (!models.is_empty()).then(|| models.join(", ")),
        Some(scope.to_owned()).filter(|scope| !scope.is_empty()),
        context.masked.clone(),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().map(|fact| format!("- {fact}")).collect();
    format!("# {title}\n\n{}\n", facts.join("\n"))
}

/// Writes a turn that was already reduced to the level of detail. Paths below `folder` are shown relative to it.
/// Writes nothing for lines outside of turns that have no content.
pub(crate) fn write_turn(
    shown: &ShownTurn,
    detail: Detail,
    folder: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let turn = &shown.turn;
    let mut blocks = Vec::new();
    blocks.extend(turn.prompt.as_ref().map(format_prompt));
    let mut calls = Vec::new();
    for item in &turn.parts {
        if let TurnPart::Tool(call) = &item.part {
            calls.push(format_call(call, detail, folder));
            continue;
        }
        blocks.extend(take_call_list(&mut calls));
        blocks.extend(format_part(&item.part));
    }
    blocks.extend(take_call_list(&mut calls));
    if shown.number.is_none() && blocks.is_empty() {
        return Ok(());
    }
    blocks.extend(format_totals(turn).filter(|_| detail.includes_totals()).map(MarkdownBlock::from));
    write!(out, "\n{}", format_heading(shown))?;
    for block in blocks {
        out.write_all(b"\n\n")?;
        block.write(out)?;
    }
    out.write_all(b"\n")
}

/// Joins consecutive formatted calls into one list and clears `calls`. Returns `None` if there are none.
fn take_call_list<'t>(calls: &mut Vec<MarkdownBlock<'t>>) -> Option<MarkdownBlock<'t>> {
    let mut calls = std::mem::take(calls).into_iter();
    let first = calls.next()?;
    Some(calls.fold(first, |list, call| list.push("\n").join(call)))
}

/// Formats the heading of a turn, with its time and its relation to the exported branch.
fn format_heading(shown: &ShownTurn) -> String {
    let name =
        shown.number.map_or_else(|| "Before the first prompt".to_owned(), |number| format!("Turn {number}"));
    let relation = match shown.relation {
        PathRelation::OnPath => None,
        PathRelation::Compacted => Some("before a compaction".to_owned()),
        PathRelation::OtherBranch => Some("on another branch".to_owned()),
    };
    let time = shown.turn.started_at.map(|time| Clock::utc().format_second(time, None));
    let facts: Vec<String> = [time, relation].into_iter().flatten().collect();
    let facts = if facts.is_empty() { String::new() } else { format!("\n\n*{}*", facts.join(", ")) };
    format!("## {name}{facts}")
}

/// Formats a prompt as a quotation, followed by the labels of its attachments.
fn format_prompt(prompt: &Prompt) -> MarkdownBlock<'_> {
    let text = match prompt.role {
        EntryRole::Command => MarkdownBlock::from(format_code_span(&prompt.text)),
        EntryRole::Shell => MarkdownBlock::fenced(&prompt.text, "sh"),
        _ => MarkdownBlock::prose(&prompt.text),
    };
    let media: Vec<String> = summary::format_media(&prompt.media)
        .iter()
        .map(|media| format!("\n\n\\[{}\\]", escape_line(media)))
        .collect();
    MarkdownBlock::from("**You**\n\n").join(text).push(&media.concat()).quote()
}

/// Formats a part of a turn. Returns `None` for blank text, queued prompts and output, and for tool calls, which
/// [`write_turn`] groups into lists.
fn format_part(part: &TurnPart) -> Option<MarkdownBlock<'_>> {
    let has_text = |text: &str| !text.trim().is_empty();
    Some(match part {
        TurnPart::Text(text) | TurnPart::Queued(text) | TurnPart::Output(text) if !has_text(text) => {
            return None;
        }
        TurnPart::Text(text) => MarkdownBlock::prose(text),
        TurnPart::Thinking(text) if has_text(text) => wrap_in_details("Thinking", MarkdownBlock::prose(text)),
        TurnPart::Thinking(_) => "*Thinking (not recorded)*".into(),
        TurnPart::Tool(_) => return None,
        TurnPart::Queued(text) => {
            let label = MarkdownBlock::from("**You**, queued while the model was working\n\n");
            label.join(MarkdownBlock::prose(text)).quote()
        }
        TurnPart::Command(text) => {
            MarkdownBlock::from(format!("**You**\n\n{}", format_code_span(text))).quote()
        }
        TurnPart::Output(text) => MarkdownBlock::fenced(text, "text"),
        TurnPart::Interrupt(_) => "*interrupted by the user*".into(),
        TurnPart::Notification(text) => wrap_in_details("Notice", MarkdownBlock::fenced(text, "text")),
        TurnPart::Meta(text) => wrap_in_details("Client", MarkdownBlock::fenced(text, "text")),
        TurnPart::Compaction { trigger, before, after, micro } => {
            format_compaction(trigger, *before, *after, *micro).into()
        }
        TurnPart::CompactSummary(text) => {
            wrap_in_details("Summary that replaces the compacted turns", MarkdownBlock::prose(text))
        }
        TurnPart::Error(text) => {
            MarkdownBlock::from("**Error**\n\n").join(MarkdownBlock::fenced(text, "text")).quote()
        }
        TurnPart::Other(text) => MarkdownBlock::fenced(text, "json"),
    })
}

fn format_compaction(trigger: &str, before: Option<u64>, after: Option<u64>, micro: bool) -> String {
    let mut facts = vec![entry::compaction_label(micro).to_owned()];
    facts.extend(entry::compaction_facts(trigger, before, after).iter().map(|fact| escape_line(fact)));
    format!("*{}*", facts.join(" · "))
}

/// Wraps text in a collapsed `<details>` element with the label `name`. The text must be sanitized.
fn wrap_in_details<'t>(name: &str, text: MarkdownBlock<'t>) -> MarkdownBlock<'t> {
    let start = MarkdownBlock::from(format!("<details><summary>{name}</summary>\n\n"));
    start.join(text).push("\n\n</details>")
}

/// Formats a call as a list item: its summary, and at [`Detail::Everything`] also its input and result.
fn format_call<'t>(call: &'t ToolCall, detail: Detail, folder: &str) -> MarkdownBlock<'t> {
    let name =
        if call.name.is_empty() { "(result without a call)".to_owned() } else { escape_line(&call.name) };
    let summary_text: String = summarize_call(call, folder).chars().take(MAX_SUMMARY_CHARS).collect();
    let mut text = format!("- **{name}** {}", format_code_span(&summary_text)).trim_end().to_owned();
    if let Some(status) = call_status(call) {
        text.push_str(&format!(" · {status}"));
    }
    let mut item = MarkdownBlock::from(text);
    if detail < Detail::Everything {
        return item;
    }
    let input_lines = summary::split_input(call);
    let is_diff = input_lines.iter().any(|line| !matches!(line, InputLine::Plain(_)));
    let format_line = |line: &InputLine| match line {
        InputLine::Plain(text) if is_diff => format!("  {text}"),
        InputLine::Plain(text) => text.clone(),
        InputLine::Old(text) => format!("- {text}"),
        InputLine::New(text) => format!("+ {text}"),
    };
    let input = input_lines.iter().map(format_line).collect::<Vec<_>>().join("\n");
    let result = call.result.as_ref();
    let result_text = result.map(|result| result.text.as_str()).filter(|text| !text.trim().is_empty());
    let blocks = [
        summary::is_long_input(call).then(|| MarkdownBlock::fenced(&call.input, "json")),
        Some(input)
            .filter(|input| !input.trim().is_empty())
            .map(|input| format_fenced_block(&input, if is_diff { "diff" } else { "" }).into()),
        result_text.map(|text| MarkdownBlock::fenced(text, "text")),
    ];
    for block in blocks.into_iter().flatten() {
        item = item.push("\n\n").join(block.prefix_lines("  "));
    }
    for media in result.iter().flat_map(|result| summary::format_media(&result.media)) {
        item = item.push(&format!("\n\n  \\[{}\\]", escape_line(&media)));
    }
    item
}

/// Formats the totals of a turn: models, responses, tokens and time. Returns `None` if it has no response.
fn format_totals(turn: &Turn) -> Option<String> {
    let facts: Vec<String> = entry::build_turn_footer(turn).iter().map(|fact| escape_line(fact)).collect();
    (!facts.is_empty()).then(|| format!("*{}*", facts.join(" · ")))
}
