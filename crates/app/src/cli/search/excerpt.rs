//! Renders the text around a match, on one line or on several.

use std::ops::Range;

use rethread_engine::core::query::Excerpt;
use unicode_width::UnicodeWidthStr;

use crate::cli::clean;
use crate::cli::style::{MATCH, PLAIN};
use crate::cli::table::{Cell, truncate_start};
use crate::text::layout::{Run, clean_inline, split_at_matches};

/// The minimum width in columns of a part of the excerpt, if matches are far apart.
const MIN_PART_WIDTH: usize = 24;

/// Renders the text around the matches on one line of at most `max_width` columns.
///
/// Uses several parts if one would not show all matching words.
pub(super) fn render_line(excerpt: &Excerpt, max_width: usize) -> String {
    let first_marks = find_first_matches(excerpt, (max_width / MIN_PART_WIDTH).max(1));
    let part_count = first_marks.len().max(1);
    let span = first_marks.first().zip(first_marks.last()).map(|(first, last)| last.end - first.start);
    if part_count == 1 || span.is_some_and(|span| span < max_width / 2) {
        return render_part(excerpt, 0..excerpt.text.len(), max_width);
    }
    let mut start = 0;
    let mut parts = Vec::new();
    for (idx, mark) in first_marks.iter().enumerate() {
        let middle =
            |next: &Range<usize>| excerpt.text.floor_char_boundary(usize::midpoint(mark.end, next.start));
        let end = first_marks.get(idx + 1).map_or(excerpt.text.len(), middle).max(mark.end);
        // One column separates the part from the next one.
        parts.push(render_part(excerpt, start..end, (max_width + 1) / part_count - 1));
        start = end;
    }
    parts.join(" ")
}

/// Returns the byte range of the first match of each matching word, in text order, at most `limit`.
fn find_first_matches(excerpt: &Excerpt, limit: usize) -> Vec<Range<usize>> {
    let mut words: Vec<String> = Vec::new();
    let mut first_marks = Vec::new();
    for mark in &excerpt.marks {
        let word = excerpt.text[mark.clone()].to_lowercase();
        if first_marks.len() < limit && !words.contains(&word) {
            words.push(word);
            first_marks.push(mark.clone());
        }
    }
    first_marks
}

/// Renders the byte range `part` of the text, truncated around its first match.
fn render_part(excerpt: &Excerpt, part: Range<usize>, max_width: usize) -> String {
    let mut runs =
        split_at_matches(&excerpt.text[part.clone()], &clip_marks(excerpt, &part), 0, clean_inline);
    if let Some((_, first)) = runs.first_mut() {
        *first = first.trim_start().to_owned();
    }
    if part.start > 0 || !excerpt.is_text_start {
        runs.insert(0, (false, "…".to_owned()));
    }
    if part.end < excerpt.text.len() || !excerpt.is_text_end {
        runs.push((false, "…".to_owned()));
    }
    fit_around_match(&runs, max_width)
}

/// Returns the byte ranges of the matches in a part of the text, clipped to it and relative to its start.
fn clip_marks(excerpt: &Excerpt, part: &Range<usize>) -> Vec<Range<usize>> {
    let is_inside = |mark: &&Range<usize>| mark.start < part.end && mark.end > part.start;
    let clip =
        |mark: &Range<usize>| mark.start.max(part.start) - part.start..mark.end.min(part.end) - part.start;
    excerpt.marks.iter().filter(is_inside).map(clip).collect()
}

