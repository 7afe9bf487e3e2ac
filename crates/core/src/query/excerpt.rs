//! The words in context: the piece of text that shows best why an entry is a hit.

use std::ops::Range;

use super::compiled::CompiledQuery;
use super::document::SearchDoc;
use super::texts::TextSource;

/// Bytes kept before the first match, and of the whole piece.
const BEFORE: usize = 240;
const WHOLE: usize = 1200;
/// Matches of one needle in one text that are looked at.
const LOOKED_AT: usize = 64;
/// Bytes marked of one match.
const MARKED: usize = 400;

/// A piece of a text with its matches marked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// Who says it.
    pub source: TextSource,
    /// The tool whose input it stands in.
    pub tool: Option<String>,
    /// The piece; cut where `starts` or `ends` is not set.
    pub text: String,
    /// The matches in it, in order, none inside another.
    pub marks: Vec<Range<usize>>,
    /// Whether the piece begins where the text does.
    pub starts: bool,
    /// Whether it ends where the text does.
    pub ends: bool,
}

impl CompiledQuery {
    /// Shows the best piece of an entry's texts; its beginning where no words are looked for.
    pub fn excerpt(&self, card: &SearchDoc<'_>) -> Option<Excerpt> {
        let mut best: Option<(usize, usize, usize)> = None;
        for (no, said) in
            card.said.iter().enumerate().filter(|(_, said)| self.sources().contains(said.source))
        {
            let (kinds, at) = self.richest(&said.text);
            if best.is_none_or(|(most, ..)| kinds > most) {
                best = Some((kinds, no, at));
            }
        }
        let (_, no, at) = best?;
        let said = &card.said[no];
        let text: &str = &said.text;
        let start = text.floor_char_boundary(at.saturating_sub(BEFORE));
        let end = text.floor_char_boundary((start + WHOLE).min(text.len()));
        let marks = self.marks(text, start..end);
        Some(Excerpt {
            source: said.source,
            tool: said.tool.map(|tool| tool.decode().into_owned()),
            text: text[start..end].to_owned(),
            marks: marks.into_iter().map(|mark| mark.start - start..mark.end - start).collect(),
            starts: start == 0,
            ends: end == text.len(),
        })
    }

    /// Finds the place from which on most of the needles match soon; says how many.
    fn richest(&self, text: &str) -> (usize, usize) {
        let mut found: Vec<(usize, usize)> = Vec::new();
        for (no, needle) in self.needles().enumerate() {
            let mut from = 0;
            for _ in 0..LOOKED_AT {
                let Some(range) = needle.find(text, from) else { break };
                found.push((range.start, no));
                from = range.end;
            }
        }
        found.sort_unstable();
        let soon = |first: usize| {
            let near = found[first..].iter().take_while(|(at, _)| at - found[first].0 < WHOLE / 2);
            let mut kinds: Vec<usize> = near.map(|(_, no)| *no).collect();
            kinds.sort_unstable();
            kinds.dedup();
            kinds.len()
        };
        let best = (0..found.len()).max_by_key(|&first| (soon(first), std::cmp::Reverse(first)));
        best.map_or((0, 0), |first| (soon(first), found[first].0))
    }

    fn marks(&self, text: &str, piece: Range<usize>) -> Vec<Range<usize>> {
        let mut marks: Vec<Range<usize>> = Vec::new();
        for needle in self.needles() {
            let mut from = piece.start;
            while let Some(found) = needle.find(text, from).filter(|found| found.start < piece.end) {
                let end = text.floor_char_boundary(found.end.min(found.start + MARKED).min(piece.end));
                marks.push(found.start..end);
                from = found.end;
            }
        }
        marks.sort_by_key(|mark| (mark.start, std::cmp::Reverse(mark.end)));
        let mut end = 0;
        marks.retain(|mark| {
            let apart = mark.start >= end && !mark.is_empty();
            end = end.max(mark.end);
            apart
        });
        marks
    }
}
