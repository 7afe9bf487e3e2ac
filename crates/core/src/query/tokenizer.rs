//! Splits text into the terms of the search index.
//!
//! A run of letters, digits and `_` is split at `_` and before capitals: `parentUuid` becomes `parent` and
//! `uuid`, case-folded. This keeps the number of distinct terms low. Each split is indexed as a subword boundary,
//! which holds the two characters on either side: `nt|uu`. In Han and kana text, which has no spaces, every
//! pair of neighbours is a term. A run too long for a name is split into overlapping chunks, so that every
//! short enough text is fully inside one of them.

use super::needle::fold_char;

/// Runs longer than this are split into chunks of this many bytes.
const MAX_RUN_LEN: usize = 64;
/// The distance in bytes between the starts of two chunks.
const CHUNK_STEP: usize = MAX_RUN_LEN / 2;
/// A text of at most this many bytes is fully inside one chunk. Chunks may begin and end up to three bytes
/// early, at a character boundary.
const MAX_WHOLE_LEN: usize = CHUNK_STEP - 4;

/// The kind of run that a character belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CharClass {
    Word,
    Ideograph,
    Gap,
}

/// Returns the kind of run that a character belongs to.
fn classify_char(c: char) -> CharClass {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => CharClass::Word,
        '\0'..='\x7f' => CharClass::Gap,
        // Signs, arrows, lines and emoji. They are frequent, and matching ranges is faster than
        // `is_alphanumeric`.
        '\u{2010}'..='\u{206f}' | '\u{2190}'..='\u{245f}' | '\u{2500}'..='\u{2775}' => CharClass::Gap,
        '\u{2794}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}' => CharClass::Gap,
        '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{312f}'
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}'
        | '\u{20000}'..='\u{3ffff}' => CharClass::Ideograph,
        _ if c.is_alphanumeric() => CharClass::Word,
        _ => CharClass::Gap,
    }
}

/// Whether each byte is an ASCII word character.
const IS_WORD_BYTE: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        let b = byte as u8;
        table[byte] = b.is_ascii_alphanumeric() || b == b'_';
        byte += 1;
    }
    table
};

/// The kind of a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TermKind {
    /// A word or a part of a name.
    Word,
    /// Only hexadecimal digits: numbers and hashes. There are many of them, and few words can match inside
    /// them.
    HexNumber,
    /// The characters on both sides of a split, with `|` or `_` between them.
    SubwordBoundary,
}

/// Splits texts into terms. Keeps its buffers between calls.
#[derive(Debug, Default)]
pub struct Tokenizer {
    run: String,
    /// The positions of capitals that follow a lower-case letter or a digit.
    cuts: Vec<usize>,
    boundary: String,
}

impl Tokenizer {
    /// Calls `visit` with each term of a text and its kind, in the order of the text. Repeated terms are repeated.
    pub fn for_each_term(&mut self, text: &str, mut visit: impl FnMut(TermKind, &str)) {
        let Tokenizer { run, cuts, boundary } = self;
        for_each_run(text, run, cuts, |class, run, cuts| match class {
            CharClass::Ideograph => for_each_pair(run, &mut |pair| visit(TermKind::Word, pair)),
            _ if run.len() > MAX_RUN_LEN => {
                for_each_chunk(run, &mut |chunk| visit(classify_term(chunk), chunk));
            }
            _ if cuts.is_empty() && !run.as_bytes().contains(&b'_') => visit(classify_term(run), run),
            _ => for_each_subword(run, cuts, boundary, &mut visit),
        });
    }
}

/// Returns the kind of a term that is not a subword boundary.
fn classify_term(term: &str) -> TermKind {
    if term.bytes().all(|byte| byte.is_ascii_hexdigit()) { TermKind::HexNumber } else { TermKind::Word }
}

