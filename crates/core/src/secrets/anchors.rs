//! Finds the anchors of all detectors in one pass. Almost all bytes of a session are decided here.
//!
//! The automaton spends its time waiting for the next state, so four parts of a block are searched in turn.

use std::sync::LazyLock;

use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::dfa::DFA;
use aho_corasick::{Anchored, MatchKind, StartKind};

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
    automaton: DFA,
    start: StateID,
    /// The length of the longest anchor.
    max_len: usize,
    /// For each pattern its uses, with the length of the anchor.
    uses: Vec<Vec<(AnchorUse, usize)>>,
}

/// Escapes that clients do not need to write, so that a text with them may hide an anchor.
const JSON_ESCAPES: &[&str] = &["\\u002", "\\u003", "\\u004", "\\u005", "\\u006", "\\u007"];
/// Escapes of the characters that addresses must escape in a secret.
const PERCENT_ESCAPES: &[&str] =
    &["%2B", "%2F", "%3D", "%3A", "%40", "%2b", "%2f", "%3d", "%3a", "%21", "%23", "%24", "%20", "%22"];

/// Returns all anchors with their meaning.
fn list_anchors() -> Vec<(&'static str, AnchorUse)> {
    let mut anchors: Vec<(&str, AnchorUse)> = Vec::new();
    for (idx, detector) in (0..).zip(&DETECTORS).filter(|(_, detector)| detector.position != Position::Value)
    {
        anchors.extend(detector.anchors.iter().map(|&anchor| (anchor, AnchorUse::Detector(idx))));
    }
    anchors.extend(KEY_WORDS.iter().map(|&word| (word, AnchorUse::Word)));
    anchors.extend(JSON_ESCAPES.iter().map(|&escape| (escape, AnchorUse::JsonEscape)));
    anchors.extend(PERCENT_ESCAPES.iter().map(|&escape| (escape, AnchorUse::PercentEscape)));
    anchors
}

static ANCHORS: LazyLock<Option<Anchors>> = LazyLock::new(|| {
    let anchors = list_anchors();
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
    let mut builder = DFA::builder();
    builder.match_kind(MatchKind::Standard).start_kind(StartKind::Unanchored).prefilter(false);
    let automaton = builder.build(&patterns).ok()?;
    let start = automaton.start_state(Anchored::No).ok()?;
    Some(Anchors { max_len: automaton.max_pattern_len(), automaton, start, uses })
});

/// Bytes that are searched before the anchors in them are returned.
const BLOCK_LEN: usize = 16 << 10;
/// The number of parts of a block that are searched in turn.
const PARTS: usize = 4;

/// Finds the anchors of a text in order: at each position the longest one.
pub(super) struct AnchorFinder<'t> {
    anchors: &'static Anchors,
    text: &'t [u8],
    /// The end of the bytes that were searched.
    searched: usize,
    /// The anchors that end in them: start and pattern, by start and then by end.
    found: Vec<(usize, u32)>,
    next: usize,
    /// The states with anchors in each part of a block, and the positions at which they end.
    ends: [Vec<(usize, StateID)>; PARTS],
}

