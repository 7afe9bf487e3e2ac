//! Terms: the pieces of text by which an index knows it.
//!
//! A run of letters, digits and `_` is cut where a name is put together, at `_` and before capitals: `parentUuid` is
//! `parent` and `uuid`, folded. So there are few terms, however many names. What such a cut parts is kept as a seam, the two
//! characters on either side: `nt|uu`. Of Han and kana, which have no spaces, every two neighbours are a term. A run too
//! long to be a name is cut into pieces that overlap, so that whatever is short enough lies whole in one of them.

use super::needle::fold;

/// A run longer than this is cut into pieces of this many bytes.
const LONGEST: usize = 64;
/// Pieces begin at every so many bytes.
const STEP: usize = LONGEST / 2;
/// What is looked for by at most so many bytes lies whole in a piece: pieces may begin and end three bytes early, at the
/// beginning of a character.
const WHOLE: usize = STEP - 4;

/// What kind of run a character belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Word,
    Ideograph,
    Gap,
}

fn class(c: char) -> Class {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => Class::Word,
        '\0'..='\x7f' => Class::Gap,
        // Signs, arrows, lines and pictures, which are many: quicker told from words than asked for.
        '\u{2010}'..='\u{206f}' | '\u{2190}'..='\u{245f}' | '\u{2500}'..='\u{2775}' => Class::Gap,
        '\u{2794}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}' => Class::Gap,
        '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{312f}'
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}'
        | '\u{20000}'..='\u{3ffff}' => Class::Ideograph,
        _ if c.is_alphanumeric() => Class::Word,
        _ => Class::Gap,
    }
}

/// Whether a byte is an ASCII character of a word.
const WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        let b = byte as u8;
        table[byte] = b.is_ascii_alphanumeric() || b == b'_';
        byte += 1;
    }
    table
};

/// What a term is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A word or a part of a name.
    Word,
    /// Nothing but hexadecimal digits: numbers, hashes. There are many, and few words can stand in them.
    HexNumber,
    /// What stands on both sides of a cut, with `|` or `_` between.
    SubwordBoundary,
}

/// What cuts a run is put together of; scratch that is used again and again.
#[derive(Debug, Default)]
pub struct Tokenizer {
    run: String,
    /// Where a capital follows a letter or digit that is none.
    cuts: Vec<usize>,
    seam: String,
}

impl Tokenizer {
    /// Shows every term of a text.
    pub fn terms(&mut self, text: &str, mut each: impl FnMut(Kind, &str)) {
        let Tokenizer { run, cuts, seam } = self;
        runs(text, run, cuts, |class, run, cuts| match class {
            Class::Ideograph => pairs(run, &mut |pair| each(Kind::Word, pair)),
            _ if run.len() > LONGEST => pieces(run, &mut |piece| each(kind(piece), piece)),
            _ if cuts.is_empty() && !run.as_bytes().contains(&b'_') => each(kind(run), run),
            _ => names(run, cuts, seam, &mut each),
        });
    }
}

/// Says what a term is that is no seam.
fn kind(term: &str) -> Kind {
    if term.bytes().all(|byte| byte.is_ascii_hexdigit()) { Kind::HexNumber } else { Kind::Word }
}

/// Shows every run of one class, folded, and where it may be cut.
fn runs(text: &str, run: &mut String, cuts: &mut Vec<usize>, mut each: impl FnMut(Class, &str, &[usize])) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        run.clear();
        cuts.clear();
        let mut kind = Class::Gap;
        let mut small = false;
        while let Some(&byte) = bytes.get(at) {
            if WORD[byte as usize] {
                if kind == Class::Ideograph {
                    break;
                }
                kind = Class::Word;
                let more = bytes[at..].iter().position(|&byte| !WORD[byte as usize]);
                let end = more.map_or(bytes.len(), |more| at + more);
                let base = run.len();
                for (no, byte) in bytes[at..end].iter().enumerate() {
                    let capital = byte.is_ascii_uppercase();
                    if capital && small {
                        cuts.push(base + no);
                    }
                    small = !capital && *byte != b'_';
                }
                run.push_str(&text[at..end]);
                run[base..].make_ascii_lowercase();
                at = end;
                continue;
            }
            if byte < 0x80 {
                at += usize::from(kind == Class::Gap);
                break;
            }
            let c = text[at..].chars().next().unwrap_or(' ');
            let class = class(c);
            if kind == Class::Gap {
                kind = class;
            }
            if class != kind || class == Class::Gap {
                at += if class == Class::Gap && kind == Class::Gap { c.len_utf8() } else { 0 };
                break;
            }
            let capital = fold(c) != c;
            if capital && small {
                cuts.push(run.len());
            }
            small = !capital;
            run.push(fold(c));
            at += c.len_utf8();
        }
        if kind != Class::Gap {
            each(kind, run, cuts);
        }
    }
}

