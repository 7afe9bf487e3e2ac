//! A hit of a search: the words in context, who says them, and whether Claude remembers it.

use maud::{Markup, html};
use rethread_engine::core::query::{Excerpt, TextSource};
use rethread_engine::ops::{ContextStatus, SearchHit};

use super::link::encoded;
use crate::text::runs::{joined, split_at_matches};
use crate::text::{clean, standing};

/// Letters before the first match in a list that is read, and in one that is skimmed while typing.
pub(crate) const READ: usize = 120;
pub(crate) const SKIMMED: usize = 32;

/// Draws the words around the matches, which are marked; so many letters stand before the first at most.
pub(crate) fn excerpt(excerpt: &Excerpt, before: usize) -> Markup {
    let text = &excerpt.text;
    let first = excerpt.marks.first().map_or(0, |mark| mark.start);
    let from =
        text.get(..first).and_then(|head| head.char_indices().rev().nth(before)).map_or(0, |(at, _)| at);
    let cut = from > 0 || !excerpt.starts;
    html! {
        @if cut { "…" }
        @for (is_match, run) in split_at_matches(text, &excerpt.marks, from, joined) {
            @if is_match { mark { (run) } } @else { (run) }
        }
        @if !excerpt.ends { "…" }
    }
}

/// Says who speaks.
pub(crate) fn speaker(hit: &SearchHit) -> String {
    if let Some(tool) = &hit.excerpt.tool {
        return clean::line(tool);
    }
    let said = match hit.excerpt.source {
        _ if hit.beside => "Result file",
        TextSource::Prompt => "You",
        TextSource::Answer => "Claude",
        TextSource::Thinking => "Thinking",
        TextSource::Tool => "Tool call",
        TextSource::Result => "Result",
        TextSource::System => "Client",
        TextSource::Summary => "Summary",
        TextSource::Context => "Context",
    };
    said.to_owned()
}

/// Draws whether Claude remembers it.
pub(crate) fn memory(hit: &SearchHit) -> Markup {
    let class = match hit.standing {
        _ if hit.agent.is_some() => "badge-mark",
        ContextStatus::Active => "badge-good",
        ContextStatus::Compacted | ContextStatus::Aside | ContextStatus::Island => "badge-warn",
        ContextStatus::Agent => "badge-mark",
        ContextStatus::Outside => "",
    };
    html! { span class={ "badge " (class) } { (standing::context_status_label(hit)) } }
}

/// Returns where a hit is read, in the session of a key, and which words are to be marked there.
pub(crate) fn place(hit: &SearchHit, key: &str) -> String {
    format!("{}{}", at(hit, key), sought(&hit.excerpt))
}

/// Writes the words that were found as the end of an address.
fn sought(excerpt: &Excerpt) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in excerpt.marks.iter().filter_map(|mark| excerpt.text.get(mark.clone())) {
        let word = word.to_lowercase();
        if !word.trim().is_empty() && word.len() <= LONGEST && words.len() < WORDS && !words.contains(&word) {
            words.push(word);
        }
    }
    let words: Vec<String> = words.iter().map(|word| encoded(word)).collect();
    if words.is_empty() { String::new() } else { format!(":q={}", words.join("+")) }
}

/// Words that an address takes along, and bytes of each.
const WORDS: usize = 8;
const LONGEST: usize = 60;

fn at(hit: &SearchHit, key: &str) -> String {
    if hit.beside {
        // A file beside the session holds nothing but a result.
        return format!("/s/{key}#");
    }
    let is_side = hit.standing == ContextStatus::Agent;
    let agent = match hit.agent_id() {
        Some(agent) => format!("/agent/{}", encoded(agent)),
        // One of old clients speaks inside the session's file: any of its lines names it.
        None if is_side => return format!("/s/{key}/agent/L{0}#L{0}", hit.line),
        None => String::new(),
    };
    // A page shows the way that goes on; what is not on it is read on a way of its own.
    let is_elsewhere = is_side || matches!(hit.standing, ContextStatus::Aside | ContextStatus::Island);
    let tip = if is_elsewhere { format!("?tip=L{}", hit.line) } else { String::new() };
    format!("/s/{key}{agent}{tip}#L{}", hit.line)
}

#[cfg(test)]
mod tests {
    use rethread_engine::core::query::{Excerpt, TextSource};

    use super::{excerpt, sought};

    #[test]
    fn an_address_takes_along_what_was_found() {
        let text = "High water, high & dry".to_owned();
        let marks = vec![0..4, 5..10, 12..16, 17..18];
        let one = Excerpt { source: TextSource::Answer, tool: None, text, marks, starts: true, ends: true };
        assert_eq!(sought(&one), ":q=high+water+%26");
        assert_eq!(sought(&Excerpt { marks: Vec::new(), ..one }), "");
    }

    #[test]
    fn matches_are_marked_and_nothing_else_is_markup() {
        let drawn = |text: &str, marks: &[(usize, usize)], before: usize| {
            let marks = marks.iter().map(|&(from, to)| from..to).collect();
            let text = text.to_owned();
            let one =
                Excerpt { source: TextSource::Answer, tool: None, text, marks, starts: true, ends: true };
            excerpt(&one, before).into_string()
        };
        assert_eq!(drawn("a <b> c", &[(2, 5)], 9), "a <mark>&lt;b&gt;</mark> c");
        assert_eq!(drawn("one  two\n three", &[(5, 8)], 9), "one <mark>two</mark> three");
        assert_eq!(drawn("äöü needle", &[(7, 13)], 1), "…ü <mark>needle</mark>");
        assert_eq!(drawn("", &[], 2), "");
        // Marks that do not fit the text are no reason to stop.
        assert_eq!(drawn("ab", &[(1, 9), (9, 9)], 5), "a");
        assert_eq!(drawn("a\u{1b}[2Jb", &[], 2), "ab");
    }
}
