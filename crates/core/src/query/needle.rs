//! What is looked for: words or a pattern, and the quick look at a line's bytes.

use std::ops::Range;

use memchr::memmem;

/// What is looked for.
#[derive(Debug, Clone)]
pub struct Needle {
    what: What,
    run: Option<Run>,
}

#[derive(Debug, Clone)]
enum What {
    Exact(String),
    /// The words as typed, and their characters, folded.
    Folded(String, Vec<char>),
    Pattern(regex_lite::Regex),
}

/// The longest piece of the words that stands in JSON as it is, unless it is written in `\u` escapes.
#[derive(Debug, Clone)]
enum Run {
    Exact(Box<memmem::Finder<'static>>),
    /// Lower-case bytes, and which of them is seldom.
    Folded(Vec<u8>, usize),
}

/// Why a pattern cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternError(pub String);

impl Needle {
    /// Looks for words, in any case unless one of their letters is upper-case.
    pub fn smart(words: &str) -> Needle {
        if words.chars().any(char::is_uppercase) { Needle::exact(words) } else { Needle::folded(words) }
    }

    /// Looks for words as they are written.
    pub fn exact(words: &str) -> Needle {
        let plain = |c: char| !is_escaped(c);
        let run = longest(words, plain);
        let run = (!run.is_empty()).then(|| Run::Exact(Box::new(memmem::Finder::new(run).into_owned())));
        Needle { what: What::Exact(words.to_owned()), run }
    }

    /// Looks for words in any case.
    pub fn folded(words: &str) -> Needle {
        let plain = |c: char| !is_escaped(c) && (c.is_ascii() || !has_case(c));
        let run = longest(words, plain).to_ascii_lowercase().into_bytes();
        let rare = (0..run.len()).max_by_key(|&k| rarity(run[k]));
        Needle {
            what: What::Folded(words.to_owned(), words.chars().map(fold).collect()),
            run: rare.map(|rare| Run::Folded(run, rare)),
        }
    }

    /// Looks for a regular expression.
    pub fn pattern(pattern: &str) -> Result<Needle, PatternError> {
        let regex = regex_lite::Regex::new(pattern).map_err(|error| PatternError(error.to_string()))?;
        Ok(Needle { what: What::Pattern(regex), run: None })
    }

    /// Returns the words looked for, as typed; a pattern has none.
    pub fn words(&self) -> Option<&str> {
        match &self.what {
            What::Exact(words) | What::Folded(words, _) => Some(words),
            What::Pattern(_) => None,
        }
    }

    /// Returns the words or the pattern, as typed.
    pub fn text(&self) -> &str {
        match &self.what {
            What::Exact(words) | What::Folded(words, _) => words,
            What::Pattern(regex) => regex.as_str(),
        }
    }

    /// Whether some text of the line could match: `false` only where none does.
    pub fn may_hold(&self, line: &[u8]) -> bool {
        let found = match &self.run {
            None => true,
            Some(Run::Exact(finder)) => finder.find(line).is_some(),
            Some(Run::Folded(run, rare)) => find_run(line, run, *rare),
        };
        found || hides(line)
    }

    /// Finds the first match at or behind `from`; matches of nothing are passed over.
    pub fn find(&self, text: &str, from: usize) -> Option<Range<usize>> {
        match &self.what {
            What::Exact(words) if words.is_empty() => None,
            What::Exact(words) => {
                let at = from + memmem::find(&text.as_bytes()[from..], words.as_bytes())?;
                Some(at..at + words.len())
            }
            What::Folded(_, words) => find_folded(text, words, from),
            What::Pattern(regex) => {
                let mut at = from;
                loop {
                    let found = regex.find_at(text, at)?;
                    if !found.is_empty() {
                        return Some(found.range());
                    }
                    at = found.end() + text[found.end()..].chars().next()?.len_utf8();
                }
            }
        }
    }
}

/// Whether JSON writes a character otherwise than it is, or a decoder may have put it there.
fn is_escaped(c: char) -> bool {
    matches!(c, '\0'..='\u{1f}' | '"' | '\\' | '/' | '\u{7f}' | char::REPLACEMENT_CHARACTER)
}

/// Returns the longest run of characters of which `plain` holds, by bytes.
fn longest(words: &str, plain: impl Fn(char) -> bool) -> &str {
    words.split(|c| !plain(c)).max_by_key(|run| run.len()).unwrap_or_default()
}

/// Whether the line has an escape that may stand for a character of a run: any but those of control characters.
fn hides(line: &[u8]) -> bool {
    let is_control = |digits: &[u8]| matches!(digits, [b'0', b'0', b'0' | b'1', ..]);
    memmem::find_iter(line, b"\\u").any(|at| !is_control(&line[at + 2..]))
}

/// Finds a run of lower-case bytes in any ASCII case.
fn find_run(line: &[u8], run: &[u8], rare: usize) -> bool {
    let byte = run[rare];
    memchr::memchr2_iter(byte, byte.to_ascii_uppercase(), line).any(|at| {
        let here = at.checked_sub(rare).and_then(|start| line.get(start..start + run.len()));
        here.is_some_and(|here| here.eq_ignore_ascii_case(run))
    })
}

/// Bytes of session files, the most frequent first.
const FREQUENT: &[u8] = b"e\"t ,:ainsro-0d1c2l4u8356b97fmhpg_.ywvkxjqz";

fn rarity(byte: u8) -> usize {
    FREQUENT.iter().position(|&known| known == byte).unwrap_or(FREQUENT.len())
}

/// Returns the lower-case form of a character. ASCII stays ASCII and nothing else becomes it, so that runs of ASCII can
/// be looked for by their bytes.
pub(super) fn fold(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(one), None) if !one.is_ascii() => one,
        _ => c,
    }
}

