//! Prints turns: prompt, answer, tool calls, footer.

use rethread_engine::core::entry::{EntryRole, Timestamp};
use rethread_engine::core::tree::PathRelation;
use rethread_engine::core::turn::{ToolCall, Turn, TurnPart};
use rethread_engine::ops::show::ShownTurn;
use unicode_width::UnicodeWidthStr;

use super::args::{Detail, Show};
use super::call::{print_call_body, print_call_error, print_call_header};
use super::error::CliError;
use super::figures::{count_noun, format_duration, format_tokens};
use super::layout::{self, count_words, split_block, split_block_start, wrap_text};
use super::out::Out;
use super::rich::{Margin, Page, StyledText, TextKind, is_renderable, print_markdown, print_output};
use super::style::{BAD, MARK, NAME, PLAIN, PROMPT, QUIET, paint};
use super::summary;
use super::table::truncate_to_width;
use super::time::Clock;
use super::{clean, entry};

/// The maximum number of lines shown of command output, unless tools are shown in full.
const MAX_PREVIEW_LINES: usize = 12;

/// A group of turn parts without empty lines between them. Text always has empty lines around it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spacing {
    Text,
    Calls,
    Notes,
}

/// Prints turns one after the other.
pub(crate) struct TurnPrinter<'a> {
    tools: Detail,
    thinking: bool,
    /// Whether Markdown, edits and recorded colours are rendered.
    rich: bool,
    folder: &'a str,
    clock: &'a Clock,
    /// The start time of the previous turn that has one.
    previous_time: Option<Timestamp>,
}

