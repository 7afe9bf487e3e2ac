//! Words that are longer than anybody reads at once: a page shows how they begin, and fetches or unpacks the rest when it is asked for.

use std::hash::{DefaultHasher, Hash, Hasher};

use maud::{Markup, PreEscaped, html};
use rethread_engine::core::entry::EntryRole;
use rethread_engine::core::turn::{Turn, TurnPart};

use super::part::slash;
use super::render_options::RenderOptions;
use super::text::{Block, json, last_block, plain, prompt, prose, terminal};
use crate::text::clean;
use crate::text::figures::size;

/// How many bytes of words stand in a page at once.
const SHOWN: usize = 64 << 10;

/// How words are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextFormat {
    /// As markdown.
    Prose,
    /// As markdown that somebody typed.
    Prompt,
    /// As a slash command.
    Slash,
    /// As a command of a shell.
    Shell,
    /// As what a terminal shows.
    Terminal,
    /// As they are.
    Plain,
    /// As JSON.
    Json,
}

impl TextFormat {
    fn draw(self, text: &str) -> Markup {
        match self {
            TextFormat::Prose => prose(text),
            TextFormat::Prompt => prompt(text),
            TextFormat::Slash => slash(text),
            TextFormat::Shell => html! { code class="shell" { (clean::text(text)) } },
            TextFormat::Terminal => terminal(text),
            TextFormat::Plain => plain(text),
            TextFormat::Json => json(text),
        }
    }

    /// Says how the words of a prompt are drawn.
    pub(super) fn of_prompt(voice: EntryRole) -> TextFormat {
        match voice {
            EntryRole::Command => TextFormat::Slash,
            EntryRole::Shell => TextFormat::Shell,
            _ => TextFormat::Prompt,
        }
    }

    /// Returns the words of a part, and how they are drawn.
    fn of_part(part: &TurnPart) -> Option<(&str, TextFormat)> {
        match part {
            TurnPart::Text(text) | TurnPart::Thinking(text) | TurnPart::Recap(text) => {
                Some((text, TextFormat::Prose))
            }
            TurnPart::Queued(text) => Some((text, TextFormat::Prompt)),
            TurnPart::Command(text) => Some((text, TextFormat::Slash)),
            TurnPart::Output(text) => Some((text, TextFormat::Terminal)),
            TurnPart::Notice(text) | TurnPart::Meta(text) | TurnPart::Error(text) => {
                Some((text, TextFormat::Plain))
            }
            TurnPart::Other(text) => Some((text, TextFormat::Json)),
            TurnPart::Interrupt(_) | TurnPart::Tool(_) | TurnPart::Compaction { .. } => None,
        }
    }
}

/// Draws words of a line, or how they begin.
pub(super) fn words(text: &str, line: u32, telling: &RenderOptions<'_>, manner: TextFormat) -> Markup {
    let Some(cut) = Cut::of(text, manner) else { return manner.draw(text) };
    let name = format!("L{line}-{}", mark(text));
    let (address, packed) = if telling.lazy {
        (format!("{}/part?line={line}&words={}", telling.base, mark(text)), None)
    } else {
        let packed = telling.pack.and_then(|pack| pack(&cut.rest(text).into_string()));
        (format!("page/part?words={name}"), packed)
    };
    if !telling.lazy && packed.is_none() {
        return manner.draw(text);
    }
    html! {
        (manner.draw(&text[..cut.at]))
        details class="more" {
            summary { (size((text.len() - cut.at) as u64)) " more" }
            div data-src=(address) {
                @match &packed {
                    None => p class="quiet" { a href=(address) { "Show the rest" } },
                    Some(_) => p class="quiet" { "packed: the script of this page unpacks it here" },
                }
            }
            @if let Some(packed) = packed {
                script type="text/plain" class="packed" data-words=(name) { (PreEscaped(packed)) }
            }
        }
    }
}

/// Draws what [`words`] left out, of the words of a line that have this mark.
pub(crate) fn rest(turn: &Turn, line: u32, known: &str) -> Option<Markup> {
    let asked = turn
        .prompt
        .iter()
        .map(|prompt| (prompt.line, prompt.text.as_str(), TextFormat::of_prompt(prompt.voice)));
    let told = turn.parts.iter().filter_map(|piece| {
        TextFormat::of_part(&piece.part).map(|(text, manner)| (piece.line, text, manner))
    });
    let (_, text, manner) =
        asked.chain(told).find(|(at, text, _)| *at == line && text.len() > SHOWN && mark(text) == known)?;
    Some(Cut::of(text, manner)?.rest(text))
}

