//! Formats a session as plain text, 100 columns wide.

use std::io::{self, Write};

use rethread_engine::core::entry::EntryRole;
use rethread_engine::core::tree::PathRelation;
use rethread_engine::core::turn::{Media, ToolCall, Turn, TurnPart};
use rethread_engine::ops::read::SessionView;
use rethread_engine::ops::show::ShownTurn;
use unicode_width::UnicodeWidthStr;

use super::detail::Detail;
use super::options::ExportContext;
use crate::html::session::format_session_span;
use crate::text::layout::truncate_to_width;
use crate::text::layout::{join_facts, split_block, wrap_text};
use crate::text::outcome::call_status;
use crate::text::session::git_branch_label;
use crate::text::summary::{self, InputLine, summarize_call};
use crate::text::time::Clock;
use crate::text::{clean, entry};

/// The width in columns.
const WIDTH: usize = 100;

/// Writes lines of text.
struct TextWriter<'a> {
    out: &'a mut dyn Write,
    /// Whether the last line is empty. `None` before the first line.
    is_last_empty: Option<bool>,
}

/// Formats the title and the facts of the session: id, folder, git branch, time span in UTC and models. `scope` states
/// which turns follow.
pub(super) fn format_header(view: &SessionView, scope: &str, context: &ExportContext<'_>) -> String {
    let session = &view.session;
    let info = &session.info;
    let title = clean::line(&session.title.text);
    let title = if title.is_empty() { "(no messages)" } else { &title };
    let mut header = Vec::new();
    let mut writer = TextWriter::new(&mut header);
    let branch = git_branch_label(info.git_branch.as_deref());
    let folder = (context.format_path)(info.cwd.as_deref().unwrap_or_default());
    let facts: Vec<String> = [
        Some(clean::line(&session.id)),
        Some(folder).filter(|folder| !folder.is_empty()),
        branch.map(|branch| format!("git {branch}")),
        format_session_span(info, &Clock::utc()).map(|span| format!("{span}, times in UTC")),
    ]
    .into_iter()
    .flatten()
    .chain(info.models.iter().map(|model| clean::line(model)))
    .chain(Some(scope.to_owned()).filter(|scope| !scope.is_empty()))
    .chain(context.masked.clone())
    .collect();
    // Writing to memory cannot fail.
    let _ = writer.add_lines(wrap_text(title, "", WIDTH)).and_then(|()| writer.add_facts(&facts, ""));
    String::from_utf8(header).unwrap_or_default()
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
    if shown.number.is_none() && turn.prompt.is_none() && turn.parts.is_empty() {
        return Ok(());
    }
    let mut writer = TextWriter::new(out);
    writer.add_line("")?;
    writer.add_heading(shown)?;
    if let Some(prompt) = &turn.prompt {
        let mark = if matches!(prompt.role, EntryRole::Shell | EntryRole::Command) { "" } else { "> " };
        writer.add_user_text(&prompt.text, mark)?;
        writer.add_media(&prompt.media, "  ")?;
    }
    let mut after_short_call = false;
    for item in &turn.parts {
        let is_short_call = matches!(item.part, TurnPart::Tool(_)) && detail < Detail::Everything;
        if !(is_short_call && after_short_call) {
            writer.add_gap()?;
        }
        after_short_call = is_short_call;
        writer.add_part(&item.part, detail, folder)?;
    }
    if detail.includes_totals() {
        writer.add_totals(turn)?;
    }
    Ok(())
}