/// Renders the line of the first match and `context` lines above and below it.
pub(super) fn render_lines(excerpt: &Excerpt, context: usize, max_width: usize) -> Vec<String> {
    let text = &excerpt.text;
    let first = excerpt.marks.first().map_or(0, |mark| mark.start);
    let mut rows: Vec<Range<usize>> = Vec::new();
    for line in text.split_inclusive('\n') {
        let start = rows.last().map_or(0, |row| row.end);
        rows.push(start..start + line.len());
    }
    let match_row = rows.iter().position(|row| row.contains(&first)).unwrap_or(0);
    let shown = match_row.saturating_sub(context)..(match_row + context + 1).min(rows.len());
    let rendered = rows.get(shown).unwrap_or_default().iter().map(|row| {
        let marks = clip_marks(excerpt, row);
        fit_around_match(&split_at_matches(&text[row.clone()], &marks, 0, clean_spaced), max_width)
    });
    rendered.collect()
}

/// Cleans a part of a line, keeping its spaces.
fn clean_spaced(part: &str) -> String {
    clean::text(part).trim_end_matches('\n').replace('\t', "    ").replace('\n', " ")
}

/// Renders runs of text in at most `max_width` columns so that the first match, or its start, is visible.
fn fit_around_match(runs: &[Run], max_width: usize) -> String {
    let first = runs.iter().position(|(is_match, _)| *is_match).unwrap_or(0);
    let before: String = runs[..first].iter().map(|(_, text)| text.as_str()).collect();
    let rest = &runs[first..];
    let width = |runs: &[Run]| runs.iter().map(|(_, text)| text.width()).sum::<usize>();
    let match_width = rest.first().map_or(0, |(_, text)| text.width()).min(max_width);
    // The text after a match is usually more informative. Width that it does not need is used for the text before.
    let free = max_width - match_width;
    let before = truncate_start(&before, (free / 3).max(free.saturating_sub(width(rest) - match_width)));
    let mut cell = Cell::new(PLAIN, before);
    for (is_match, text) in rest {
        cell = cell.and(if *is_match { MATCH } else { PLAIN }, text.clone());
    }
    cell.render(max_width)
}

#[cfg(test)]
mod tests {
    use super::{render_line, render_lines};
    use anstream::adapter::strip_str;
    use rethread_engine::core::query::{Excerpt, TextSource};

    fn excerpt(text: &str, matched: &str) -> Excerpt {
        let marks =
            text.match_indices(matched).map(|(start, matched)| start..start + matched.len()).collect();
        let text = text.to_owned();
        Excerpt {
            source: TextSource::Answer,
            tool: None,
            text,
            marks,
            is_text_start: false,
            is_text_end: true,
        }
    }

    #[test]
    fn matches_are_never_truncated() {
        let text = format!("{} the needle\n\tand  another needle {}", "hay ".repeat(30), "straw ".repeat(30));
        let excerpt = excerpt(&text, "needle");
        let render = |width| strip_str(&render_line(&excerpt, width)).to_string();
        insta::assert_snapshot!([10, 30, 60].map(render).join("\n"), @"
        …needle a…
        …ay the needle and another ne…
        … hay hay hay the needle and another needle straw straw str…
        ");
    }

    #[test]
    fn distant_matches_are_all_shown() {
        let text = format!("a pin {} the Pin and a needle", "hay ".repeat(60));
        let mut excerpt = excerpt(&text, "needle");
        excerpt.marks.insert(0, 2..5);
        let render = |width| strip_str(&render_line(&excerpt, width)).to_string();
        insta::assert_snapshot!([30, 60, 100].map(render).join("\n"), @"
        …a pin hay hay hay hay hay ha…
        …a pin hay hay hay hay hay h… …hay hay the Pin and a needle
        …a pin hay hay hay hay hay hay hay hay hay hay h… …hay hay hay hay hay hay hay the Pin and a needle
        ");
    }

    #[test]
    fn lines_keep_their_indentation() {
        let excerpt = excerpt("one\n  two {\n\tneedle();\n  }\nfive", "needle");
        let rendered: Vec<String> =
            render_lines(&excerpt, 1, 40).iter().map(|line| strip_str(line).to_string()).collect();
        assert_eq!(rendered, ["  two {", "    needle();", "  }"]);
    }
}
