//! Finds the anchors of all detectors in one pass. Almost all bytes of a session are decided here.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::assignment::KEY_WORDS;
use super::detector::Position;
use super::detectors::DETECTORS;

/// The meaning of an anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum AnchorUse {
    /// A detector of this index may match.
    Detector(u16),
    /// A word of a key.
    Word,
    /// An escape of a printable character in JSON.
    JsonEscape,
    /// An escape in an address.
    PercentEscape,
}

/// The automaton and what its patterns mean.
pub(super) struct Anchors {
    pub(super) automaton: Option<AhoCorasick>,
    /// For each pattern its uses, with the length of the anchor.
    pub(super) uses: Vec<Vec<(AnchorUse, usize)>>,
}

/// Escapes that clients do not need to write, so that a text with them may hide an anchor.
const JSON_ESCAPES: &[&str] = &["\\u002", "\\u003", "\\u004", "\\u005", "\\u006", "\\u007"];
/// Escapes of the characters that addresses must escape in a secret.
const PERCENT_ESCAPES: &[&str] =
    &["%2B", "%2F", "%3D", "%3A", "%40", "%2b", "%2f", "%3d", "%3a", "%21", "%23", "%24", "%20", "%22"];

pub(super) static ANCHORS: LazyLock<Anchors> = LazyLock::new(|| {
    let mut anchors: Vec<(&str, AnchorUse)> = Vec::new();
    for (idx, detector) in (0..).zip(&DETECTORS).filter(|(_, detector)| detector.position != Position::Value)
    {
        anchors.extend(detector.anchors.iter().map(|&anchor| (anchor, AnchorUse::Detector(idx))));
    }
    anchors.extend(KEY_WORDS.iter().map(|&word| (word, AnchorUse::Word)));
    anchors.extend(JSON_ESCAPES.iter().map(|&escape| (escape, AnchorUse::JsonEscape)));
    anchors.extend(PERCENT_ESCAPES.iter().map(|&escape| (escape, AnchorUse::PercentEscape)));
    let mut patterns: Vec<&str> = anchors.iter().map(|(anchor, _)| *anchor).collect();
    patterns.sort_unstable();
    patterns.dedup();
    // The longest anchor is reported, so it also has the uses of the anchors with which it begins.
    let uses_of = |pattern: &&str| {
        let mut uses: Vec<(AnchorUse, usize)> = anchors
            .iter()
            .filter(|(anchor, _)| pattern.starts_with(anchor))
            .map(|(anchor, anchor_use)| (*anchor_use, anchor.len()))
            .collect();
        uses.sort_unstable_by_key(|(anchor_use, len)| (*anchor_use, std::cmp::Reverse(*len)));
        uses.dedup_by_key(|(anchor_use, _)| *anchor_use);
        uses
    };
    let uses = patterns.iter().map(uses_of).collect();
    let mut builder = AhoCorasick::builder();
    builder.match_kind(MatchKind::LeftmostLongest).kind(Some(AhoCorasickKind::DFA));
    Anchors { automaton: builder.build(&patterns).ok(), uses }
});
