//! A conversation as plain text, a hundred columns wide.

use rethread_engine::core::entry::EntryRole;
use rethread_engine::core::turn::{Media, ToolCall, Turn, TurnPart};
use rethread_engine::ops::{PathRelation, SessionView, ToldTurn};
use unicode_width::UnicodeWidthStr;

use super::detail::Detail;
use super::options::ExportContext;
use crate::html::session::span;
use crate::text::fit::truncate_to_width;
use crate::text::folder::git_branch;
use crate::text::layout::{block, facts, wrap};
use crate::text::outcome::call_status;
use crate::text::summary::{self, Shown, gist};
use crate::text::time::Clock;
use crate::text::{clean, summed};

/// How many columns there are.
const WIDTH: usize = 100;

/// Lines, joined at the end.
#[derive(Default)]
struct Sheet {
    lines: Vec<String>,
}

/// Writes what stands before the turns.
pub(super) fn head(reading: &SessionView, around: &ExportContext<'_>) -> String {
    let session = &reading.session;
    let sketch = &session.sketch;
    let title = clean::line(&session.title.text);
    let title = if title.is_empty() { "(nothing was said)" } else { &title };
    let mut sheet = Sheet::default();
    sheet.lines.extend(wrap(title, "", WIDTH));
    let branch = git_branch(sketch.git_branch.as_deref());
    let folder = (around.tilde)(sketch.cwd.as_deref().unwrap_or_default());
    let known: Vec<String> = [
        Some(clean::line(&session.id)),
        Some(folder).filter(|folder| !folder.is_empty()),
        branch.map(|branch| format!("git {branch}")),
        span(sketch, &Clock::utc()).map(|span| format!("{span}, times in UTC")),
    ]
    .into_iter()
    .flatten()
    .chain(sketch.models.iter().map(|model| clean::line(model)))
    .collect();
    sheet.facts(&known, "");
    sheet.text()
}

/// Writes a turn, of which what shall not be told was taken out before; nothing where nothing is left of what stands outside of
/// turns.
pub(crate) fn turn(told: &ToldTurn, detail: Detail, folder: &str) -> String {
    let turn = &told.turn;
    if told.no.is_none() && turn.prompt.is_none() && turn.parts.is_empty() {
        return String::new();
    }
    let mut sheet = Sheet::default();
    sheet.lines.push(String::new());
    sheet.rule(told);
    if let Some(prompt) = &turn.prompt {
        let mark = if matches!(prompt.voice, EntryRole::Shell | EntryRole::Command) { "" } else { "> " };
        sheet.said(&prompt.text, mark);
        sheet.media(&prompt.media, "  ");
    }
    let mut worked = false;
    for piece in &turn.parts {
        let works = matches!(piece.part, TurnPart::Tool(_)) && detail < Detail::Everything;
        if !(works && worked) {
            sheet.gap();
        }
        worked = works;
        sheet.part(&piece.part, detail, folder);
    }
    if detail.tells_sums() {
        sheet.foot(turn);
    }
    sheet.text()
}