impl<'a> TurnPrinter<'a> {
    /// Creates a printer for a session that was started in `folder`.
    pub(crate) fn new(args: &Show, folder: &'a str, clock: &'a Clock, out: &Out) -> TurnPrinter<'a> {
        let rich = out.is_colored() && !args.plain;
        TurnPrinter { tools: args.tools, thinking: args.thinking, rich, folder, clock, previous_time: None }
    }

    /// Prints a turn: a rule with its name and time, the prompt, the shown parts and the footer.
    pub(crate) fn print_turn(&mut self, shown: &ShownTurn, out: &mut Out) -> Result<(), CliError> {
        out.line("")?;
        self.print_rule(shown, out)?;
        if let Some(prompt) = &shown.turn.prompt {
            let mark = match prompt.role {
                EntryRole::Shell | EntryRole::Command => "",
                _ => "> ",
            };
            self.print_prompt(&prompt.text, mark, out)?;
            for media in summary::format_media(&prompt.media) {
                out.line(&paint(QUIET, &format!("  [{media}]")))?;
            }
        }
        let mut previous = shown.turn.prompt.as_ref().map(|_| Spacing::Text);
        for part in shown.turn.parts.iter().map(|item| &item.part).filter(|part| self.is_shown(part)) {
            let spacing = self.select_spacing(part);
            if previous.is_some_and(|previous| previous != spacing || spacing == Spacing::Text) {
                out.line("")?;
            }
            previous = Some(spacing);
            self.print_part(part, out)?;
        }
        self.print_footer(&shown.turn, out)
    }

    /// Prints a text of the user after a mark.
    fn print_prompt(&self, text: &str, mark: &str, out: &mut Out) -> Result<(), CliError> {
        if self.is_rich(text) && !mark.is_empty() {
            let margin = Margin::with_mark(StyledText::new(PROMPT, mark));
            return print_markdown(text, TextKind::Prompt, PROMPT, margin, out);
        }
        let lines = wrap_text(text, "", out.width().saturating_sub(2));
        for (idx, line) in lines.enumerate() {
            let mark = if idx == 0 || mark.is_empty() { mark } else { "  " };
            out.line(&if line.is_empty() { String::new() } else { paint(PROMPT, &format!("{mark}{line}")) })?;
        }
        Ok(())
    }

    /// Returns `true` if a text is rendered. Otherwise its source is printed.
    fn is_rich(&self, text: &str) -> bool {
        self.rich && is_renderable(text)
    }

    fn select_spacing(&self, part: &TurnPart) -> Spacing {
        match part {
            _ if self.tools == Detail::Full => Spacing::Text,
            TurnPart::Tool(_) | TurnPart::Thinking(_) => Spacing::Calls,
            TurnPart::Meta(_) | TurnPart::Notification(_) | TurnPart::Other(_) => Spacing::Notes,
            _ => Spacing::Text,
        }
    }

    fn is_shown(&self, part: &TurnPart) -> bool {
        match part {
            TurnPart::Tool(_) => self.tools != Detail::None,
            TurnPart::Text(text) | TurnPart::Output(text) => !text.trim().is_empty(),
            _ => true,
        }
    }

    /// Prints a horizontal rule with the name of the turn, its relation to the active path and its time.
    fn print_rule(&mut self, shown: &ShownTurn, out: &mut Out) -> Result<(), CliError> {
        let has_summary =
            shown.turn.parts.iter().any(|item| matches!(item.part, TurnPart::CompactSummary(_)));
        let name = match shown.number {
            Some(number) => format!("t{number}"),
            None if has_summary => "compaction".to_owned(),
            None => "before the first prompt".to_owned(),
        };
        let time = shown
            .turn
            .started_at
            .map(|time| self.clock.format_second(time, self.previous_time))
            .unwrap_or_default();
        self.previous_time = shown.turn.started_at.or(self.previous_time);
        let relation = match shown.relation {
            PathRelation::OnPath => "",
            PathRelation::Compacted => "before compaction",
            PathRelation::OtherBranch => "other branch",
        };
        let used_width =
            name.width() + time.width() + relation.width() + 6 + if relation.is_empty() { 0 } else { 2 };
        let rule = "─".repeat(out.width().min(100).saturating_sub(used_width));
        let relation =
            if relation.is_empty() { String::new() } else { format!("{}  ", paint(MARK, relation)) };
        out.line(&format!(
            "{} {}  {}{} {}",
            paint(QUIET, "──"),
            paint(NAME, &name),
            relation,
            paint(QUIET, &time),
            paint(QUIET, &rule)
        ))
    }

    fn print_part(&self, part: &TurnPart, out: &mut Out) -> Result<(), CliError> {
        let full = self.tools == Detail::Full;
        let max_lines = if full { usize::MAX } else { MAX_PREVIEW_LINES };
        match part {
            TurnPart::Text(text) if self.is_rich(text) => {
                let margin = Margin::new(StyledText::new(PLAIN, "  "));
                print_markdown(text, TextKind::Answer, PLAIN, margin, out)
            }
            TurnPart::Text(text) => wrap_text(text, "  ", out.width()).try_for_each(|line| out.line(&line)),
            TurnPart::Thinking(text) => self.print_thinking(text, out),
            TurnPart::Tool(_) if self.tools == Detail::None => Ok(()),
            TurnPart::Tool(call) => self.print_call(call, out),
            TurnPart::Queued(text) if self.is_rich(text) => self.print_prompt(text, "> ", out),
            TurnPart::Queued(text) => {
                let lines = wrap_text(text, "", out.width().saturating_sub(2));
                let add_mark =
                    |(idx, line): (usize, String)| format!("{}{line}", if idx == 0 { "> " } else { "  " });
                let mut lines = lines.enumerate().map(add_mark);
                lines.try_for_each(|line| out.line(&paint(PROMPT, &line)))
            }
            TurnPart::Command(text) => {
                out.line(&paint(PROMPT, &truncate_to_width(&clean::line_start(text), out.width())))
            }
            TurnPart::Output(text) => self.print_preview(text, "  ", max_lines, out),
            TurnPart::Interrupt(_) => out.line(&paint(MARK, "  ■ interrupted by the user")),
            TurnPart::Notification(text) => self.print_note("notice", text, out),
            TurnPart::Meta(text) => self.print_note("client", text, out),
            TurnPart::Compaction { trigger, before, after, micro } => {
                let label = if *micro { "old tool results cleared" } else { "compacted" };
                let mut facts = vec![format!("{label} ({})", clean::line(trigger))];
                facts.extend(before.map(|before| match after {
                    Some(after) => format!("{} → {} tokens", format_tokens(before), format_tokens(*after)),
                    None => format!("{} tokens before", format_tokens(before)),
                }));
                let facts = facts.join(", ");
                let rule = "╌".repeat(out.width().min(100).saturating_sub(facts.width() + 6));
                out.line(&paint(MARK, &format!("╌╌ {facts} {rule}")))
            }
            TurnPart::CompactSummary(text) => self.print_summary(text, out),
            TurnPart::Error(text) => {
                let text = format!("error: {text}");
                wrap_text(&text, "  ✗ ", out.width()).try_for_each(|line| out.line(&paint(BAD, &line)))
            }
            TurnPart::Other(text) => self.print_note("block", text, out),
        }
    }

    /// Prints the summary of a compaction, or its first lines unless tools are shown in full.
    fn print_summary(&self, text: &str, out: &mut Out) -> Result<(), CliError> {
        out.line(&paint(
            QUIET,
            &format!("  summary of the conversation so far, {}", count_noun(count_words(text), "word")),
        ))?;
        let mut lines = wrap_text(text, "  │ ", out.width());
        let with_bar = |line: String| if line.is_empty() { "  │".to_owned() } else { line };
        let shown_count = if self.tools == Detail::Full { usize::MAX } else { 5 };
        for line in lines.by_ref().take(shown_count) {
            out.line(&paint(QUIET, &with_bar(line)))?;
        }
        let omitted = lines.count();
        if omitted > 0 {
            let more = count_noun(omitted as u64, "more line");
            out.line(&paint(QUIET, &format!("  │ … {more} (--tools full shows all)")))?;
        }
        Ok(())
    }

    /// Prints the number of words of a thinking block, and its text if requested.
    fn print_thinking(&self, text: &str, out: &mut Out) -> Result<(), CliError> {
        let count = count_words(text);
        let label = match count {
            0 => "thinking, not stored in the file".to_owned(),
            count => format!("thinking, {}", count_noun(count, "word")),
        };
        out.line(&paint(QUIET, &format!("  ∴ {label}")))?;
        if self.thinking {
            let mut lines = wrap_text(text, "    ", out.width());
            lines.try_for_each(|line| out.line(&paint(QUIET, &line)))?;
        }
        Ok(())
    }

    /// Prints one dimmed line for a part outside the conversation, or its whole text if tools are shown in full.
    fn print_note(&self, label: &str, text: &str, out: &mut Out) -> Result<(), CliError> {
        if self.tools == Detail::Full {
            out.line(&paint(QUIET, &format!("  · {label}:")))?;
            return self.print_preview(text, "    ", usize::MAX, out);
        }
        let line =
            truncate_to_width(&format!("  · {label}: {}", entry::notice_line(text)), out.width().min(100));
        out.line(&paint(QUIET, &line))
    }

    /// Prints the first `max_lines` lines of a text dimmed, and the number of omitted lines.
    fn print_preview(
        &self,
        text: &str,
        indent: &str,
        max_lines: usize,
        out: &mut Out,
    ) -> Result<(), CliError> {
        if max_lines == usize::MAX && !self.is_rich(text) {
            let mut lines = split_block(text, indent, out.width());
            return lines.try_for_each(|line| out.line(&paint(QUIET, &line)));
        }
        let omitted = if self.is_rich(text) {
            let width = out.width();
            let mut emit = |line: &str| out.line(line);
            let margin = Margin::new(StyledText::new(PLAIN, indent));
            print_output(text, QUIET, max_lines, &mut Page::new(width, margin, &mut emit))?
        } else {
            let (lines, omitted) = split_block_start(text, indent, out.width(), max_lines);
            lines.iter().try_for_each(|line| out.line(&paint(QUIET, line)))?;
            omitted
        };
        if omitted > 0 {
            let more = count_noun(omitted as u64, "more line");
            out.line(&paint(QUIET, &format!("{indent}… {more} (--tools full shows all)")))?;
        }
        Ok(())
    }

    fn print_call(&self, call: &ToolCall, out: &mut Out) -> Result<(), CliError> {
        print_call_header(call, None, self.folder, "  ", out)?;
        match self.tools {
            Detail::Full => print_call_body(call, "    ", self.rich, out),
            _ => print_call_error(call, None, 2, out),
        }
    }

    fn print_footer(&self, turn: &Turn, out: &mut Out) -> Result<(), CliError> {
        if turn.responses == 0 {
            return Ok(());
        }
        let usage = &turn.usage;
        let mut facts: Vec<String> = turn.models.iter().map(|model| clean::line(model)).collect();
        let span =
            turn.started_at.zip(turn.ended_at).and_then(|(from, to)| u64::try_from(to.0 - from.0).ok());
        facts.extend(turn.duration_ms.or(span.filter(|span| *span > 0)).map(format_duration));
        facts.push(format!("{} in, {} out", format_tokens(usage.input), format_tokens(usage.output)));
        if usage.cache_read + usage.cache_write > 0 {
            facts.push(format!(
                "cache {} read, {} written",
                format_tokens(usage.cache_read),
                format_tokens(usage.cache_write)
            ));
        }
        out.line("")?;
        let lines = layout::join_facts(&facts, out.width() - 2);
        lines.iter().try_for_each(|line| out.line(&paint(QUIET, &format!("  {line}"))))
    }
}
