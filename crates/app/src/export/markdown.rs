//! A conversation as GitHub-flavoured markdown: a heading per turn, prompts as quotations, answers as they are.

use rethread_engine::core::entry::EntryRole;
use rethread_engine::core::turn::{Prompt, ToolCall, Turn, TurnPart};
use rethread_engine::ops::{PathRelation, SessionView, ToldTurn};

use super::detail::Detail;
use super::options::ExportContext;
use super::sanitize::{behind, code, fenced, prose, words};
use crate::html::session::span;
use crate::text::folder::git_branch;
use crate::text::outcome::call_status;
use crate::text::summary::{self, Shown, gist};
use crate::text::summed;
use crate::text::time::Clock;

/// How many letters of an input the line of a call shows.
const WIDTH: usize = 200;

/// Writes what stands before the turns.
pub(super) fn head(reading: &SessionView, around: &ExportContext<'_>) -> String {
    let session = &reading.session;
    let sketch = &session.sketch;
    let title = words(&session.title.text);
    let title = if title.is_empty() { "(nothing was said)".to_owned() } else { title };
    let folder = (around.tilde)(sketch.cwd.as_deref().unwrap_or_default());
    let branch = git_branch(sketch.git_branch.as_deref());
    let models: Vec<String> = sketch.models.iter().map(|model| words(model)).collect();
    let facts = [
        Some(format!("session {}", code(&session.id))),
        Some(folder).filter(|folder| !folder.is_empty()).map(|folder| format!("in {}", code(&folder))),
        branch.map(|branch| format!("git branch {}", code(&branch))),
        span(sketch, &Clock::utc()).map(|span| format!("{span}, times in UTC")),
        (!models.is_empty()).then(|| models.join(", ")),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().map(|fact| format!("- {fact}")).collect();
    format!("# {title}\n\n{}\n", facts.join("\n"))
}

/// Writes a turn, of which what shall not be told was taken out before; nothing where nothing is left of what stands outside of
/// turns.
pub(crate) fn turn(told: &ToldTurn, detail: Detail, folder: &str) -> String {
    let turn = &told.turn;
    let mut pieces = Vec::new();
    pieces.extend(turn.prompt.as_ref().map(asked));
    let mut calls = Vec::new();
    for piece in &turn.parts {
        if let TurnPart::Tool(call) = &piece.part {
            calls.push(tool(call, detail, folder));
            continue;
        }
        pieces.extend(flush(&mut calls));
        pieces.extend(part(&piece.part));
    }
    pieces.extend(flush(&mut calls));
    if told.no.is_none() && pieces.is_empty() {
        return String::new();
    }
    pieces.extend(foot(turn).filter(|_| detail.tells_sums()));
    pieces.insert(0, heading(told));
    format!("\n{}\n", pieces.join("\n\n"))
}

/// Calls that follow each other are one list.
fn flush(calls: &mut Vec<String>) -> Option<String> {
    (!calls.is_empty()).then(|| std::mem::take(calls).join("\n"))
}

fn heading(told: &ToldTurn) -> String {
    let name = told.no.map_or_else(|| "Before the first prompt".to_owned(), |no| format!("Turn {no}"));
    let standing = match told.standing {
        PathRelation::OnPath => None,
        PathRelation::Compacted => Some("before a compaction".to_owned()),
        PathRelation::Aside => Some("on another branch".to_owned()),
    };
    let time = told.turn.from.map(|from| Clock::utc().second(from, None));
    let below: Vec<String> = [time, standing].into_iter().flatten().collect();
    let below = if below.is_empty() { String::new() } else { format!("\n\n*{}*", below.join(", ")) };
    format!("## {name}{below}")
}

fn asked(prompt: &Prompt) -> String {
    let said = match prompt.voice {
        EntryRole::Command => code(&prompt.text),
        EntryRole::Shell => fenced(&prompt.text, "sh"),
        _ => prose(&prompt.text),
    };
    let media: Vec<String> =
        summary::media(&prompt.media).iter().map(|media| format!("\n\n\\[{}\\]", words(media))).collect();
    behind("> ", &format!("**You**\n\n{said}{}", media.concat()))
}

fn part(part: &TurnPart) -> Option<String> {
    let some = |text: &str| !text.trim().is_empty();
    Some(match part {
        TurnPart::Text(text) | TurnPart::Queued(text) | TurnPart::Output(text) if !some(text) => return None,
        TurnPart::Text(text) => prose(text),
        TurnPart::Thinking(text) if some(text) => folded("Thinking", &prose(text)),
        TurnPart::Thinking(_) => "*thought, and did not say what*".to_owned(),
        TurnPart::Tool(_) => return None,
        TurnPart::Queued(text) => behind("> ", &format!("**You**, meanwhile\n\n{}", prose(text))),
        TurnPart::Command(text) => behind("> ", &format!("**You**\n\n{}", code(text))),
        TurnPart::Output(text) => fenced(text, "text"),
        TurnPart::Interrupt(_) => "*stopped by the user*".to_owned(),
        TurnPart::Notice(text) => folded("Notice", &fenced(text, "text")),
        TurnPart::Meta(text) => folded("Client", &fenced(text, "text")),
        TurnPart::Compaction { trigger, before, after, micro } => {
            compaction(trigger, *before, *after, *micro)
        }
        TurnPart::Recap(text) => folded("The summary that stands for what was before", &prose(text)),
        TurnPart::Error(text) => behind("> ", &format!("**Error**\n\n{}", fenced(text, "text"))),
        TurnPart::Other(text) => fenced(text, "json"),
    })
}

fn compaction(trigger: &str, before: Option<u64>, after: Option<u64>, micro: bool) -> String {
    let mut known = vec![summed::compaction(micro).to_owned()];
    known.extend(summed::sizes(trigger, before, after).iter().map(|fact| words(fact)));
    format!("*{}*", known.join(" · "))
}

/// Puts text behind a line that unfolds it; the text is safe and closes what it opens.
fn folded(name: &str, text: &str) -> String {
    format!("<details><summary>{name}</summary>\n\n{text}\n\n</details>")
}

/// Writes a call: its line, and all of it where that is wanted.
fn tool(call: &ToolCall, detail: Detail, folder: &str) -> String {
    let name = if call.name.is_empty() { "(result without a call)".to_owned() } else { words(&call.name) };
    let gist: String = gist(call, folder).chars().take(WIDTH).collect();
    let mut line = format!("- **{name}** {}", code(&gist)).trim_end().to_owned();
    if let Some(ending) = call_status(call) {
        line.push_str(&format!(" · {ending}"));
    }
    if detail < Detail::Everything {
        return line;
    }
    let shown = summary::input(call);
    let changes = shown.iter().any(|line| !matches!(line, Shown::Plain(_)));
    let row = |shown: &Shown| match shown {
        Shown::Plain(text) if changes => format!("  {text}"),
        Shown::Plain(text) => text.clone(),
        Shown::Old(text) => format!("- {text}"),
        Shown::New(text) => format!("+ {text}"),
    };
    let input = shown.iter().map(row).collect::<Vec<_>>().join("\n");
    let result = call.result.as_ref();
    let blocks = [
        Some(input)
            .filter(|input| !input.trim().is_empty())
            .map(|input| fenced(&input, if changes { "diff" } else { "" })),
        result.filter(|result| !result.text.trim().is_empty()).map(|result| fenced(&result.text, "text")),
    ];
    for block in blocks.into_iter().flatten() {
        line.push_str("\n\n");
        line.push_str(&behind("  ", &block));
    }
    for media in result.iter().flat_map(|result| summary::media(&result.media)) {
        line.push_str(&format!("\n\n  \\[{}\\]", words(&media)));
    }
    line
}

/// Says what a turn came to.
fn foot(turn: &Turn) -> Option<String> {
    let known: Vec<String> = summed::turn_footer(turn).iter().map(|fact| words(fact)).collect();
    (!known.is_empty()).then(|| format!("*{}*", known.join(" · ")))
}
