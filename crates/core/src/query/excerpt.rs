//! Selects the part of an entry's texts that contains the most matches of a query.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use super::compiled::CompiledQuery;
use super::document::SearchDoc;
use super::texts::TextSource;

/// The maximum number of bytes in an excerpt before the first match.
const LEAD_LEN: usize = 240;
/// The maximum number of bytes of an excerpt.
const EXCERPT_LEN: usize = 1200;
/// The maximum number of matches considered per needle and text.
const MAX_MATCHES: usize = 64;
/// The maximum number of bytes marked per match.
const MAX_MARK_LEN: usize = 400;

/// A part of a text with its matches marked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The source of the text.
    pub source: TextSource,
    /// The tool name if the text is part of a tool's input.
    pub tool: Option<String>,
    /// The excerpt itself: at most 1200 bytes of the text.
    pub text: String,
    /// The byte ranges of the matches in the excerpt, in order and without overlaps.
    pub marks: Vec<Range<usize>>,
    /// Whether the excerpt begins at the start of the text.
    pub is_text_start: bool,
    /// Whether the excerpt ends at the end of the text.
    pub is_text_end: bool,
}

impl CompiledQuery {
    /// Returns the excerpt with the most different needles of the query. If no needle matches, it is the beginning of
    /// the first searched text.
    ///
    /// Returns `None` if the entry has no text from the sources of the query.
    pub fn build_excerpt(&self, doc: &SearchDoc<'_>) -> Option<Excerpt> {
        // The number of needles, the index of the text and the byte offset of the first match in it.
        let mut best: Option<(usize, usize, usize)> = None;
        for (idx, field) in
            doc.texts.iter().enumerate().filter(|(_, field)| self.sources().contains(field.source))
        {
            let (needle_count, at) = self.find_densest_window(&field.text);
            if best.is_none_or(|(max, ..)| needle_count > max) {
                best = Some((needle_count, idx, at));
            }
        }
        let (_, idx, at) = best?;
        let field = &doc.texts[idx];
        let text: &str = &field.text;
        let start = text.floor_char_boundary(at.saturating_sub(LEAD_LEN));
        let end = text.floor_char_boundary((start + EXCERPT_LEN).min(text.len()));
        let marks = self.find_marks(text, start..end);
        Some(Excerpt {
            source: field.source,
            tool: field.tool.map(|tool| tool.decode().into_owned()),
            text: text[start..end].to_owned(),
            marks: marks.into_iter().map(|mark| mark.start - start..mark.end - start).collect(),
            is_text_start: start == 0,
            is_text_end: end == text.len(),
        })
    }

    /// Finds the part of half the excerpt length in which the most different needles match. Returns their number and the
    /// byte offset of the first match. Returns `(0, 0)` if no needle matches.
    fn find_densest_window(&self, text: &str) -> (usize, usize) {
        // The byte offset of each match and the index of its needle.
        let mut matches: Vec<(usize, usize)> = Vec::new();
        for (idx, needle) in self.needles().enumerate() {
            let mut from = 0;
            for _ in 0..MAX_MATCHES {
                let Some(range) = needle.find(text, from) else { break };
                matches.push((range.start, idx));
                from = range.end;
            }
        }
        matches.sort_unstable();
        find_densest_window(&matches, EXCERPT_LEN / 2)
    }

    /// Returns the byte ranges in `text` of the matches that start in `window`, in order and without overlaps.
    ///
    /// Ranges end at the end of the window and have at most 400 bytes.
    fn find_marks(&self, text: &str, window: Range<usize>) -> Vec<Range<usize>> {
        let mut marks: Vec<Range<usize>> = Vec::new();
        for needle in self.needles() {
            let mut from = window.start;
            while let Some(range) = needle.find(text, from).filter(|range| range.start < window.end) {
                let end = text.floor_char_boundary(range.end.min(range.start + MAX_MARK_LEN).min(window.end));
                marks.push(range.start..end);
                from = range.end;
            }
        }
        marks.sort_by_key(|mark| (mark.start, std::cmp::Reverse(mark.end)));
        let mut end = 0;
        marks.retain(|mark| {
            let is_disjoint = mark.start >= end && !mark.is_empty();
            end = end.max(mark.end);
            is_disjoint
        });
        marks
    }
}

/// Finds the window of `len` bytes that starts at a match and contains matches of the most different needles; the first one of
/// several. Returns the number of needles and the start. Returns `(0, 0)` without matches.
///
/// `matches` are the byte offset of each match and the index of its needle, sorted.
fn find_densest_window(matches: &[(usize, usize)], len: usize) -> (usize, usize) {
    let mut counts: HashMap<usize, usize> = HashMap::new();
    let mut end = 0;
    let mut best = (0, 0);
    for &(start, needle) in matches {
        while let Some((_, added)) = matches.get(end).filter(|(at, _)| at - start < len) {
            *counts.entry(*added).or_default() += 1;
            end += 1;
        }
        if counts.len() > best.0 {
            best = (counts.len(), start);
        }
        // The next window does not contain this match.
        if let Entry::Occupied(mut count) = counts.entry(needle) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::find_densest_window;

    #[test]
    fn densest_window_has_the_most_different_needles() {
        assert_eq!(find_densest_window(&[], 10), (0, 0));
        assert_eq!(find_densest_window(&[(3, 0), (5, 0), (40, 1), (49, 0), (60, 2)], 10), (2, 40));
        assert_eq!(find_densest_window(&[(3, 0), (5, 1), (40, 1), (49, 0)], 10), (2, 3));
        assert_eq!(find_densest_window(&[(0, 0), (10, 1), (10, 2), (11, 0)], 10), (3, 10));
    }

    /// Comparing each match with all others near it would take 10^12 steps.
    #[test]
    fn densest_window_of_a_million_matches_is_found() {
        let matches: Vec<(usize, usize)> = (0..1_000_000).map(|idx| (idx / 1000, idx % 1000)).collect();
        assert_eq!(find_densest_window(&matches, 1000), (1000, 0));
    }
}