/// Calls `visit` with each run of one character class, case-folded, and the byte positions of capitals that follow
/// a lower-case letter or a digit. `run` and `cuts` are buffers.
fn for_each_run(
    text: &str,
    run: &mut String,
    cuts: &mut Vec<usize>,
    mut visit: impl FnMut(CharClass, &str, &[usize]),
) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        run.clear();
        cuts.clear();
        let mut kind = CharClass::Gap;
        let mut after_lower = false;
        while let Some(&byte) = bytes.get(at) {
            if IS_WORD_BYTE[byte as usize] {
                if kind == CharClass::Ideograph {
                    break;
                }
                kind = CharClass::Word;
                let len = bytes[at..].iter().position(|&byte| !IS_WORD_BYTE[byte as usize]);
                let end = len.map_or(bytes.len(), |len| at + len);
                let base = run.len();
                for (idx, byte) in bytes[at..end].iter().enumerate() {
                    let is_capital = byte.is_ascii_uppercase();
                    if is_capital && after_lower {
                        cuts.push(base + idx);
                    }
                    after_lower = !is_capital && *byte != b'_';
                }
                run.push_str(&text[at..end]);
                run[base..].make_ascii_lowercase();
                at = end;
                continue;
            }
            if byte < 0x80 {
                at += usize::from(kind == CharClass::Gap);
                break;
            }
            let c = text[at..].chars().next().unwrap_or(' ');
            let class = classify_char(c);
            if kind == CharClass::Gap {
                kind = class;
            }
            if class != kind || class == CharClass::Gap {
                at += if class == CharClass::Gap && kind == CharClass::Gap { c.len_utf8() } else { 0 };
                break;
            }
            let is_capital = fold_char(c) != c;
            if is_capital && after_lower {
                cuts.push(run.len());
            }
            after_lower = !is_capital;
            run.push(fold_char(c));
            at += c.len_utf8();
        }
        if kind != CharClass::Gap {
            visit(kind, run, cuts);
        }
    }
}

/// Calls `visit` with the subwords of a run and its subword boundaries. `cuts` are the byte positions at which the
/// run is split in addition to `_`; `boundary` is a buffer.
fn for_each_subword(
    run: &str,
    cuts: &[usize],
    boundary: &mut String,
    visit: &mut impl FnMut(TermKind, &str),
) {
    let mut start = 0;
    let mut cuts = cuts.iter().copied().peekable();
    for (underscore, _) in run.match_indices('_').chain(std::iter::once((run.len(), ""))) {
        while let Some(cut) = cuts.next_if(|&cut| cut < underscore) {
            visit(classify_term(&run[start..cut]), &run[start..cut]);
            start = cut;
            boundary.clear();
            boundary.push_str(boundary_suffix(&run[..cut]));
            boundary.push('|');
            boundary.push_str(boundary_prefix(&run[cut..]));
            visit(TermKind::SubwordBoundary, boundary);
        }
        if start < underscore {
            visit(classify_term(&run[start..underscore]), &run[start..underscore]);
        }
        if underscore < run.len() {
            boundary.clear();
            boundary.push_str(boundary_suffix(&run[..underscore]));
            boundary.push('_');
            boundary.push_str(boundary_prefix(&run[underscore + 1..]));
            visit(TermKind::SubwordBoundary, boundary);
        }
        start = underscore + 1;
    }
}

/// The number of characters that a subword boundary holds on either side.
const BOUNDARY_CHARS: usize = 2;

/// Returns the last two characters of a text, which a subword boundary holds. Returns the text if it is shorter.
fn boundary_suffix(text: &str) -> &str {
    let start = text.char_indices().rev().nth(BOUNDARY_CHARS - 1).map_or(0, |(at, _)| at);
    &text[start..]
}