/// Shows the parts of a name, and its seams.
fn names(run: &str, cuts: &[usize], seam: &mut String, each: &mut impl FnMut(Kind, &str)) {
    let mut start = 0;
    let mut cuts = cuts.iter().copied().peekable();
    for (bar, _) in run.match_indices('_').chain(std::iter::once((run.len(), ""))) {
        while let Some(cut) = cuts.next_if(|&cut| cut < bar) {
            each(kind(&run[start..cut]), &run[start..cut]);
            start = cut;
            seam.clear();
            seam.push_str(last(&run[..cut]));
            seam.push('|');
            seam.push_str(first(&run[cut..]));
            each(Kind::SubwordBoundary, seam);
        }
        if start < bar {
            each(kind(&run[start..bar]), &run[start..bar]);
        }
        if bar < run.len() {
            seam.clear();
            seam.push_str(last(&run[..bar]));
            seam.push('_');
            seam.push_str(first(&run[bar + 1..]));
            each(Kind::SubwordBoundary, seam);
        }
        start = bar + 1;
    }
}

/// Characters that a seam shows on either side.
const SEAM: usize = 2;

/// Returns the last characters of a text that a seam shows.
fn last(text: &str) -> &str {
    let start = text.char_indices().rev().nth(SEAM - 1).map_or(0, |(at, _)| at);
    &text[start..]
}

/// Returns the first characters of a text that a seam shows.
fn first(text: &str) -> &str {
    let end = text.char_indices().nth(SEAM).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

/// Shows every two neighbours of a run, or the one character that it is.
fn pairs(run: &str, each: &mut impl FnMut(&str)) {
    let mut ends = run.char_indices().map(|(at, c)| at + c.len_utf8());
    let mut start = 0;
    let Some(mut middle) = ends.next() else { return };
    if middle == run.len() {
        each(run);
    }
    for end in ends {
        each(&run[start..end]);
        start = middle;
        middle = end;
    }
}

/// Shows the pieces of a long run.
fn pieces(run: &str, each: &mut impl FnMut(&str)) {
    let mut from = 0;
    loop {
        let start = run.floor_char_boundary(from);
        if start + LONGEST >= run.len() {
            return each(&run[start..]);
        }
        each(&run[start..run.floor_char_boundary(start + LONGEST)]);
        from += STEP;
    }
}

/// How well a term fits: the word itself, the beginning of a word, or inside one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MatchKind {
    /// Inside a word.
    Inside,
    /// At the beginning of a word.
    Begin,
    /// The whole word.
    Whole,
}

/// A term that a text must hold so that it can hold some words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermPattern {
    /// The term, or a piece of it.
    pub text: String,
    /// Whether more may stand before it in the same run.
    pub open_left: bool,
    /// Whether more may stand behind it.
    pub open_right: bool,
}

impl TermPattern {
    /// Says how a term fits, if it does.
    pub fn fit(&self, term: &str) -> Option<MatchKind> {
        let at = match (self.open_left, self.open_right) {
            _ if term == self.text => return Some(MatchKind::Whole),
            (false, false) => return None,
            (false, true) => term.starts_with(&self.text).then_some(0)?,
            (true, false) => term.ends_with(&self.text).then(|| term.len() - self.text.len())?,
            (true, true) => term.find(&self.text)?,
        };
        Some(if at == 0 { MatchKind::Begin } else { MatchKind::Inside })
    }
}

/// What the terms of a text say about whether it holds some words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermPlan {
    /// By which the text is ranked: the parts of names as they were typed.
    pub rank: Vec<TermPattern>,
    /// What must all hold of a text that holds the words.
    pub clues: Vec<TermCondition>,
    /// Whether a text with a term that fits the only part holds the words: else it must be looked at.
    pub is_conclusive: bool,
}

