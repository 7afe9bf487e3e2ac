//! Truncates long text: the page shows the beginning, and loads or unpacks the rest on demand.

use std::hash::{DefaultHasher, Hash, Hasher};

use maud::{Markup, PreEscaped, html};
use rethread_engine::core::entry::EntryRole;
use rethread_engine::core::turn::{Turn, TurnPart};

use super::part::render_slash_command;
use super::render_options::RenderOptions;
use super::text::{
    Block, last_block, render_json, render_plain, render_prompt, render_prose, render_terminal,
};
use crate::text::clean;
use crate::text::figures::format_size;

/// Maximum number of bytes of a long text that are shown initially. A text is long if it has more than 1.5 times as
/// many.
const VISIBLE_BYTES: usize = 64 << 10;

/// The format of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextFormat {
    /// Markdown written by the model.
    Prose,
    /// Markdown typed by the user.
    Prompt,
    /// A slash command.
    Slash,
    /// A shell command.
    Shell,
    /// Terminal output.
    Terminal,
    /// Plain text.
    Plain,
    /// JSON.
    Json,
}

impl TextFormat {
    fn render(self, text: &str) -> Markup {
        match self {
            TextFormat::Prose => render_prose(text),
            TextFormat::Prompt => render_prompt(text),
            TextFormat::Slash => render_slash_command(text),
            TextFormat::Shell => html! { code class="shell" { (clean::text(text)) } },
            TextFormat::Terminal => render_terminal(text),
            TextFormat::Plain => render_plain(text),
            TextFormat::Json => render_json(text),
        }
    }

    /// Returns the format of a prompt by the role of its entry.
    pub(super) fn for_prompt(role: EntryRole) -> TextFormat {
        match role {
            EntryRole::Command => TextFormat::Slash,
            EntryRole::Shell => TextFormat::Shell,
            _ => TextFormat::Prompt,
        }
    }

    /// Returns the text of a part and its format. Returns `None` for interrupts, tool calls and compactions.
    fn get_part_text(part: &TurnPart) -> Option<(&str, TextFormat)> {
        match part {
            TurnPart::Text(text) | TurnPart::Thinking(text) | TurnPart::CompactSummary(text) => {
                Some((text, TextFormat::Prose))
            }
            TurnPart::Queued(text) => Some((text, TextFormat::Prompt)),
            TurnPart::Command(text) => Some((text, TextFormat::Slash)),
            TurnPart::Output(text) => Some((text, TextFormat::Terminal)),
            TurnPart::Notification(text) | TurnPart::Meta(text) | TurnPart::Error(text) => {
                Some((text, TextFormat::Plain))
            }
            TurnPart::Other(text) => Some((text, TextFormat::Json)),
            TurnPart::Interrupt(_) | TurnPart::Tool(_) | TurnPart::Compaction { .. } => None,
        }
    }
}

/// Renders a text of a line. Only the beginning of a long text is visible; the rest is loaded or unpacked on demand.
pub(super) fn render_text(text: &str, line: u32, options: &RenderOptions<'_>, format: TextFormat) -> Markup {
    let Some(truncation) = Truncation::new(text, format) else { return format.render(text) };
    let name = format!("L{line}-{}", hash_text(text));
    let (address, packed) = if options.lazy {
        (format!("{}/part?line={line}&text={}", options.base, hash_text(text)), None)
    } else {
        let packed = options.pack.and_then(|pack| pack(&truncation.render_rest(text).into_string()));
        (format!("page/part?text={name}"), packed)
    };
    if !options.lazy && packed.is_none() {
        return format.render(text);
    }
    html! {
        (format.render(&text[..truncation.at]))
        details class="more" {
            summary { (format_size((text.len() - truncation.at) as u64)) " more" }
            div data-src=(address) {
                @match &packed {
                    None => p class="muted" { a href=(address) { "Show the rest" } },
                    Some(_) => p class="muted" { "packed: the script of this page unpacks it here" },
                }
            }
            @if let Some(packed) = packed {
                script type="text/plain" class="packed" data-text=(name) { (PreEscaped(packed)) }
            }
        }
    }
}

/// Renders the rest of a text that [`render_text`] truncated. The text is identified by its line and [`hash_text`].
/// Returns `None` if the turn contains no such text or it is not long.
pub(crate) fn render_rest(turn: &Turn, line: u32, hash: &str) -> Option<Markup> {
    let prompt = turn
        .prompt
        .iter()
        .map(|prompt| (prompt.line, prompt.text.as_str(), TextFormat::for_prompt(prompt.role)));
    let parts = turn.parts.iter().filter_map(|item| {
        TextFormat::get_part_text(&item.part).map(|(text, format)| (item.line, text, format))
    });
    let (_, text, format) = prompt.chain(parts).find(|(text_line, text, _)| {
        *text_line == line && text.len() > VISIBLE_BYTES && hash_text(text) == hash
    })?;
    Some(Truncation::new(text, format)?.render_rest(text))
}