/// Returns the first two characters of a text, which a subword boundary holds. Returns the text if it is shorter.
fn boundary_prefix(text: &str) -> &str {
    let end = text.char_indices().nth(BOUNDARY_CHARS).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

/// Calls `visit` with each pair of neighbouring characters, or with the only character of the run.
fn for_each_pair(run: &str, visit: &mut impl FnMut(&str)) {
    let mut ends = run.char_indices().map(|(at, c)| at + c.len_utf8());
    let mut start = 0;
    let Some(mut middle) = ends.next() else { return };
    if middle == run.len() {
        visit(run);
    }
    for end in ends {
        visit(&run[start..end]);
        start = middle;
        middle = end;
    }
}

/// Calls `visit` with the overlapping chunks of a long run.
fn for_each_chunk(run: &str, visit: &mut impl FnMut(&str)) {
    let mut from = 0;
    loop {
        let start = run.floor_char_boundary(from);
        if start + MAX_RUN_LEN >= run.len() {
            return visit(&run[start..]);
        }
        visit(&run[start..run.floor_char_boundary(start + MAX_RUN_LEN)]);
        from += CHUNK_STEP;
    }
}

/// How a pattern matches a term, from weak to strong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MatchKind {
    /// Inside of the term.
    Substring,
    /// At the start of the term.
    Prefix,
    /// The whole term.
    Exact,
}

/// A pattern that a term must match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermPattern {
    /// The term, or a part of it.
    pub text: String,
    /// Whether the term may have more characters before the text.
    pub open_left: bool,
    /// Whether the term may have more characters after the text.
    pub open_right: bool,
}

impl TermPattern {
    /// Returns how a case-folded term matches this pattern. Returns `None` if it does not match.
    pub fn match_term(&self, term: &str) -> Option<MatchKind> {
        let at = match (self.open_left, self.open_right) {
            _ if term == self.text => return Some(MatchKind::Exact),
            (false, false) => return None,
            (false, true) => term.starts_with(&self.text).then_some(0)?,
            (true, false) => term.ends_with(&self.text).then(|| term.len() - self.text.len())?,
            (true, true) => term.find(&self.text)?,
        };
        Some(if at == 0 { MatchKind::Prefix } else { MatchKind::Substring })
    }
}

/// The conditions that the terms of a text must satisfy if it contains the search text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermPlan {
    /// The patterns that rank a match: the parts of names as typed.
    pub rank_patterns: Vec<TermPattern>,
    /// The conditions. All of them must hold.
    pub conditions: Vec<TermCondition>,
    /// Whether a matching term proves that the text contains the search text. Otherwise the text must be
    /// read.
    pub is_conclusive: bool,
}

/// A condition on the terms of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TermCondition {
    /// One term matches.
    Term(TermPattern),
    /// One term matches, or several do that subword boundaries connect.
    Name(TermPattern),
}

/// A position inside of a pattern at which the name may be split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubwordSplit {
    /// The byte index in the pattern at which the part before the split ends.
    pub end: usize,
    /// The byte index in the pattern at which the part after the split starts. It differs from `end` only for
    /// `_`, which belongs to neither part.
    pub start: usize,
    /// The subword boundary that must exist.
    pub boundary: TermPattern,
    /// Whether the boundary holds the complete part before the split, and the complete part after it.
    pub is_complete: [bool; 2],
}

impl SubwordSplit {
    /// Returns whether every name is split here, because the split is at `_`.
    pub fn is_unconditional(&self) -> bool {
        self.start > self.end
    }
}

impl TermPattern {
    /// Returns whether a matching term may consist of hexadecimal digits only.
    pub fn may_be_hex(&self) -> bool {
        classify_term(&self.text) == TermKind::HexNumber
    }

    /// Returns a pattern for the given bytes of the text. An end stays open if it is an open end of this pattern.
    pub fn slice(&self, range: std::ops::Range<usize>) -> TermPattern {
        TermPattern {
            open_left: self.open_left && range.start == 0,
            open_right: self.open_right && range.end == self.text.len(),
            text: self.text[range].to_owned(),
        }
    }

