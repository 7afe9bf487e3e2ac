//! Words that are longer than anybody reads at once: a page shows how they begin, and fetches or unpacks the rest when it is asked for.

use std::hash::{DefaultHasher, Hash, Hasher};

use maud::{Markup, PreEscaped, html};
use rethread_engine::core::entry::Voice;
use rethread_engine::core::turn::{Part, Turn};

use super::part::slash;
use super::telling::Telling;
use super::text::{Block, json, last_block, plain, prompt, prose, terminal};
use crate::words::clean;
use crate::words::figures::size;

/// How many bytes of words stand in a page at once.
const SHOWN: usize = 64 << 10;

/// How words are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
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

impl Manner {
    fn draw(self, text: &str) -> Markup {
        match self {
            Manner::Prose => prose(text),
            Manner::Prompt => prompt(text),
            Manner::Slash => slash(text),
            Manner::Shell => html! { code class="shell" { (clean::text(text)) } },
            Manner::Terminal => terminal(text),
            Manner::Plain => plain(text),
            Manner::Json => json(text),
        }
    }

    /// Says how the words of a prompt are drawn.
    pub(super) fn of_prompt(voice: Voice) -> Manner {
        match voice {
            Voice::Command => Manner::Slash,
            Voice::Shell => Manner::Shell,
            _ => Manner::Prompt,
        }
    }

    /// Returns the words of a part, and how they are drawn.
    fn of_part(part: &Part) -> Option<(&str, Manner)> {
        match part {
            Part::Text(text) | Part::Thinking(text) | Part::Recap(text) => Some((text, Manner::Prose)),
            Part::Queued(text) => Some((text, Manner::Prompt)),
            Part::Command(text) => Some((text, Manner::Slash)),
            Part::Output(text) => Some((text, Manner::Terminal)),
            Part::Notice(text) | Part::Meta(text) | Part::Error(text) => Some((text, Manner::Plain)),
            Part::Other(text) => Some((text, Manner::Json)),
            Part::Interrupt(_) | Part::Tool(_) | Part::Compaction { .. } => None,
        }
    }
}

/// Draws words of a line, or how they begin.
pub(super) fn words(text: &str, line: u32, telling: &Telling<'_>, manner: Manner) -> Markup {
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
    let asked =
        turn.prompt.iter().map(|prompt| (prompt.line, prompt.text.as_str(), Manner::of_prompt(prompt.voice)));
    let told = turn
        .parts
        .iter()
        .filter_map(|piece| Manner::of_part(&piece.part).map(|(text, manner)| (piece.line, text, manner)));
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
    manner: Manner,
    /// The line that opens the code which is cut.
    fence: Option<&'t str>,
}

impl<'t> Cut<'t> {
    /// Finds where to cut, if words are long: markdown between two blocks, or within code; else behind a line, or where none ends in the
    /// second half, between two letters.
    fn of(text: &'t str, manner: Manner) -> Option<Cut<'t>> {
        if text.len() <= SHOWN * 3 / 2 {
            return None;
        }
        let most = text.floor_char_boundary(SHOWN);
        let line = text[..most].rfind('\n').map(|at| at + 1);
        let at = line.filter(|&at| at > SHOWN / 2).unwrap_or(most);
        let whole = Cut { at, manner, fence: None };
        if !matches!(manner, Manner::Prose | Manner::Prompt) {
            return Some(whole);
        }
        Some(match last_block(&text[..at]) {
            Some(Block { is_closed: true, .. }) => whole,
            Some(Block { start, .. }) if start > SHOWN / 2 => Cut { at: start, ..whole },
            Some(Block { fence: Some(fence), .. }) => Cut { fence: Some(fence), ..whole },
            // The middle of a table or a list says something else when it stands alone: it is shown as it was written.
            _ => Cut { manner: Manner::Plain, ..whole },
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
    use super::{Cut, Manner, SHOWN};

    fn at(text: &str, manner: Manner) -> Option<usize> {
        Cut::of(text, manner).map(|cut| cut.at)
    }

    #[test]
    fn long_words_are_cut_behind_a_line_or_between_letters() {
        let plain = |text: &str| at(text, Manner::Plain);
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
        let cut = Cut::of(&prose, Manner::Prose).unwrap();
        assert!(prose[cut.at..].starts_with("A par") && cut.manner == Manner::Prose && cut.fence.is_none());
        let code = format!("Look:\n\n~~~~text\n{}~~~~\n\nafter\n", "[a]: http://x/ *b*\n".repeat(SHOWN / 8));
        let cut = Cut::of(&code, Manner::Prose).unwrap();
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
        let rest = Cut::of(&closed, Manner::Prose).unwrap().rest(&closed).into_string();
        assert!(
            rest.contains("<strong>bold</strong>") && !rest.contains("<pre"),
            "what follows code is no code"
        );
        let list = "- one [a]: http://x/\n".repeat(SHOWN / 8);
        assert_eq!(Cut::of(&list, Manner::Prose).unwrap().manner, Manner::Plain);
    }
}