/// Whether a character has another form in upper or lower case.
fn has_case(c: char) -> bool {
    !c.to_uppercase().eq([c]) || !c.to_lowercase().eq([c])
}

fn find_folded(text: &str, words: &[char], from: usize) -> Option<Range<usize>> {
    let (first, rest) = words.split_first()?;
    let here = &text[from..];
    let matches = |at: usize| {
        let mut chars = here[at..].char_indices();
        chars.next().filter(|(_, c)| fold(*c) == *first)?;
        let whole = rest.iter().all(|word| chars.next().is_some_and(|(_, c)| fold(c) == *word));
        whole.then(|| from + at..from + at + chars.offset())
    };
    match u8::try_from(*first) {
        Ok(byte) if byte.is_ascii() => {
            memchr::memchr2_iter(byte, byte.to_ascii_uppercase(), here.as_bytes()).find_map(matches)
        }
        _ => here.char_indices().find_map(|(at, _)| matches(at)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Needle, fold, has_case};

    #[test]
    fn what_folds_has_case_and_ascii_stays_apart() {
        for c in '\0'..=char::MAX {
            let folded = fold(c);
            assert_eq!(folded.is_ascii(), c.is_ascii(), "{c:?}");
            // Else the quick look would pass over a line that holds the other form.
            assert!(folded == c || c.is_ascii() || has_case(folded), "{c:?} {folded:?}");
        }
    }

    #[test]
    fn words_are_found_in_any_case_until_a_capital_is_typed() {
        fn found<'t>(words: &str, text: &'t str) -> Option<&'t str> {
            Needle::smart(words).find(text, 0).map(|range| &text[range])
        }
        assert_eq!(found("shed", "a Tidy SHED"), Some("SHED"));
        assert_eq!(found("Shed", "a Tidy SHED"), None);
        assert_eq!(found("Shed", "a shed, a Shed"), Some("Shed"));
        assert_eq!(found("straße", "in der STRAẞE"), Some("STRAẞE"));
        assert_eq!(found("über", "ganz ÜBER alles"), Some("ÜBER"));
        assert_eq!(found("漢字", "some 漢字 here"), Some("漢字"));
        assert_eq!(found("aab", "aaab"), Some("aab"));
        assert_eq!(found("", "anything"), None);
    }

    #[test]
    fn a_pattern_that_matches_nothing_goes_on_to_something() {
        let needle = Needle::pattern("x*").unwrap();
        assert_eq!(needle.find("aéxxb", 0), Some(3..5));
        assert_eq!(needle.find("aé", 0), None);
        assert!(Needle::pattern("(").is_err());
    }

    #[test]
    fn the_quick_look_never_says_no_to_a_match() {
        let cases = [
            ("shed", r#"{"t":"a \u0073hed"}"#, true),
            ("shed", r#"{"t":"a SHED"}"#, true),
            ("shed", r#"{"t":"\u001b[1mbarn"}"#, false),
            ("shed", r#"{"t":"barn"}"#, false),
            ("say \"shed\"", r#"{"t":"say \"shed\""}"#, true),
            ("one\ntwo", r#"{"t":"one\ntwo"}"#, true),
            ("a/b", r#"{"t":"a\/b"}"#, true),
            ("\n", r#"{"t":"x"}"#, true),
            ("über", r#"{"t":"ÜBER"}"#, true),
            ("漢", r#"{"t":"\u6f22"}"#, true),
            ("漢", r#"{"t":"barn"}"#, false),
        ];
        for (words, line, expected) in cases {
            assert_eq!(Needle::folded(words).may_hold(line.as_bytes()), expected, "{words:?} in {line}");
        }
        assert!(!Needle::exact("Shed").may_hold(b"{\"t\":\"a shed\"}"));
    }
}
