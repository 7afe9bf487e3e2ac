//! Renders a search match: the excerpt, its source, and whether it is in the context of the model.

use maud::{Markup, html};
use rethread_engine::core::query::{Excerpt, TextSource};
use rethread_engine::core::resume::ContextStatus;
use rethread_engine::ops::search::SearchHit;

use super::link::percent_encode;
use crate::text::layout::{clean_inline, split_at_matches};
use crate::text::{clean, session};

/// Maximum number of characters before the first match on the search page.
pub(crate) const PAGE_CONTEXT: usize = 120;
/// Maximum number of characters before the first match in the list below a search box.
pub(crate) const LIST_CONTEXT: usize = 32;

/// Renders an excerpt with its matches marked. Cuts the text before the first match to about `max_before` characters;
/// `…` marks omitted text.
pub(crate) fn render_excerpt(excerpt: &Excerpt, max_before: usize) -> Markup {
    let text = &excerpt.text;
    let first = excerpt.marks.first().map_or(0, |mark| mark.start);
    let from =
        text.get(..first).and_then(|head| head.char_indices().rev().nth(max_before)).map_or(0, |(at, _)| at);
    let is_truncated = from > 0 || !excerpt.is_text_start;
    html! {
        @if is_truncated { "…" }
        @for (is_match, run) in split_at_matches(text, &excerpt.marks, from, clean_inline) {
            @if is_match { mark { (run) } } @else { (run) }
        }
        @if !excerpt.is_text_end { "…" }
    }
}

/// Returns the label of the source of a match: the name of the tool, else the kind of text.
pub(crate) fn source_label(hit: &SearchHit) -> String {
    if let Some(tool) = &hit.excerpt.tool {
        return clean::line(tool);
    }
    let label = match hit.excerpt.source {
        _ if hit.in_side_file => "Result file",
        TextSource::Prompt => "You",
        TextSource::Answer => "Claude",
        TextSource::Thinking => "Thinking",
        TextSource::Tool => "Tool call",
        TextSource::Result => "Result",
        TextSource::System => "Client",
        TextSource::Summary => "Summary",
        TextSource::Context => "Context",
    };
    label.to_owned()
}

/// Renders a badge with the context status of a match: in context, compacted, on another branch, and so on.
pub(crate) fn render_context_badge(hit: &SearchHit) -> Markup {
    let class = match hit.context_status {
        _ if hit.agent.is_some() => "badge-accent",
        ContextStatus::Active => "badge-good",
        ContextStatus::Compacted | ContextStatus::OtherBranch | ContextStatus::Orphaned => "badge-warn",
        ContextStatus::Subagent => "badge-accent",
        ContextStatus::Unlinked => "",
    };
    html! {
        @if hit.archived { span class="badge badge-warn" title="its file was deleted; only the archive has it" { "archived" } " " }
        span class={ "badge " (class) } { (session::context_status_label(hit)) }
    }
}

/// Returns the address of a match in the session at the address `base`, including the words to highlight.
pub(crate) fn build_hit_address(hit: &SearchHit, base: &str) -> String {
    format!("{}{}", build_entry_address(hit, base), build_highlight_suffix(&hit.excerpt))
}

/// Returns the suffix of an address that names the matched words: at most [`MAX_WORDS`], in lower case. Returns an
/// empty string if there are none.
fn build_highlight_suffix(excerpt: &Excerpt) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in excerpt.marks.iter().filter_map(|mark| excerpt.text.get(mark.clone())) {
        let word = word.to_lowercase();
        if !word.trim().is_empty()
            && word.len() <= MAX_WORD_BYTES
            && words.len() < MAX_WORDS
            && !words.contains(&word)
        {
            words.push(word);
        }
    }
    let words: Vec<String> = words.iter().map(|word| percent_encode(word)).collect();
    if words.is_empty() { String::new() } else { format!(":q={}", words.join("+")) }
}

/// Maximum number of words in an address.
const MAX_WORDS: usize = 8;
/// Maximum length in bytes of a word in an address.
const MAX_WORD_BYTES: usize = 60;

/// Returns the address of the entry that contains a match, on a branch or subagent page that shows it.
fn build_entry_address(hit: &SearchHit, base: &str) -> String {
    if hit.in_side_file {
        // A result file has no entry to link to.
        return format!("{base}#");
    }
    let is_side = hit.context_status == ContextStatus::Subagent;
    let agent = match hit.agent_id() {
        Some(agent) => format!("/agent/{}", percent_encode(agent)),
        // Old clients write subagents to the session's file. Any of its lines identifies the subagent.
        None if is_side => return format!("{base}/agent/L{0}#L{0}", hit.line),
        None => String::new(),
    };
    // The page shows the active branch. Entries that are not on it are shown on a branch that contains them.
    let is_elsewhere =
        is_side || matches!(hit.context_status, ContextStatus::OtherBranch | ContextStatus::Orphaned);
    let tip = if is_elsewhere { format!("?tip=L{}", hit.line) } else { String::new() };
    format!("{base}{agent}{tip}#L{}", hit.line)
}

#[cfg(test)]
mod tests {
    use rethread_engine::core::query::{Excerpt, TextSource};

    use super::{build_highlight_suffix, render_excerpt};

    #[test]
    fn address_contains_matched_words() {
        let text = "High water, high & dry".to_owned();
        let marks = vec![0..4, 5..10, 12..16, 17..18];
        let excerpt = Excerpt {
            source: TextSource::Answer,
            tool: None,
            text,
            marks,
            is_text_start: true,
            is_text_end: true,
        };
        assert_eq!(build_highlight_suffix(&excerpt), ":q=high+water+%26");
        assert_eq!(build_highlight_suffix(&Excerpt { marks: Vec::new(), ..excerpt }), "");
    }

    #[test]
    fn matches_are_marked_and_text_is_escaped() {
        let render = |text: &str, marks: &[(usize, usize)], before: usize| {
            let marks = marks.iter().map(|&(from, to)| from..to).collect();
            let text = text.to_owned();
            let excerpt = Excerpt {
                source: TextSource::Answer,
                tool: None,
                text,
                marks,
                is_text_start: true,
                is_text_end: true,
            };
            render_excerpt(&excerpt, before).into_string()
        };
        assert_eq!(render("a <b> c", &[(2, 5)], 9), "a <mark>&lt;b&gt;</mark> c");
        assert_eq!(render("one  two\n three", &[(5, 8)], 9), "one <mark>two</mark> three");
        assert_eq!(render("äöü needle", &[(7, 13)], 1), "…ü <mark>needle</mark>");
        assert_eq!(render("", &[], 2), "");
        // Marks outside the text are ignored.
        assert_eq!(render("ab", &[(1, 9), (9, 9)], 5), "a");
        assert_eq!(render("a\u{1b}[2Jb", &[], 2), "ab");
    }
}