/// What must hold of the terms of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TermCondition {
    /// A term fits.
    Term(TermPattern),
    /// A term fits, or several do that are sewn together.
    Name(TermPattern),
}

/// A place at which a name may be cut inside a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubwordSplit {
    /// Where the piece before it ends, and where the one behind it begins.
    pub end: usize,
    /// The same place, but for `_`, which belongs to neither.
    pub start: usize,
    /// The seam that must be there.
    pub seam: TermPattern,
    /// Whether the seam shows all of the part that stands before the cut, and all behind it.
    pub shown: [bool; 2],
}

impl SubwordSplit {
    /// Whether every name is cut there.
    pub fn always(&self) -> bool {
        self.start > self.end
    }
}

impl TermPattern {
    /// Whether a term that fits may be of nothing but hexadecimal digits.
    pub fn is_figure(&self) -> bool {
        kind(&self.text) == Kind::HexNumber
    }

    /// Returns a piece of it between two cuts, or its ends: what may stand beside it is what may beside those.
    pub fn piece(&self, range: std::ops::Range<usize>) -> TermPattern {
        TermPattern {
            open_left: self.open_left && range.start == 0,
            open_right: self.open_right && range.end == self.text.len(),
            text: self.text[range].to_owned(),
        }
    }

    /// Returns every place at which a name that holds this part is or may be cut inside it.
    pub fn cuts(&self) -> Vec<SubwordSplit> {
        let has_capital = |c: char| c.to_uppercase().next().is_some_and(|upper| fold(upper) != upper);
        let mut cuts = Vec::new();
        for (at, c) in self.text.char_indices() {
            let (start, between) = match c {
                '_' => (at + 1, '_'),
                _ if at > 0 && has_capital(c) && !self.text[..at].ends_with('_') => (at, '|'),
                _ => continue,
            };
            let (before, behind) = (&self.text[..at], &self.text[start..]);
            let (left, right) = (last(before), first(behind));
            let is_short = |text: &str| text.chars().count() < SEAM;
            let seam = TermPattern {
                text: format!("{left}{between}{right}"),
                open_left: self.open_left && is_short(left),
                open_right: self.open_right && is_short(right),
            };
            cuts.push(SubwordSplit { end: at, start, seam, shown: [left == before, right == behind] });
        }
        cuts
    }
}

impl TermPlan {
    /// Reads what terms the words come to.
    pub fn of(words: &str) -> TermPlan {
        let mut parts = TermPlan { rank: Vec::new(), clues: Vec::new(), is_conclusive: false };
        let mut found: Vec<(Class, String, Vec<usize>)> = Vec::new();
        runs(words, &mut String::new(), &mut Vec::new(), |class, run, cuts| {
            found.push((class, run.to_owned(), cuts.to_vec()));
        });
        let folded: String = words.chars().map(fold).collect();
        let count = found.len();
        for (no, (class, run, cuts)) in found.into_iter().enumerate() {
            let open_left = no == 0 && folded.starts_with(run.as_str());
            let open_right = no + 1 == count && folded.ends_with(run.as_str());
            let whole = TermPattern { text: run, open_left, open_right };
            match class {
                Class::Ideograph if whole.text.chars().nth(1).is_some() => pairs(&whole.text, &mut |pair| {
                    parts.term(TermPattern { text: pair.to_owned(), open_left: false, open_right: false });
                }),
                Class::Ideograph => parts.term(whole),
                _ => parts.name(whole, &cuts),
            }
        }
        parts.is_conclusive = count == 1 && parts.rank.len() == 1 && parts.rank[0].text == folded;
        parts
    }

    fn term(&mut self, part: TermPattern) {
        self.clues.push(TermCondition::Term(part.clone()));
        self.rank.push(part);
    }

