//! The words around a match: on one line, or on several as they stand.

use std::ops::Range;

use rethread_engine::core::query::Excerpt;
use unicode_width::UnicodeWidthStr;

use super::super::clean;
use super::super::style::{FOUND, PLAIN};
use super::super::table::{Cell, fit_end};
use crate::text::runs::{Run, joined, split_at_matches};

/// What a part of a line has of the room at least, where the matches stand far apart.
const PART: usize = 24;

/// Draws the text around the matches on one line: in one part, or where other words would not be seen, in several.
pub(super) fn line(excerpt: &Excerpt, room: usize) -> String {
    let firsts = firsts(excerpt, (room / PART).max(1));
    let shares = firsts.len().max(1);
    let span = firsts.first().zip(firsts.last()).map(|(first, last)| last.end - first.start);
    if shares == 1 || span.is_some_and(|span| span < room / 2) {
        return part(excerpt, 0..excerpt.text.len(), room);
    }
    let mut from = 0;
    let mut parts = Vec::new();
    for (k, mark) in firsts.iter().enumerate() {
        let middle =
            |next: &Range<usize>| excerpt.text.floor_char_boundary(usize::midpoint(mark.end, next.start));
        let to = firsts.get(k + 1).map_or(excerpt.text.len(), middle).max(mark.end);
        // One column parts it from the next.
        parts.push(part(excerpt, from..to, (room + 1) / shares - 1));
        from = to;
    }
    parts.join(" ")
}

/// Returns where each word that matches does so first, in order; at most so many.
fn firsts(excerpt: &Excerpt, most: usize) -> Vec<Range<usize>> {
    let mut words: Vec<String> = Vec::new();
    let mut firsts = Vec::new();
    for mark in &excerpt.marks {
        let word = excerpt.text[mark.clone()].to_lowercase();
        if firsts.len() < most && !words.contains(&word) {
            words.push(word);
            firsts.push(mark.clone());
        }
    }
    firsts
}

/// Draws a part of the text around its first match.
fn part(excerpt: &Excerpt, piece: Range<usize>, room: usize) -> String {
    let mut runs = split_at_matches(&excerpt.text[piece.clone()], &marks_in(excerpt, &piece), 0, joined);
    if let Some((_, first)) = runs.first_mut() {
        *first = first.trim_start().to_owned();
    }
    if piece.start > 0 || !excerpt.starts {
        runs.insert(0, (false, "…".to_owned()));
    }
    if piece.end < excerpt.text.len() || !excerpt.ends {
        runs.push((false, "…".to_owned()));
    }
    around(&runs, room)
}

/// Returns the matches in a piece of the text, counted from its beginning.
fn marks_in(excerpt: &Excerpt, piece: &Range<usize>) -> Vec<Range<usize>> {
    let inside = |mark: &&Range<usize>| mark.start < piece.end && mark.end > piece.start;
    let cut = |mark: &Range<usize>| {
        mark.start.max(piece.start) - piece.start..mark.end.min(piece.end) - piece.start
    };
    excerpt.marks.iter().filter(inside).map(cut).collect()
}

/// Draws the line of the first match with some lines above and below it.
pub(super) fn lines(excerpt: &Excerpt, context: usize, room: usize) -> Vec<String> {
    let text = &excerpt.text;
    let first = excerpt.marks.first().map_or(0, |mark| mark.start);
    let mut rows: Vec<Range<usize>> = Vec::new();
    for line in text.split_inclusive('\n') {
        let start = rows.last().map_or(0, |row| row.end);
        rows.push(start..start + line.len());
    }
    let hit = rows.iter().position(|row| row.contains(&first)).unwrap_or(0);
    let shown = hit.saturating_sub(context)..(hit + context + 1).min(rows.len());
    let drawn = rows.get(shown).unwrap_or_default().iter().map(|row| {
        let marks = marks_in(excerpt, row);
        around(&split_at_matches(&text[row.clone()], &marks, 0, spaced), room)
    });
    drawn.collect()
}

/// Cleans a part of a line as it stands.
fn spaced(part: &str) -> String {
    clean::text(part).trim_end_matches('\n').replace('\t', "    ").replace('\n', " ")
}

/// Cuts runs to a room so that the first match is seen whole, or its beginning.
fn around(runs: &[Run], room: usize) -> String {
    let first = runs.iter().position(|(is_match, _)| *is_match).unwrap_or(0);
    let before: String = runs[..first].iter().map(|(_, text)| text.as_str()).collect();
    let rest = &runs[first..];
    let width = |runs: &[Run]| runs.iter().map(|(_, text)| text.width()).sum::<usize>();
    let words = rest.first().map_or(0, |(_, text)| text.width()).min(room);
    // What stands behind usually says more; what it does not need goes to what stands before.
    let left = room - words;
    let before = fit_end(&before, (left / 3).max(left.saturating_sub(width(rest) - words)));
    let mut cell = Cell::new(PLAIN, before);
    for (is_match, text) in rest {
        cell = cell.and(if *is_match { FOUND } else { PLAIN }, text.clone());
    }
    cell.draw(room)
}

#[cfg(test)]
mod tests {
    use super::{line, lines};
    use anstream::adapter::strip_str;
    use rethread_engine::core::query::{Excerpt, TextSource};

    fn excerpt(text: &str, words: &str) -> Excerpt {
        let marks = text.match_indices(words).map(|(at, words)| at..at + words.len()).collect();
        let text = text.to_owned();
        Excerpt { source: TextSource::Answer, tool: None, text, marks, starts: false, ends: true }
    }

    #[test]
    fn a_match_is_never_cut_away() {
        let text = format!("{} the needle\n\tand  another needle {}", "hay ".repeat(30), "straw ".repeat(30));
        let excerpt = excerpt(&text, "needle");
        let drawn = |room| strip_str(&line(&excerpt, room)).to_string();
        insta::assert_snapshot!([10, 30, 60].map(drawn).join("\n"), @"
        …needle a…
        …ay the needle and another ne…
        … hay hay hay the needle and another needle straw straw str…
        ");
    }

    #[test]
    fn words_far_apart_are_all_seen() {
        let text = format!("a pin {} the Pin and a needle", "hay ".repeat(60));
        let mut excerpt = excerpt(&text, "needle");
        excerpt.marks.insert(0, 2..5);
        let drawn = |room| strip_str(&line(&excerpt, room)).to_string();
        insta::assert_snapshot!([30, 60, 100].map(drawn).join("\n"), @"
        …a pin hay hay hay hay hay ha…
        …a pin hay hay hay hay hay h… …hay hay the Pin and a needle
        …a pin hay hay hay hay hay hay hay hay hay hay h… …hay hay hay hay hay hay hay the Pin and a needle
        ");
    }

    #[test]
    fn lines_stand_as_they_were_written() {
        let excerpt = excerpt("one\n  two {\n\tneedle();\n  }\nfive", "needle");
        let drawn: Vec<String> =
            lines(&excerpt, 1, 40).iter().map(|line| strip_str(line).to_string()).collect();
        assert_eq!(drawn, ["  two {", "    needle();", "  }"]);
    }
}