impl Sheet {
    /// Joins the lines; none ends in a space.
    fn text(&self) -> String {
        let mut text = String::new();
        for line in &self.lines {
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    /// Leaves a line free, unless one is or nothing was said yet.
    fn gap(&mut self) {
        if self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.lines.push(String::new());
        }
    }

    fn rule(&mut self, told: &ToldTurn) {
        let name = told.no.map_or_else(|| "before the first prompt".to_owned(), |no| format!("t{no}"));
        let standing = match told.standing {
            PathRelation::OnPath => "",
            PathRelation::Compacted => "  before compaction",
            PathRelation::Aside => "  other branch",
        };
        let time = told.turn.from.map(|from| format!("  {}", Clock::utc().second(from, None)));
        let said = format!("── {name}{standing}{} ", time.unwrap_or_default());
        let rule = "─".repeat(WIDTH.saturating_sub(said.width()));
        self.lines.push(said + &rule);
    }

    /// Writes what the user said behind a mark.
    fn said(&mut self, text: &str, mark: &str) {
        let lines = wrap(text, "", WIDTH - 2);
        let rest = " ".repeat(mark.len());
        self.lines.extend(
            lines
                .iter()
                .enumerate()
                .map(|(no, line)| format!("{}{line}", if no == 0 { mark } else { &rest })),
        );
    }

    /// Writes facts, each of them whole where that fits.
    fn facts(&mut self, known: &[String], indent: &str) {
        let room = WIDTH - indent.len();
        let known: Vec<String> = known.iter().map(|fact| truncate_to_width(fact, room)).collect();
        self.lines.extend(facts(&known, room).iter().map(|line| format!("{indent}{line}")));
    }

    fn media(&mut self, media: &[Media], indent: &str) {
        let named = summary::media(media);
        self.lines.extend(named.iter().map(|media| truncate_to_width(&format!("{indent}[{media}]"), WIDTH)));
    }

    fn block(&mut self, text: &str, indent: &str) {
        self.lines.extend(block(text, indent, WIDTH, usize::MAX).0);
    }

    fn part(&mut self, part: &TurnPart, detail: Detail, folder: &str) {
        match part {
            TurnPart::Text(text) => self.lines.extend(wrap(text, "  ", WIDTH)),
            TurnPart::Thinking(text) => {
                self.lines.push("  ∴ thinking".to_owned());
                self.lines.extend(wrap(text, "    ", WIDTH));
            }
            TurnPart::Tool(call) => self.tool(call, detail, folder),
            TurnPart::Queued(text) => self.said(text, "> "),
            TurnPart::Command(text) => self.said(text, ""),
            TurnPart::Output(text) => self.block(text, "  "),
            TurnPart::Interrupt(_) => self.lines.push("  ■ stopped by the user".to_owned()),
            TurnPart::Notice(text) => self.aside("notice", text),
            TurnPart::Meta(text) => self.aside("client", text),
            TurnPart::Compaction { trigger, before, after, micro } => {
                let mut known = vec![format!("╌╌ {}", summed::compaction(*micro))];
                known.extend(summed::sizes(trigger, *before, *after));
                self.facts(&known, "");
            }
            TurnPart::Recap(text) => {
                self.lines.push("  summary of what came before".to_owned());
                self.lines.extend(wrap(text, "  │ ", WIDTH));
            }
            TurnPart::Error(text) => self.lines.extend(wrap(&format!("error: {text}"), "  ✗ ", WIDTH)),
            TurnPart::Other(text) => self.aside("block", text),
        }
    }

    fn aside(&mut self, what: &str, text: &str) {
        self.lines.push(format!("  · {what}:"));
        self.block(text, "    ");
    }

    fn tool(&mut self, call: &ToolCall, detail: Detail, folder: &str) {
        let name =
            if call.name.is_empty() { "(result without a call)".to_owned() } else { clean::line(&call.name) };
        let end = match call_status(call) {
            None => "",
            Some("no result") => "  no result",
            Some("failed") => "  ✗",
            Some(_) => "  ✗ by the user",
        };
        let name = truncate_to_width(&name, WIDTH / 2);
        let room = WIDTH.saturating_sub(4 + name.width() + 2 + end.width());
        let gist = truncate_to_width(&gist(call, folder), room);
        self.lines.push(format!("  ● {name}  {gist}{end}"));
        if detail < Detail::Everything {
            return;
        }
        for shown in summary::input(call) {
            let (mark, text) = match shown {
                Shown::Plain(text) => ("", text),
                Shown::Old(text) => ("- ", text),
                Shown::New(text) => ("+ ", text),
            };
            self.block(&format!("{mark}{text}"), "    ");
        }
        let Some(result) = &call.result else { return };
        self.block(&result.text, "    │ ");
        self.media(&result.media, "    │ ");
    }

    fn foot(&mut self, turn: &Turn) {
        let known = summed::turn_footer(turn);
        if known.is_empty() {
            return;
        }
        self.gap();
        self.facts(&known, "  ");
    }
}
