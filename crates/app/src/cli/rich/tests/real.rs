//! Renders every prompt and answer of real sessions.
//!
//! The files are not part of the project: `RETHREAD_GOLDEN` and `RETHREAD_CORPUS` name their folders.

use std::collections::HashMap;

use anstream::adapter::strip_str;
use rethread_engine::core::entry::read_line;
use rethread_engine::core::lines::Line;
use rethread_engine::core::turn::{TurnPart, build_turn};
use rethread_testkit::real::find_sessions;
use unicode_width::UnicodeWidthStr;

use super::{WIDE, check_safe, render};
use crate::cli::clean;
use crate::cli::rich::{TextKind, is_renderable};

/// Returns the prompts and answers of a file.
fn find_texts(bytes: &[u8]) -> Vec<(TextKind, String)> {
    let mut entries = Vec::new();
    for (idx, bytes) in (1_u32..).zip(bytes.split(|&byte| byte == b'\n')) {
        let line = Line { number: idx, offset: 0, bytes, unterminated: false };
        read_line(&line, &mut Vec::new(), |entry, _| entries.push((idx, entry)));
    }
    let turn = build_turn(&entries);
    let prompt = turn.prompt.map(|prompt| (TextKind::Prompt, prompt.text));
    let parts = turn.parts.into_iter().filter_map(|item| match item.part {
        TurnPart::Text(text) => Some((TextKind::Answer, text)),
        TurnPart::Queued(text) => Some((TextKind::Prompt, text)),
        _ => None,
    });
    prompt.into_iter().chain(parts).filter(|(_, text)| is_renderable(text)).collect()
}

/// Removes the addresses of links that are equal to their text. They are shown once.
fn remove_equal_addresses(source: &str) -> String {
    let mut removed = String::new();
    for part in source.split_inclusive(')') {
        let address = part.rsplit_once("](").map_or("", |(_, address)| address.trim_end_matches(')'));
        let is_equal = !address.is_empty() && part.contains(&format!("[{address}]("));
        removed.push_str(if is_equal { &part[..part.len() - address.len() - 1] } else { part });
    }
    removed
}

/// Counts the words that no line break splits: those of Latin letters, in a short text between two spaces.
fn count_words(text: &str) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    for chunk in text.split_whitespace().filter(|chunk| chunk.len() < 60 && !chunk.contains('&')) {
        for word in chunk.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.len() > 1) {
            *counts.entry(word).or_default() += 1;
        }
    }
    counts
}

#[test]
fn texts_of_real_sessions_keep_their_words_and_fit_the_width() {
    for (variable, least) in [("RETHREAD_GOLDEN", 300), ("RETHREAD_CORPUS", 5_000)] {
        let paths = find_sessions("texts of real sessions", variable);
        let mut rendered = 0;
        for path in &paths {
            let bytes = std::fs::read(path).expect("a session can be read");
            for (kind, source) in find_texts(&bytes) {
                let wide = render(&source, kind, WIDE);
                check_safe(&wide);
                let wide = strip_str(&wide).to_string();
                let source = remove_equal_addresses(&clean::text(&source));
                let shown = count_words(&wide);
                for (word, count) in count_words(&source) {
                    // Marks between two words may be omitted, so that they become one.
                    let is_shown = shown.get(word) >= Some(&count) || wide.matches(word).count() >= count;
                    assert!(is_shown, "{}: `{word}` of {source:?}\n{wide}", path.display());
                }
                let narrow = strip_str(&render(&source, kind, 60)).to_string();
                let widest = narrow.lines().map(UnicodeWidthStr::width).max().unwrap_or_default();
                assert!(widest <= 60, "{}: {widest} columns\n{narrow}", path.display());
                rendered += 1;
            }
        }
        assert!(paths.is_empty() || rendered >= least, "{rendered} texts in {variable}");
    }
}