    /// Returns each position at which a name that contains this text is or may be split, in order.
    pub fn find_subword_splits(&self) -> Vec<SubwordSplit> {
        let has_capital = |c: char| c.to_uppercase().next().is_some_and(|upper| fold_char(upper) != upper);
        let mut cuts = Vec::new();
        for (at, c) in self.text.char_indices() {
            let (start, between) = match c {
                '_' => (at + 1, '_'),
                _ if at > 0 && has_capital(c) && !self.text[..at].ends_with('_') => (at, '|'),
                _ => continue,
            };
            let (before, after) = (&self.text[..at], &self.text[start..]);
            let (left, right) = (boundary_suffix(before), boundary_prefix(after));
            let is_short = |text: &str| text.chars().count() < BOUNDARY_CHARS;
            let boundary = TermPattern {
                text: format!("{left}{between}{right}"),
                open_left: self.open_left && is_short(left),
                open_right: self.open_right && is_short(right),
            };
            cuts.push(SubwordSplit {
                end: at,
                start,
                boundary,
                is_complete: [left == before, right == after],
            });
        }
        cuts
    }
}

impl TermPlan {
    /// Derives the conditions from a search text.
    pub fn new(text: &str) -> TermPlan {
        let mut plan = TermPlan { rank_patterns: Vec::new(), conditions: Vec::new(), is_conclusive: false };
        let mut runs: Vec<(CharClass, String, Vec<usize>)> = Vec::new();
        for_each_run(text, &mut String::new(), &mut Vec::new(), |class, run, cuts| {
            runs.push((class, run.to_owned(), cuts.to_vec()));
        });
        let folded: String = text.chars().map(fold_char).collect();
        let count = runs.len();
        for (idx, (class, run, cuts)) in runs.into_iter().enumerate() {
            let open_left = idx == 0 && folded.starts_with(run.as_str());
            let open_right = idx + 1 == count && folded.ends_with(run.as_str());
            let whole = TermPattern { text: run, open_left, open_right };
            match class {
                CharClass::Ideograph if whole.text.chars().nth(1).is_some() => {
                    for_each_pair(&whole.text, &mut |pair| {
                        plan.add_term(TermPattern {
                            text: pair.to_owned(),
                            open_left: false,
                            open_right: false,
                        });
                    });
                }
                CharClass::Ideograph => plan.add_term(whole),
                _ => plan.add_name(whole, &cuts),
            }
        }
        plan.is_conclusive =
            count == 1 && plan.rank_patterns.len() == 1 && plan.rank_patterns[0].text == folded;
        plan
    }

    fn add_term(&mut self, pattern: TermPattern) {
        self.conditions.push(TermCondition::Term(pattern.clone()));
        self.rank_patterns.push(pattern);
    }

    /// Adds a run of letters, digits and `_`. `cuts` are the byte positions at which its capitals split it.
    ///
    /// Only the first 28 bytes of a longer run are used.
    fn add_name(&mut self, mut run: TermPattern, cuts: &[usize]) {
        if run.text.len() > MAX_WHOLE_LEN {
            // It may be inside of a long run. Only its beginning can be found.
            run.text.truncate(run.text.floor_char_boundary(MAX_WHOLE_LEN));
            (run.open_left, run.open_right) = (true, true);
        }
        let len = run.text.len();
        let mut start = 0;
        let ends = run.text.match_indices('_').map(|(underscore, _)| (underscore, underscore + 1));
        let mut ends: Vec<(usize, usize)> = ends.chain(cuts.iter().map(|&cut| (cut, cut))).collect();
        ends.retain(|(end, _)| *end < len);
        ends.push((len, len));
        ends.sort_unstable();
        for (end, next) in ends {
            if start < end {
                let (open_left, open_right) = (run.open_left && start == 0, run.open_right && end == len);
                self.rank_patterns.push(TermPattern {
                    text: run.text[start..end].to_owned(),
                    open_left,
                    open_right,
                });
            }
            start = next;
        }
        self.conditions.push(TermCondition::Name(run));
    }
}

/// How well a text matches a search text: the best match kind, and the number of matching terms up to four.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TermMatch {
    /// The best match kind.
    pub kind: MatchKind,
    /// The number of matching terms, at most [`TermMatch::MAX_COUNT`].
    pub count: u8,
}

impl TermMatch {
    /// The largest count.
    pub const MAX_COUNT: u8 = 4;

    /// Combines the matches of two terms with one pattern: the better kind, and the sum of the counts up to four.
    pub fn combine(self, other: TermMatch) -> TermMatch {
        let count = (self.count + other.count).min(TermMatch::MAX_COUNT);
        TermMatch { kind: self.kind.max(other.kind), count }
    }

