//! Words that are longer than anybody reads at once: a page shows how they begin, and fetches the rest when it is asked for.

use maud::{Markup, html};
use rethread_engine::core::entry::Voice;
use rethread_engine::core::turn::{Part, Turn};

use super::part::slash;
use super::telling::Telling;
use super::text::{json, plain, prompt, prose, terminal};
use crate::words::figures::size;

/// How many bytes of words stand in a page at once.
const SHOWN: usize = 64 << 10;

/// How words are drawn.
pub(super) type Draw = fn(&str) -> Markup;

/// Draws words of a line, or how they begin.
pub(super) fn words(text: &str, line: u32, telling: &Telling<'_>, draw: Draw) -> Markup {
    let Some(cut) = cut(text).filter(|_| telling.lazy) else { return draw(text) };
    let address = format!("{}/part?line={line}&bytes={}", telling.base, text.len());
    html! {
        (draw(&text[..cut]))
        details class="more" {
            summary { (size((text.len() - cut) as u64)) " more" }
            div data-src=(address) { p class="quiet" { a href=(address) { "Show the rest" } } }
        }
    }
}

/// Draws what [`words`] left out, of the words of a line that are so many bytes.
pub(crate) fn rest(turn: &Turn, line: u32, bytes: usize) -> Option<Markup> {
    let asked = turn.prompt.iter().map(|prompt| (prompt.line, prompt.text.as_str(), of_prompt(prompt.voice)));
    let told = turn
        .parts
        .iter()
        .filter_map(|piece| of_part(&piece.part).map(|(text, draw)| (piece.line, text, draw)));
    let (_, text, draw) = asked.chain(told).find(|(at, text, _)| *at == line && text.len() == bytes)?;
    Some(draw(&text[cut(text)?..]))
}

/// Says how the words of a prompt are drawn.
pub(super) fn of_prompt(voice: Voice) -> Draw {
    match voice {
        Voice::Command => slash,
        Voice::Shell => shell,
        _ => prompt,
    }
}

/// Returns the words of a part, and how they are drawn.
pub(super) fn of_part(part: &Part) -> Option<(&str, Draw)> {
    match part {
        Part::Text(text) | Part::Thinking(text) | Part::Recap(text) => Some((text, prose)),
        Part::Queued(text) => Some((text, prompt)),
        Part::Command(text) => Some((text, slash)),
        Part::Output(text) => Some((text, terminal)),
        Part::Notice(text) | Part::Meta(text) | Part::Error(text) => Some((text, plain)),
        Part::Other(text) => Some((text, json)),
        Part::Interrupt(_) | Part::Tool(_) | Part::Compaction { .. } => None,
    }
}

fn shell(text: &str) -> Markup {
    html! { code class="shell" { (crate::words::clean::text(text)) } }
}

/// Finds where long words are cut: behind a line, or where none ends in the second half, between two letters.
fn cut(text: &str) -> Option<usize> {
    if text.len() <= SHOWN * 3 / 2 {
        return None;
    }
    let most = text.floor_char_boundary(SHOWN);
    let line = text[..most].rfind('\n').map(|at| at + 1);
    Some(line.filter(|&at| at > SHOWN / 2).unwrap_or(most))
}

#[cfg(test)]
mod tests {
    use super::{SHOWN, cut};

    #[test]
    fn long_words_are_cut_behind_a_line_or_between_letters() {
        assert_eq!(cut(&"a".repeat(SHOWN * 3 / 2)), None);
        assert_eq!(cut(&"a".repeat(SHOWN * 2)), Some(SHOWN));
        assert_eq!(cut(&format!("a{}", "ä".repeat(SHOWN))), Some(SHOWN - 1));
        let lines = "one line of words\n".repeat(SHOWN);
        let at = cut(&lines).unwrap_or_default();
        assert!(at <= SHOWN && lines[..at].ends_with('\n') && lines[at..].starts_with("one"));
        // A line that ends at the very beginning is no place to stop.
        assert_eq!(cut(&format!("a\n{}", "b".repeat(SHOWN * 2))), Some(SHOWN));
    }
}
