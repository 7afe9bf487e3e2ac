//! A turn as text: prompt, answer, tool calls, footer.

use rethread_engine::core::entry::{EntryRole, Timestamp};
use rethread_engine::core::turn::{ToolCall, Turn, TurnPart, tag};
use rethread_engine::ops::{PathRelation, ToldTurn};
use unicode_width::UnicodeWidthStr;

use super::args::{Detail, Show};
use super::call::{body, complaint, head};
use super::clean;
use super::error::CliError;
use super::figures::{duration, things, tokens};
use super::layout::{self, block, words, wrap};
use super::out::Out;
use super::style::{BAD, MARK, NAME, PROMPT, QUIET, paint};
use super::summary;
use super::table::truncate_to_width;
use super::time::Clock;

/// Lines shown of what is not the conversation itself.
const GLIMPSE: usize = 12;

/// What stands close together: tool calls, and asides; words have air around them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spacing {
    Words,
    Work,
    Aside,
}

/// Tells turns one after the other.
pub(crate) struct TurnPrinter<'a> {
    tools: Detail,
    thinking: bool,
    folder: &'a str,
    clock: &'a Clock,
    before: Option<Timestamp>,
}

impl<'a> TurnPrinter<'a> {
    /// Prepares to tell turns of a session that was started in `folder`.
    pub(crate) fn new(args: &Show, folder: &'a str, clock: &'a Clock) -> TurnPrinter<'a> {
        TurnPrinter { tools: args.tools, thinking: args.thinking, folder, clock, before: None }
    }

    /// Prints a turn.
    pub(crate) fn turn(&mut self, told: &ToldTurn, out: &mut Out) -> Result<(), CliError> {
        out.line("")?;
        self.rule(told, out)?;
        if let Some(prompt) = &told.turn.prompt {
            let mark = match prompt.voice {
                EntryRole::Shell | EntryRole::Command => "",
                _ => "> ",
            };
            let lines = wrap(&prompt.text, "", out.width().saturating_sub(2));
            for (k, line) in lines.iter().enumerate() {
                let mark = if k == 0 || mark.is_empty() { mark } else { "  " };
                out.line(&if line.is_empty() {
                    String::new()
                } else {
                    paint(PROMPT, &format!("{mark}{line}"))
                })?;
            }
            for media in summary::media(&prompt.media) {
                out.line(&paint(QUIET, &format!("  [{media}]")))?;
            }
        }
        let mut before = told.turn.prompt.as_ref().map(|_| Spacing::Words);
        for part in told.turn.parts.iter().map(|piece| &piece.part).filter(|part| self.shows(part)) {
            let air = self.air(part);
            if before.is_some_and(|before| before != air || air == Spacing::Words) {
                out.line("")?;
            }
            before = Some(air);
            self.part(part, out)?;
        }
        self.footer(&told.turn, out)
    }

    fn air(&self, part: &TurnPart) -> Spacing {
        match part {
            _ if self.tools == Detail::Full => Spacing::Words,
            TurnPart::Tool(_) | TurnPart::Thinking(_) => Spacing::Work,
            TurnPart::Meta(_) | TurnPart::Notice(_) | TurnPart::Other(_) => Spacing::Aside,
            _ => Spacing::Words,
        }
    }

    fn shows(&self, part: &TurnPart) -> bool {
        match part {
            TurnPart::Tool(_) => self.tools != Detail::None,
            TurnPart::Text(text) | TurnPart::Output(text) => !text.trim().is_empty(),
            _ => true,
        }
    }

    fn rule(&mut self, told: &ToldTurn, out: &mut Out) -> Result<(), CliError> {
        let recap = told.turn.parts.iter().any(|piece| matches!(piece.part, TurnPart::Recap(_)));
        let name = match told.no {
            Some(no) => format!("t{no}"),
            None if recap => "compaction".to_owned(),
            None => "before the first prompt".to_owned(),
        };
        let time = told.turn.from.map(|from| self.clock.second(from, self.before)).unwrap_or_default();
        self.before = told.turn.from.or(self.before);
        let standing = match told.standing {
            PathRelation::OnPath => "",
            PathRelation::Compacted => "before compaction",
            PathRelation::Aside => "other branch",
        };
        let used =
            name.width() + time.width() + standing.width() + 6 + if standing.is_empty() { 0 } else { 2 };
        let rule = "─".repeat(out.width().min(100).saturating_sub(used));
        let standing =
            if standing.is_empty() { String::new() } else { format!("{}  ", paint(MARK, standing)) };
        out.line(&format!(
            "{} {}  {}{} {}",
            paint(QUIET, "──"),
            paint(NAME, &name),
            standing,
            paint(QUIET, &time),
            paint(QUIET, &rule)
        ))
    }

    fn part(&self, part: &TurnPart, out: &mut Out) -> Result<(), CliError> {
        let full = self.tools == Detail::Full;
        let most = if full { usize::MAX } else { GLIMPSE };
        match part {
            TurnPart::Text(text) => wrap(text, "  ", out.width()).iter().try_for_each(|line| out.line(line)),
            TurnPart::Thinking(text) => self.thoughts(text, out),
            TurnPart::Tool(_) if self.tools == Detail::None => Ok(()),
            TurnPart::Tool(call) => self.tool(call, out),
            TurnPart::Queued(text) => {
                let lines = wrap(text, "", out.width().saturating_sub(2));
                let marked =
                    |(k, line): (usize, &String)| format!("{}{line}", if k == 0 { "> " } else { "  " });
                let mut lines = lines.iter().enumerate().map(marked);
                lines.try_for_each(|line| out.line(&paint(PROMPT, &line)))
            }
            TurnPart::Command(text) => {
                out.line(&paint(PROMPT, &truncate_to_width(&clean::line(text), out.width())))
            }
            TurnPart::Output(text) => self.print_preview(text, "  ", most, out),
            TurnPart::Interrupt(_) => out.line(&paint(MARK, "  ■ stopped by the user")),
            TurnPart::Notice(text) => self.aside("notice", text, out),
            TurnPart::Meta(text) => self.aside("client", text, out),
            TurnPart::Compaction { trigger, before, after, micro } => {
                let what = if *micro { "old tool results cleared" } else { "compacted" };
                let mut said = vec![format!("{what} ({})", clean::line(trigger))];
                said.extend(before.map(|before| match after {
                    Some(after) => format!("{} → {} tokens", tokens(before), tokens(*after)),
                    None => format!("{} tokens before", tokens(before)),
                }));
                let said = said.join(", ");
                let rule = "╌".repeat(out.width().min(100).saturating_sub(said.width() + 6));
                out.line(&paint(MARK, &format!("╌╌ {said} {rule}")))
            }
            TurnPart::Recap(text) => {
                out.line(&paint(
                    QUIET,
                    &format!("  summary of what came before, {}", things(words(text), "word")),
                ))?;
                let lines = wrap(text, "  │ ", out.width());
                let shown = if full { lines.len() } else { lines.len().min(5) };
                let barred = |line: &String| if line.is_empty() { "  │".to_owned() } else { line.clone() };
                lines[..shown].iter().try_for_each(|line| out.line(&paint(QUIET, &barred(line))))?;
                if shown < lines.len() {
                    let more = things((lines.len() - shown) as u64, "more line");
                    out.line(&paint(QUIET, &format!("  │ … {more} (--tools full shows all)")))?;
                }
                Ok(())
            }
            TurnPart::Error(text) => {
                let lines = wrap(&format!("error: {text}"), "  ✗ ", out.width());
                lines.iter().try_for_each(|line| out.line(&paint(BAD, line)))
            }
            TurnPart::Other(text) => self.aside("block", text, out),
        }
    }

    fn thoughts(&self, text: &str, out: &mut Out) -> Result<(), CliError> {
        let count = words(text);
        let said = match count {
            0 => "thinking, not kept in the file".to_owned(),
            count => format!("thinking, {}", things(count, "word")),
        };
        out.line(&paint(QUIET, &format!("  ∴ {said}")))?;
        if self.thinking {
            let lines = wrap(text, "    ", out.width());
            lines.iter().try_for_each(|line| out.line(&paint(QUIET, line)))?;
        }
        Ok(())
    }

    /// One quiet line for what is not part of the talk.
    fn aside(&self, what: &str, text: &str, out: &mut Out) -> Result<(), CliError> {
        if self.tools == Detail::Full {
            out.line(&paint(QUIET, &format!("  · {what}:")))?;
            return self.print_preview(text, "    ", usize::MAX, out);
        }
        let line = truncate_to_width(&format!("  · {what}: {}", untagged(text)), out.width().min(100));
        out.line(&paint(QUIET, &line))
    }

    fn print_preview(&self, text: &str, indent: &str, most: usize, out: &mut Out) -> Result<(), CliError> {
        let (lines, left_out) = block(text, indent, out.width(), most);
        lines.iter().try_for_each(|line| out.line(&paint(QUIET, line)))?;
        if left_out > 0 {
            let more = things(left_out as u64, "more line");
            out.line(&paint(QUIET, &format!("{indent}… {more} (--tools full shows all)")))?;
        }
        Ok(())
    }

    fn tool(&self, call: &ToolCall, out: &mut Out) -> Result<(), CliError> {
        head(call, None, self.folder, "  ", out)?;
        match self.tools {
            Detail::Full => body(call, "    ", out),
            _ => complaint(call, None, 2, out),
        }
    }

    fn footer(&self, turn: &Turn, out: &mut Out) -> Result<(), CliError> {
        if turn.responses == 0 {
            return Ok(());
        }
        let usage = &turn.usage;
        let mut facts: Vec<String> = turn.models.iter().map(|model| clean::line(model)).collect();
        let span = turn.from.zip(turn.to).and_then(|(from, to)| u64::try_from(to.0 - from.0).ok());
        facts.extend(turn.millis.or(span.filter(|span| *span > 0)).map(duration));
        facts.push(format!("{} in, {} out", tokens(usage.input), tokens(usage.output)));
        if usage.cache_read + usage.cache_write > 0 {
            facts.push(format!(
                "cache {} read, {} written",
                tokens(usage.cache_read),
                tokens(usage.cache_write)
            ));
        }
        out.line("")?;
        let lines = layout::facts(&facts, out.width() - 2);
        lines.iter().try_for_each(|line| out.line(&paint(QUIET, &format!("  {line}"))))
    }
}

/// Puts text on one line without its tags; of a notification only what it sums up.
fn untagged(text: &str) -> String {
    let text = tag(text, "summary").unwrap_or(text);
    let mut bare = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let name = |c: char| c.is_ascii_lowercase() || matches!(c, '-' | '_' | '/');
        bare.push_str(&rest[..at]);
        let end = rest[at + 1..].find(|c| !name(c)).map(|end| at + 1 + end);
        let is_tag = end.is_some_and(|end| end > at + 1 && rest[end..].starts_with('>'));
        let skip = if is_tag { end.map_or(at, |end| end + 1) } else { at + 1 };
        bare.push_str(if is_tag { " " } else { "<" });
        rest = &rest[skip..];
    }
    bare.push_str(rest);
    clean::line(&bare)
}
