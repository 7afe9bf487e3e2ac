//! Matches in an entry: where, how many, and the words around them.

use super::needle::Needle;
use super::texts::{Scope, TextSource, for_each_text};
use crate::entry::Entry;

/// Bytes kept before a match, of it and behind it.
const BEFORE: usize = 160;
const WORDS: usize = 400;
const BEHIND: usize = 320;
/// Texts of one entry that are quoted.
const QUOTED: usize = 8;

/// What an entry holds of what was looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntryMatches {
    /// The first match of each text that has one; of the first texts only.
    pub hits: Vec<Hit>,
    /// Matches in all texts.
    pub count: usize,
}

/// The first match in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Who says it.
    pub source: TextSource,
    /// The tool whose input it stands in.
    pub tool: Option<String>,
    /// What stands before it; cut where `starts` is not set.
    pub before: String,
    /// What matched; the beginning of it where it is long.
    pub words: String,
    /// What stands behind it; cut where `ends` is not set.
    pub after: String,
    /// Whether `before` begins where the text does.
    pub starts: bool,
    /// Whether `behind` ends where the text does.
    pub ends: bool,
    /// Matches in this text.
    pub count: usize,
}

impl Needle {
    /// Looks through the texts of an entry; only those of the `sources`, where any are named.
    pub fn find_in_entry(&self, entry: &Entry<'_>, scope: Scope, sources: &[TextSource]) -> EntryMatches {
        let mut found = EntryMatches::default();
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
            found.count += count;
            if found.hits.len() < QUOTED {
                let start = text.floor_char_boundary(first.start.saturating_sub(BEFORE));
                let end = text.floor_char_boundary(first.end.min(first.start + WORDS));
                let last = text.floor_char_boundary((end + BEHIND).min(text.len()));
                found.hits.push(Hit {
                    source,
                    tool: tool.map(|tool| tool.decode().into_owned()),
                    before: text[start..first.start].to_owned(),
                    words: text[first.start..end].to_owned(),
                    after: text[end..last].to_owned(),
                    starts: start == 0,
                    ends: last == text.len(),
                    count,
                });
            }
        });
        found
    }
}