impl<'a> TextWriter<'a> {
    fn new(out: &'a mut dyn Write) -> TextWriter<'a> {
        TextWriter { out, is_last_empty: None }
    }

    /// Writes a line without its trailing spaces.
    fn add_line(&mut self, line: &str) -> io::Result<()> {
        self.is_last_empty = Some(line.is_empty());
        writeln!(self.out, "{}", line.trim_end())
    }

    fn add_lines(&mut self, mut lines: impl Iterator<Item = String>) -> io::Result<()> {
        lines.try_for_each(|line| self.add_line(&line))
    }

    /// Adds an empty line, unless the last line is empty or there is none.
    fn add_gap(&mut self) -> io::Result<()> {
        if self.is_last_empty == Some(false) { self.add_line("") } else { Ok(()) }
    }

    /// Adds a horizontal rule with the number of a turn, its relation to the exported branch, and its time.
    fn add_heading(&mut self, shown: &ShownTurn) -> io::Result<()> {
        let name =
            shown.number.map_or_else(|| "before the first prompt".to_owned(), |number| format!("t{number}"));
        let relation = match shown.relation {
            PathRelation::OnPath => "",
            PathRelation::Compacted => "  before compaction",
            PathRelation::OtherBranch => "  other branch",
        };
        let time = shown.turn.started_at.map(|time| format!("  {}", Clock::utc().format_second(time, None)));
        let heading = format!("── {name}{relation}{} ", time.unwrap_or_default());
        let rule = "─".repeat(WIDTH.saturating_sub(heading.width()));
        self.add_line(&(heading + &rule))
    }

    /// Adds text of the user. `mark` precedes its first line; the other lines are indented by the same width.
    fn add_user_text(&mut self, text: &str, mark: &str) -> io::Result<()> {
        let indent = " ".repeat(mark.len());
        let with_mark =
            |(idx, line): (usize, String)| format!("{}{line}", if idx == 0 { mark } else { &indent });
        self.add_lines(wrap_text(text, "", WIDTH - 2).enumerate().map(with_mark))
    }

    /// Adds facts, joined to lines. Lines break only between facts; a fact that is wider than a line is truncated.
    fn add_facts(&mut self, facts: &[String], indent: &str) -> io::Result<()> {
        let width = WIDTH - indent.len();
        let facts: Vec<String> = facts.iter().map(|fact| truncate_to_width(fact, width)).collect();
        self.add_lines(join_facts(&facts, width).iter().map(|line| format!("{indent}{line}")))
    }

    fn add_media(&mut self, media: &[Media], indent: &str) -> io::Result<()> {
        let labels = summary::format_media(media);
        self.add_lines(labels.iter().map(|label| truncate_to_width(&format!("{indent}[{label}]"), WIDTH)))
    }

    /// Adds preformatted text and puts `indent` before each line. Lines wider than [`WIDTH`] are split, none are joined.
    fn add_block(&mut self, text: &str, indent: &str) -> io::Result<()> {
        self.add_lines(split_block(text, indent, WIDTH))
    }

    /// Adds a part of a turn. Tool calls show input and result only at [`Detail::Everything`].
    fn add_part(&mut self, part: &TurnPart, detail: Detail, folder: &str) -> io::Result<()> {
        match part {
            TurnPart::Text(text) => self.add_lines(wrap_text(text, "  ", WIDTH)),
            TurnPart::Thinking(text) => {
                self.add_line("  ∴ thinking")?;
                self.add_lines(wrap_text(text, "    ", WIDTH))
            }
            TurnPart::Tool(call) => self.add_call(call, detail, folder),
            TurnPart::Queued(text) => self.add_user_text(text, "> "),
            TurnPart::Command(text) => self.add_user_text(text, ""),
            TurnPart::Output(text) => self.add_block(text, "  "),
            TurnPart::Interrupt(_) => self.add_line("  ■ interrupted by the user"),
            TurnPart::Notification(text) => self.add_note("notice", text),
            TurnPart::Meta(text) => self.add_note("client", text),
            TurnPart::Compaction { trigger, before, after, micro } => {
                let mut facts = vec![format!("╌╌ {}", entry::compaction_label(*micro))];
                facts.extend(entry::compaction_facts(trigger, *before, *after));
                self.add_facts(&facts, "")
            }
            TurnPart::CompactSummary(text) => {
                self.add_line("  summary that replaces the compacted turns")?;
                self.add_lines(wrap_text(text, "  │ ", WIDTH))
            }
            TurnPart::Error(text) => self.add_lines(wrap_text(&format!("error: {text}"), "  ✗ ", WIDTH)),
            TurnPart::Other(text) => self.add_note("block", text),
        }
    }

    /// Adds a label and, indented below it, text that is not part of the conversation.
    fn add_note(&mut self, label: &str, text: &str) -> io::Result<()> {
        self.add_line(&format!("  · {label}:"))?;
        self.add_block(text, "    ")
    }

    /// Adds a tool call: its summary, and at [`Detail::Everything`] also its input and result.
    fn add_call(&mut self, call: &ToolCall, detail: Detail, folder: &str) -> io::Result<()> {
        let name =
            if call.name.is_empty() { "(result without a call)".to_owned() } else { clean::line(&call.name) };
        let status = match call_status(call) {
            None => "",
            Some("no result") => "  no result",
            Some("failed") => "  ✗",
            Some(_) => "  ✗ by the user",
        };
        let name = truncate_to_width(&name, WIDTH / 2);
        let summary_width = WIDTH.saturating_sub(4 + name.width() + 2 + status.width());
        let summary_text = truncate_to_width(&summarize_call(call, folder), summary_width);
        self.add_line(&format!("  ● {name}  {summary_text}{status}"))?;
        if detail < Detail::Everything {
            return Ok(());
        }
        if summary::is_long_input(call) {
            self.add_block(&call.input, "    ")?;
        }
        for line in summary::split_input(call) {
            let (mark, text) = match line {
                InputLine::Plain(text) => ("", text),
                InputLine::Old(text) => ("- ", text),
                InputLine::New(text) => ("+ ", text),
            };
            self.add_block(&format!("{mark}{text}"), "    ")?;
        }
        let Some(result) = &call.result else { return Ok(()) };
        self.add_block(&result.text, "    │ ")?;
        self.add_media(&result.media, "    │ ")
    }

    /// Adds the totals of a turn: models, responses, tokens and time. Adds nothing if there was no response.
    fn add_totals(&mut self, turn: &Turn) -> io::Result<()> {
        let facts = entry::build_turn_footer(turn);
        if facts.is_empty() {
            return Ok(());
        }
        self.add_gap()?;
        self.add_facts(&facts, "  ")
    }
}