    /// Returns the weaker kind and the smaller count of two matches.
    pub fn weaker(self, other: TermMatch) -> TermMatch {
        TermMatch { kind: self.kind.min(other.kind), count: self.count.min(other.count) }
    }
}

/// Returns the byte range of the run that contains the character at byte `at`.
pub(super) fn find_run_at(text: &str, at: usize) -> std::ops::Range<usize> {
    let kind = text[at..].chars().next().map_or(CharClass::Gap, classify_char);
    let before = text[..at].char_indices().rev().take_while(|(_, c)| classify_char(*c) == kind);
    let start = before.last().map_or(at, |(start, _)| start);
    let next = text[at..].char_indices().find(|(_, c)| classify_char(*c) != kind);
    start..next.map_or(text.len(), |(end, _)| at + end)
}

#[cfg(test)]
mod tests {
    use super::{CharClass, MAX_WHOLE_LEN, TermKind, TermPlan, Tokenizer, classify_char, fold_char};

    fn format_terms(text: &str) -> String {
        let mut terms = Vec::new();
        Tokenizer::default().for_each_term(text, |kind, term| {
            let mark = match kind {
                TermKind::Word => "",
                TermKind::HexNumber => "#",
                TermKind::SubwordBoundary => "~",
            };
            terms.push(format!("{mark}{term}"));
        });
        terms.join(" ")
    }

    #[test]
    fn names_are_split_and_boundaries_are_kept() {
        for (text, terms) in [
            ("the Shed, v2.7", "the shed v2 #7"),
            ("parentUuid", "parent ~nt|uu uuid"),
            ("parent_uuid", "parent ~nt_uu uuid"),
            ("__init__", "~__i ~__in init ~it__ ~t__"),
            ("aB HTTPServer x1Y", "#a ~a|b #b httpserver x1 ~x1|y y"),
            ("8b1e67 cafe", "#8b1e67 #cafe"),
            ("漢字典 漢 重跑gen后", "漢字 字典 漢 重跑 gen 后"),
            ("ÜberGroß", "über ~er|gr groß"),
            ("한국어 — ok", "한국어 ok"),
            ("→ ✓ 😀 ─", ""),
        ] {
            assert_eq!(format_terms(text), terms, "{text}");
        }
    }

    #[test]
    fn short_text_is_fully_inside_a_chunk_of_a_long_run() {
        let run: String = ('a'..='z').chain('가'..='넣').cycle().take(400).collect();
        let mut chunks = Vec::new();
        Tokenizer::default().for_each_term(&run, |_, chunk| chunks.push(chunk.to_owned()));
        for (at, _) in run.char_indices() {
            let short = &run[at..run.floor_char_boundary((at + MAX_WHOLE_LEN).min(run.len()))];
            assert!(chunks.iter().any(|chunk| chunk.contains(short)), "{at} {short}");
        }
    }

    #[test]
    fn folding_keeps_the_character_class() {
        for c in '\0'..=char::MAX {
            assert_eq!(classify_char(fold_char(c)), classify_char(c), "{c:?}");
            // A name may be split before a letter that may have been a capital.
            if classify_char(c) == CharClass::Word && fold_char(c) != c {
                let pattern = super::TermPattern {
                    text: format!("a{}", fold_char(c)),
                    open_left: true,
                    open_right: true,
                };
                assert_eq!(pattern.find_subword_splits().len(), 1, "{c:?}");
            }
        }
    }

    #[test]
    fn only_single_terms_are_conclusive() {
        let conclusive = ["shed", "v2", "漢字", "漢", "über", "8b1e"];
        let inconclusive = ["parentUuid", "a_b", "two words", "foo/bar.rs", "漢字典", "->", "a-", "重跑gen"];
        for (text, expected) in
            conclusive.map(|text| (text, true)).into_iter().chain(inconclusive.map(|text| (text, false)))
        {
            assert_eq!(TermPlan::new(text).is_conclusive, expected, "{text}");
        }
    }
}