impl<'t> AnchorFinder<'t> {
    /// Creates a finder. Returns `None` if there is no automaton.
    pub(super) fn new(text: &'t [u8]) -> Option<AnchorFinder<'t>> {
        let anchors = ANCHORS.as_ref()?;
        Some(AnchorFinder {
            anchors,
            text,
            searched: 0,
            found: Vec::new(),
            next: 0,
            ends: Default::default(),
        })
    }

    /// Returns the start of the first anchor at or after `from` that was not returned yet, and its uses.
    pub(super) fn find(&mut self, from: usize) -> Option<(usize, &'static [(AnchorUse, usize)])> {
        loop {
            // A longer anchor may end in the next block.
            let is_last = self.searched == self.text.len();
            let complete_until =
                if is_last { usize::MAX } else { (self.searched + 1).saturating_sub(self.anchors.max_len) };
            while let Some(&(start, pattern)) =
                self.found.get(self.next).filter(|(start, _)| *start < complete_until)
            {
                self.next += 1;
                let has_longer =
                    self.found.get(self.next).is_some_and(|(next_start, _)| *next_start == start);
                if start >= from && !has_longer {
                    return Some((start, &self.anchors.uses[pattern as usize]));
                }
            }
            if is_last {
                return None;
            }
            self.found.drain(..self.next);
            self.next = 0;
            self.search_block();
        }
    }

    fn search_block(&mut self) {
        let anchors = self.anchors;
        let step = |state, byte| anchors.automaton.next_state(Anchored::No, state, byte);
        let begin = self.searched;
        let end = self.text.len().min(begin + BLOCK_LEN);
        let part_len = (end - begin) / PARTS;
        let starts: [usize; PARTS] = std::array::from_fn(|part| begin + part * part_len);
        let mut states = starts.map(|start| self.enter(start));
        let parts = starts.map(|start| &self.text[start..start + part_len]);
        let bytes = parts[0].iter().zip(parts[1]).zip(parts[2]).zip(parts[3]).enumerate();
        for (offset, (((&first, &second), &third), &fourth)) in bytes {
            states = [
                step(states[0], first),
                step(states[1], second),
                step(states[2], third),
                step(states[3], fourth),
            ];
            if states.iter().any(|&state| anchors.automaton.is_special(state)) {
                for part in 0..PARTS {
                    if anchors.automaton.is_special(states[part]) {
                        self.ends[part].push((starts[part] + offset + 1, states[part]));
                    }
                }
            }
        }
        let mut state = states[PARTS - 1];
        for pos in begin + PARTS * part_len..end {
            state = step(state, self.text[pos]);
            if anchors.automaton.is_special(state) {
                self.ends[PARTS - 1].push((pos + 1, state));
            }
        }
        let mut ends = std::mem::take(&mut self.ends);
        for (end, state) in ends.iter_mut().flat_map(|ends| ends.drain(..)) {
            self.add_anchors(end, state);
        }
        self.ends = ends;
        self.searched = end;
    }

    /// Returns the state of the automaton at a position.
    fn enter(&self, pos: usize) -> StateID {
        let before = &self.text[(pos + 1).saturating_sub(self.anchors.max_len)..pos];
        let step = |state, &byte: &u8| self.anchors.automaton.next_state(Anchored::No, state, byte);
        before.iter().fold(self.anchors.start, step)
    }

    /// Adds the anchors that end at a position.
    fn add_anchors(&mut self, end: usize, state: StateID) {
        let automaton = &self.anchors.automaton;
        if !automaton.is_match(state) {
            return;
        }
        for idx in 0..automaton.match_len(state) {
            let pattern = automaton.match_pattern(state, idx);
            let start = end - automaton.pattern_len(pattern);
            // Anchors are found by their ends, so few begin before one that is known.
            let later_count = self.found.iter().rev().take_while(|(found, _)| *found > start).count();
            self.found.insert(self.found.len() - later_count, (start, pattern.as_u32()));
        }
    }
}

#[cfg(test)]
mod tests {
    use aho_corasick::{AhoCorasick, Input, MatchKind};
    use proptest::prelude::*;

    use super::{AnchorFinder, BLOCK_LEN, PARTS, list_anchors};

    /// Returns the start and the length of the longest anchor at each position, found one after the other.
    fn find_one_by_one(text: &[u8], longest: &AhoCorasick) -> Vec<(usize, usize)> {
        let (mut found, mut from) = (Vec::new(), 0);
        while let Some(anchor) = longest.find(Input::new(text).range(from..)) {
            found.push((anchor.start(), anchor.len()));
            from = anchor.start() + 1;
        }
        found
    }

    fn find(text: &[u8]) -> Vec<(usize, usize)> {
        let mut finder = AnchorFinder::new(text).expect("an automaton");
        let (mut found, mut from) = (Vec::new(), 0);
        while let Some((start, uses)) = finder.find(from) {
            found.push((start, uses.iter().map(|(_, len)| *len).max().expect("a use")));
            from = start + 1;
        }
        found
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn anchors_are_found_wherever_a_block_or_part_ends(
            words in "(sk-|sk-ant-|-----BEGIN |discordapp.com/api/webhooks/|api_key|_KEY|://|eyJ|x| ){1,40}",
            before in 0..80usize,
        ) {
            let mut builder = AhoCorasick::builder();
            let anchors = list_anchors().into_iter().map(|(anchor, _)| anchor);
            let longest =
                builder.match_kind(MatchKind::LeftmostLongest).build(anchors).expect("an automaton");
            prop_assert_eq!(find(words.as_bytes()), find_one_by_one(words.as_bytes(), &longest));
            // The anchors reach over the end of a part, and of a block.
            for boundary in [BLOCK_LEN / PARTS, BLOCK_LEN] {
                let mut text = vec![b'x'; boundary - before];
                text.extend_from_slice(words.as_bytes());
                text.resize(text.len().max(BLOCK_LEN + 100), b'y');
                prop_assert_eq!(find(&text), find_one_by_one(&text, &longest));
            }
        }
    }
}