/// Returns a hash that identifies a text in its line, as 16 hexadecimal digits.
fn hash_text(text: &str) -> String {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// The position at which a long text is truncated.
#[derive(Debug, PartialEq, Eq)]
struct Truncation<'t> {
    /// The byte offset at which the rest begins.
    at: usize,
    /// The format of the rest.
    format: TextFormat,
    /// The opening line of the code block that is split. The rest is rendered with it. `None` if no code block is
    /// split.
    fence: Option<&'t str>,
}

impl<'t> Truncation<'t> {
    /// Finds the position at which to truncate a text. Returns `None` if the text is short.
    ///
    /// Markdown is split between two blocks or within a code block. Other text is split after a line, or between two
    /// characters if no line ends in the second half.
    fn new(text: &'t str, format: TextFormat) -> Option<Truncation<'t>> {
        if text.len() <= VISIBLE_BYTES * 3 / 2 {
            return None;
        }
        let limit = text.floor_char_boundary(VISIBLE_BYTES);
        let line = text[..limit].rfind('\n').map(|at| at + 1);
        let at = line.filter(|&at| at > VISIBLE_BYTES / 2).unwrap_or(limit);
        let plain = Truncation { at, format, fence: None };
        if !matches!(format, TextFormat::Prose | TextFormat::Prompt) {
            return Some(plain);
        }
        Some(match last_block(&text[..at]) {
            Some(Block { is_closed: true, .. }) => plain,
            Some(Block { start, .. }) if start > VISIBLE_BYTES / 2 => Truncation { at: start, ..plain },
            Some(Block { fence: Some(fence), .. }) => Truncation { fence: Some(fence), ..plain },
            // The rest of a table or a list is not valid markdown on its own: it is shown as plain text.
            _ => Truncation { format: TextFormat::Plain, ..plain },
        })
    }

    /// Renders the rest of the text.
    fn render_rest(&self, text: &str) -> Markup {
        let rest = &text[self.at..];
        match self.fence {
            Some(fence) => self.format.render(&format!("{fence}\n{rest}")),
            None => self.format.render(rest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{TextFormat, Truncation, VISIBLE_BYTES};

    fn at(text: &str, format: TextFormat) -> Option<usize> {
        Truncation::new(text, format).map(|truncation| truncation.at)
    }

    #[test]
    fn long_text_is_truncated_after_a_line_or_between_characters() {
        let plain = |text: &str| at(text, TextFormat::Plain);
        assert_eq!(plain(&"a".repeat(VISIBLE_BYTES * 3 / 2)), None);
        assert_eq!(plain(&"a".repeat(VISIBLE_BYTES * 2)), Some(VISIBLE_BYTES));
        assert_eq!(plain(&format!("a{}", "ä".repeat(VISIBLE_BYTES))), Some(VISIBLE_BYTES - 1));
        let lines = "one line of words\n".repeat(VISIBLE_BYTES);
        let at = plain(&lines).unwrap_or_default();
        assert!(at <= VISIBLE_BYTES && lines[..at].ends_with('\n') && lines[at..].starts_with("one"));
        // A line break near the beginning is not used.
        assert_eq!(plain(&format!("a\n{}", "b".repeat(VISIBLE_BYTES * 2))), Some(VISIBLE_BYTES));
    }

    #[test]
    fn markdown_is_truncated_between_blocks_and_code_stays_code() {
        let prose = "A paragraph of words.\n\n".repeat(VISIBLE_BYTES / 8);
        let truncation = Truncation::new(&prose, TextFormat::Prose).unwrap();
        assert!(
            prose[truncation.at..].starts_with("A par")
                && truncation.format == TextFormat::Prose
                && truncation.fence.is_none()
        );
        let code =
            format!("Look:\n\n~~~~text\n{}~~~~\n\nafter\n", "[a]: http://x/ *b*\n".repeat(VISIBLE_BYTES / 8));
        let truncation = Truncation::new(&code, TextFormat::Prose).unwrap();
        assert_eq!(truncation.fence, Some("~~~~text"));
        let rest = truncation.render_rest(&code).into_string();
        assert!(
            rest.contains("<pre") && rest.contains("[a]: http://x/ *b*") && rest.contains("<p>after</p>"),
            "{rest}"
        );
        assert!(!rest.contains("<a "), "nothing in it became a link");
        let lines = code[truncation.at..].matches("[a]").count();
        assert_eq!(rest.matches("[a]").count(), lines, "no line is lost");
        let closed = format!(
            "```\n{}```\n\n{}\n\n**bold**\n",
            "x\n".repeat(VISIBLE_BYTES * 2 / 5),
            "word ".repeat(VISIBLE_BYTES / 4)
        );
        let rest = Truncation::new(&closed, TextFormat::Prose).unwrap().render_rest(&closed).into_string();
        assert!(
            rest.contains("<strong>bold</strong>") && !rest.contains("<pre"),
            "text after code is not code"
        );
        let list = "- one [a]: http://x/\n".repeat(VISIBLE_BYTES / 8);
        assert_eq!(Truncation::new(&list, TextFormat::Prose).unwrap().format, TextFormat::Plain);
    }
}
