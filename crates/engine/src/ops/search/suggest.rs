//! Finds words that occur and resemble a word that does not.

use std::collections::BTreeSet;

use rethread_core::query::{TermKind, Tokenizer, compute_edit_distance};

use super::find_unindexed;
use super::snapshot::MAX_REFRESH_BYTES;
use crate::cache::{CacheDir, IndexError};
use crate::disk::{DirCache, Roots, ScanOptions, SessionFile, find_sessions_and_results, read_docs};
use crate::search_index::{IndexReader, IndexedFile};

/// The shortest word for which similar words are found. Shorter ones resemble too many.
const MIN_LEN: usize = 4;
/// Words of at least this length may differ in two letters, shorter ones in one.
const MIN_LEN_FOR_TWO: usize = 6;

/// Returns the words of all sessions that differ from `word` in one or two letters, the most similar first.
///
/// The list may contain words of files that were deleted since.
pub fn find_similar_words(roots: &Roots, word: &str, cache: Option<&CacheDir>) -> Vec<String> {
    let Some(mut similar) = SimilarWords::new(word) else { return Vec::new() };
    let index = cache.and_then(|cache| cache.search_index(roots));
    let is_complete = index.is_some_and(|index| {
        let content = index.refresh(roots, MAX_REFRESH_BYTES, &|_| {});
        let rows = content.reader.find_current(&content.files);
        similar.add_indexed(&content.reader, &content.files, &rows).is_ok()
    });
    if !is_complete {
        let (files, _) = find_sessions_and_results(roots, &mut DirCache::default());
        let rows = vec![None; files.len()];
        // Without an index, nothing can be damaged.
        let _ = similar.add_indexed(&IndexReader::default(), &files, &rows);
    }
    similar.found.into_iter().map(|(_, word)| word).collect()
}

/// Collects words that resemble a word.
struct SimilarWords {
    word: String,
    max_distance: usize,
    /// The words with their distances.
    found: BTreeSet<(usize, String)>,
}

impl SimilarWords {
    /// Returns `None` if the word is too short or not a single word of letters.
    fn new(word: &str) -> Option<SimilarWords> {
        let word = word.to_lowercase();
        let len = word.chars().count();
        if len < MIN_LEN || !word.chars().all(char::is_alphabetic) {
            return None;
        }
        let max_distance = if len < MIN_LEN_FOR_TWO { 1 } else { 2 };
        Some(SimilarWords { word, max_distance, found: BTreeSet::new() })
    }

    /// Adds the words of an index and of the parts of `files` that are not indexed.
    fn add_indexed(
        &mut self,
        reader: &IndexReader,
        files: &[SessionFile],
        rows: &[Option<&IndexedFile>],
    ) -> Result<(), IndexError> {
        reader.for_each_word(|term| self.add(term))?;
        let mut tokenizer = Tokenizer::default();
        for mut range in find_unindexed(reader, files, rows)? {
            let file = &files[range.file_idx];
            let options = ScanOptions::exact_range(range.from..file.len, range.line_count);
            // A file that cannot be read was reported by the search before.
            let _ = read_docs(file, &options, &mut range.builder, |doc, _| {
                for field in &doc.texts {
                    tokenizer.for_each_term(&field.text, |kind, term| {
                        if kind == TermKind::Word {
                            self.add(term);
                        }
                    });
                }
            });
        }
        Ok(())
    }

    /// Adds a word if it is similar and another one.
    fn add(&mut self, term: &str) {
        if term.len().abs_diff(self.word.len()) > self.max_distance * 4 || term == self.word {
            return;
        }
        let distance = compute_edit_distance(&self.word, term);
        if distance <= self.max_distance {
            self.found.insert((distance, term.to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SimilarWords;

    #[test]
    fn words_differ_in_one_or_two_letters_by_their_length() {
        let find = |word: &str, terms: &[&str]| -> Vec<String> {
            let mut similar = SimilarWords::new(word).unwrap();
            terms.iter().for_each(|term| similar.add(term));
            similar.found.into_iter().map(|(_, word)| word).collect()
        };
        assert_eq!(find("Websokcet", &["websocket", "websockets", "socket"]), ["websocket"]);
        assert_eq!(find("tide", &["tides", "time", "tide", "tiled", "rope"]), ["tides", "time"]);
        assert!(SimilarWords::new("abc").is_none() && SimilarWords::new("a b c d").is_none());
    }
}
