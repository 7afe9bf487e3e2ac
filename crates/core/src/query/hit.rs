//! Finds the matches of a needle in an entry, with their surroundings.

use super::needle::Needle;
use super::texts::{TextScope, TextSource, for_each_text};
use crate::entry::Entry;

/// The maximum number of bytes shown before a match, of the match itself and after it.
const BEFORE_LEN: usize = 160;
const MATCH_LEN: usize = 400;
const AFTER_LEN: usize = 320;
/// The maximum number of hits per entry.
const MAX_HITS: usize = 8;

/// The matches in one entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntryMatches {
    /// The first match of each text that has one, for at most eight texts.
    pub hits: Vec<Hit>,
    /// The number of matches in all texts.
    pub count: usize,
}

/// The first match in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The source of the text.
    pub source: TextSource,
    /// The tool name if the text is part of a tool's input.
    pub tool: Option<String>,
    /// At most 160 bytes of text before the match. It is complete if `is_text_start` is set.
    pub before: String,
    /// The matched text, truncated to 400 bytes.
    pub matched: String,
    /// At most 320 bytes of text after `matched`. It is complete if `is_text_end` is set.
    pub after: String,
    /// Whether `before` begins at the start of the text.
    pub is_text_start: bool,
    /// Whether `after` ends at the end of the text.
    pub is_text_end: bool,
    /// The number of matches in this text.
    pub count: usize,
}

impl Needle {
    /// Counts the matches in the texts of an entry and returns the first match of each text.
    ///
    /// `scope` selects the texts. If `sources` is not empty, only texts from these sources are searched.
    pub fn find_in_entry(&self, entry: &Entry<'_>, scope: TextScope, sources: &[TextSource]) -> EntryMatches {
        let mut matches = EntryMatches::default();
        for_each_text(entry, scope, |source, tool, text| {
            if !sources.is_empty() && !sources.contains(&source) {
                return;
            }
            let Some(first) = self.find(&text, 0) else { return };
            let mut count = 1;
            let mut from = first.end;
            while let Some(next) = self.find(&text, from) {
                count += 1;
                from = next.end;
            }
            matches.count += count;
            if matches.hits.len() < MAX_HITS {
                let start = text.floor_char_boundary(first.start.saturating_sub(BEFORE_LEN));
                let end = text.floor_char_boundary(first.end.min(first.start + MATCH_LEN));
                let last = text.floor_char_boundary((end + AFTER_LEN).min(text.len()));
                matches.hits.push(Hit {
                    source,
                    tool: tool.map(|tool| tool.decode().into_owned()),
                    before: text[start..first.start].to_owned(),
                    matched: text[first.start..end].to_owned(),
                    after: text[end..last].to_owned(),
                    is_text_start: start == 0,
                    is_text_end: last == text.len(),
                    count,
                });
            }
        });
        matches
    }
}