    /// Takes a run of letters, digits and `_`, and where it was typed with capitals.
    fn name(&mut self, mut run: TermPattern, cuts: &[usize]) {
        if run.text.len() > WHOLE {
            // It may be a piece of something long: its beginning is what can be found.
            run.text.truncate(run.text.floor_char_boundary(WHOLE));
            (run.open_left, run.open_right) = (true, true);
        }
        let len = run.text.len();
        let mut start = 0;
        let ends = run.text.match_indices('_').map(|(bar, _)| (bar, bar + 1));
        let mut ends: Vec<(usize, usize)> = ends.chain(cuts.iter().map(|&cut| (cut, cut))).collect();
        ends.retain(|(end, _)| *end < len);
        ends.push((len, len));
        ends.sort_unstable();
        for (end, next) in ends {
            if start < end {
                let (open_left, open_right) = (run.open_left && start == 0, run.open_right && end == len);
                self.rank.push(TermPattern { text: run.text[start..end].to_owned(), open_left, open_right });
            }
            start = next;
        }
        self.clues.push(TermCondition::Name(run));
    }
}

/// How strongly a text holds some words: how well its best term fits, and how many terms do, up to four.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TermMatch {
    /// The best fit.
    pub fit: MatchKind,
    /// How many, at most [`Strength::MOST`].
    pub count: u8,
}

impl TermMatch {
    /// The count at which counting ends.
    pub const MOST: u8 = 4;

    /// Adds up two.
    pub fn and_also(self, other: TermMatch) -> TermMatch {
        let count = (self.count + other.count).min(TermMatch::MOST);
        TermMatch { fit: self.fit.max(other.fit), count }
    }

    /// Returns the weaker of two in each respect.
    pub fn at_most(self, other: TermMatch) -> TermMatch {
        TermMatch { fit: self.fit.min(other.fit), count: self.count.min(other.count) }
    }
}

/// Returns the run that the character at `at` belongs to.
pub(super) fn run_at(text: &str, at: usize) -> std::ops::Range<usize> {
    let kind = text[at..].chars().next().map_or(Class::Gap, class);
    let before = text[..at].char_indices().rev().take_while(|(_, c)| class(*c) == kind);
    let start = before.last().map_or(at, |(start, _)| start);
    let behind = text[at..].char_indices().find(|(_, c)| class(*c) != kind);
    start..behind.map_or(text.len(), |(end, _)| at + end)
}

#[cfg(test)]
mod tests {
    use super::{Class, Kind, TermPlan, Tokenizer, WHOLE, class, fold};

    fn told(text: &str) -> String {
        let mut told = Vec::new();
        Tokenizer::default().terms(text, |kind, term| {
            let mark = match kind {
                Kind::Word => "",
                Kind::HexNumber => "#",
                Kind::SubwordBoundary => "~",
            };
            told.push(format!("{mark}{term}"));
        });
        told.join(" ")
    }

    #[test]
    fn names_are_cut_and_what_hangs_together_is_kept_as_seams() {
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
            assert_eq!(told(text), terms, "{text}");
        }
    }

    #[test]
    fn whatever_is_short_lies_whole_in_a_piece_of_something_long() {
        let long: String = ('a'..='z').chain('가'..='넣').cycle().take(400).collect();
        let mut pieces = Vec::new();
        Tokenizer::default().terms(&long, |_, piece| pieces.push(piece.to_owned()));
        for (at, _) in long.char_indices() {
            let short = &long[at..long.floor_char_boundary((at + WHOLE).min(long.len()))];
            assert!(pieces.iter().any(|piece| piece.contains(short)), "{at} {short}");
        }
    }

    #[test]
    fn a_character_stays_what_it_is_when_it_is_folded() {
        for c in '\0'..=char::MAX {
            assert_eq!(class(fold(c)), class(c), "{c:?}");
            // Before what may have been a capital, a name may have been cut.
            if class(c) == Class::Word && fold(c) != c {
                let part =
                    super::TermPattern { text: format!("a{}", fold(c)), open_left: true, open_right: true };
                assert_eq!(part.cuts().len(), 1, "{c:?}");
            }
        }
    }

    #[test]
    fn one_word_is_decided_by_its_term_and_nothing_else_is() {
        let decided = ["shed", "v2", "漢字", "漢", "über", "8b1e"];
        let asked = ["parentUuid", "a_b", "two words", "foo/bar.rs", "漢字典", "->", "a-", "重跑gen"];
        for (words, decide) in decided.map(|w| (w, true)).into_iter().chain(asked.map(|w| (w, false))) {
            assert_eq!(TermPlan::of(words).is_conclusive, decide, "{words}");
        }
    }
}