/// Tells words from all others: several may stand on one line.
fn mark(text: &str) -> String {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Where long words are cut, and how they go on.
#[derive(Debug, PartialEq, Eq)]
struct Cut<'t> {
    at: usize,
    /// How the rest is drawn.
    manner: TextFormat,
    /// The line that opens the code which is cut.
    fence: Option<&'t str>,
}

impl<'t> Cut<'t> {
    /// Finds where to cut, if words are long: markdown between two blocks, or within code; else behind a line, or where none ends in the
    /// second half, between two letters.
    fn of(text: &'t str, manner: TextFormat) -> Option<Cut<'t>> {
        if text.len() <= SHOWN * 3 / 2 {
            return None;
        }
        let most = text.floor_char_boundary(SHOWN);
        let line = text[..most].rfind('\n').map(|at| at + 1);
        let at = line.filter(|&at| at > SHOWN / 2).unwrap_or(most);
        let whole = Cut { at, manner, fence: None };
        if !matches!(manner, TextFormat::Prose | TextFormat::Prompt) {
            return Some(whole);
        }
        Some(match last_block(&text[..at]) {
            Some(Block { is_closed: true, .. }) => whole,
            Some(Block { start, .. }) if start > SHOWN / 2 => Cut { at: start, ..whole },
            Some(Block { fence: Some(fence), .. }) => Cut { fence: Some(fence), ..whole },
            // The middle of a table or a list says something else when it stands alone: it is shown as it was written.
            _ => Cut { manner: TextFormat::Plain, ..whole },
        })
    }

    /// Draws what stands behind the cut.
    fn rest(&self, text: &str) -> Markup {
        let rest = &text[self.at..];
        match self.fence {
            Some(fence) => self.manner.draw(&format!("{fence}\n{rest}")),
            None => self.manner.draw(rest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Cut, SHOWN, TextFormat};

    fn at(text: &str, manner: TextFormat) -> Option<usize> {
        Cut::of(text, manner).map(|cut| cut.at)
    }

    #[test]
    fn long_words_are_cut_behind_a_line_or_between_letters() {
        let plain = |text: &str| at(text, TextFormat::Plain);
        assert_eq!(plain(&"a".repeat(SHOWN * 3 / 2)), None);
        assert_eq!(plain(&"a".repeat(SHOWN * 2)), Some(SHOWN));
        assert_eq!(plain(&format!("a{}", "ä".repeat(SHOWN))), Some(SHOWN - 1));
        let lines = "one line of words\n".repeat(SHOWN);
        let at = plain(&lines).unwrap_or_default();
        assert!(at <= SHOWN && lines[..at].ends_with('\n') && lines[at..].starts_with("one"));
        // A line that ends at the very beginning is no place to stop.
        assert_eq!(plain(&format!("a\n{}", "b".repeat(SHOWN * 2))), Some(SHOWN));
    }

    #[test]
    fn markdown_is_cut_between_blocks_and_code_stays_code() {
        let prose = "A paragraph of words.\n\n".repeat(SHOWN / 8);
        let cut = Cut::of(&prose, TextFormat::Prose).unwrap();
        assert!(
            prose[cut.at..].starts_with("A par") && cut.manner == TextFormat::Prose && cut.fence.is_none()
        );
        let code = format!("Look:\n\n~~~~text\n{}~~~~\n\nafter\n", "[a]: http://x/ *b*\n".repeat(SHOWN / 8));
        let cut = Cut::of(&code, TextFormat::Prose).unwrap();
        assert_eq!(cut.fence, Some("~~~~text"));
        let rest = cut.rest(&code).into_string();
        assert!(
            rest.contains("<pre") && rest.contains("[a]: http://x/ *b*") && rest.contains("<p>after</p>"),
            "{rest}"
        );
        assert!(!rest.contains("<a "), "nothing in it became a link");
        let lines = code[cut.at..].matches("[a]").count();
        assert_eq!(rest.matches("[a]").count(), lines, "no line is lost");
        let closed =
            format!("```\n{}```\n\n{}\n\n**bold**\n", "x\n".repeat(SHOWN * 2 / 5), "word ".repeat(SHOWN / 4));
        let rest = Cut::of(&closed, TextFormat::Prose).unwrap().rest(&closed).into_string();
        assert!(
            rest.contains("<strong>bold</strong>") && !rest.contains("<pre"),
            "what follows code is no code"
        );
        let list = "- one [a]: http://x/\n".repeat(SHOWN / 8);
        assert_eq!(Cut::of(&list, TextFormat::Prose).unwrap().manner, TextFormat::Plain);
    }
}
