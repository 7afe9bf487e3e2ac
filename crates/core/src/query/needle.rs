//! A text or pattern to search for, with a fast filter on the bytes of a line.

use std::ops::Range;

use memchr::memmem;

use super::required_literals::find_required_literals;

/// A text or pattern to search for.
#[derive(Debug, Clone)]
pub struct Needle {
    kind: NeedleKind,
    /// The bytes that a matching line must contain. `None` if none are known: then every line may match.
    run: Option<ByteRun>,
    /// For a regular expression: every match contains a text of each set.
    required: Vec<Vec<Needle>>,
}

#[derive(Debug, Clone)]
enum NeedleKind {
    Exact(String),
    /// The text as typed and its case-folded characters.
    Folded(String, Vec<char>),
    Pattern(regex::Regex),
}

/// The longest part of the text that JSON leaves unescaped, unless a writer uses `\u` escapes for it.
#[derive(Debug, Clone)]
enum ByteRun {
    Exact(Box<memmem::Finder<'static>>),
    /// Lower-case bytes, and the index of the rarest.
    Folded(Vec<u8>, usize),
}

/// An invalid pattern. Holds the error message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternError(pub String);

impl Needle {
    /// Creates a needle that ignores case unless the text contains an upper-case letter.
    pub fn smart_case(text: &str) -> Needle {
        if text.chars().any(char::is_uppercase) {
            Needle::case_sensitive(text)
        } else {
            Needle::case_insensitive(text)
        }
    }

    /// Creates a case-sensitive needle.
    pub fn case_sensitive(text: &str) -> Needle {
        let is_plain = |c: char| !is_escaped(c);
        let run = find_longest_run(text, is_plain);
        let run = (!run.is_empty()).then(|| ByteRun::Exact(Box::new(memmem::Finder::new(run).into_owned())));
        Needle { kind: NeedleKind::Exact(text.to_owned()), run, required: Vec::new() }
    }

    /// Creates a needle that ignores case, also of letters outside ASCII.
    pub fn case_insensitive(text: &str) -> Needle {
        let is_plain = |c: char| !is_escaped(c) && (c.is_ascii() || !has_case(c));
        let run = find_longest_run(text, is_plain).to_ascii_lowercase().into_bytes();
        let rare_idx = (0..run.len()).max_by_key(|&idx| byte_rarity(run[idx]));
        Needle {
            kind: NeedleKind::Folded(text.to_owned(), text.chars().map(fold_char).collect()),
            run: rare_idx.map(|rare_idx| ByteRun::Folded(run, rare_idx)),
            required: Vec::new(),
        }
    }

    /// Creates a needle from a regular expression. Returns an error if the expression is invalid.
    pub fn from_pattern(pattern: &str) -> Result<Needle, PatternError> {
        let hir =
            regex_syntax::parse(pattern).map_err(|error| PatternError(describe_syntax_error(&error)))?;
        let regex = regex::Regex::new(pattern).map_err(|error| PatternError(error.to_string()))?;
        let needles = |texts: Vec<String>| texts.iter().map(|text| Needle::case_insensitive(text)).collect();
        let required = find_required_literals(&hir).into_iter().map(needles).collect();
        Ok(Needle { kind: NeedleKind::Pattern(regex), run: None, required })
    }

    /// Returns sets of case-insensitive needles, of which one in each set occurs in every text that matches. Only regular
    /// expressions have such sets.
    pub fn required(&self) -> &[Vec<Needle>] {
        &self.required
    }

    /// Returns the search text as typed. Returns `None` for a regular expression.
    pub fn literal(&self) -> Option<&str> {
        match &self.kind {
            NeedleKind::Exact(text) | NeedleKind::Folded(text, _) => Some(text),
            NeedleKind::Pattern(_) => None,
        }
    }

    /// Returns the search text or the regular expression, as typed.
    pub fn text(&self) -> &str {
        match &self.kind {
            NeedleKind::Exact(text) | NeedleKind::Folded(text, _) => text,
            NeedleKind::Pattern(regex) => regex.as_str(),
        }
    }

    /// Returns whether a decoded text of a JSON line may match. `false` is certain.
    pub fn may_match_line(&self, line: &[u8]) -> bool {
        self.may_match_plain_line(line) || may_hide_match(line)
    }

    /// Returns whether a decoded text of a JSON line without escape sequences may match. `false` is certain.
    fn may_match_plain_line(&self, line: &[u8]) -> bool {
        let has_run = match &self.run {
            None => true,
            Some(ByteRun::Exact(finder)) => finder.find(line).is_some(),
            Some(ByteRun::Folded(run, rare_idx)) => contains_run(line, run, *rare_idx),
        };
        has_run && self.required.iter().all(|set| set.iter().any(|needle| needle.may_match_plain_line(line)))
    }

    /// Returns the byte range of the first match in `text` that starts at byte `from` or later. Skips empty matches.
    ///
    /// Returns `None` if there is no match or the needle is empty.
    pub fn find(&self, text: &str, from: usize) -> Option<Range<usize>> {
        match &self.kind {
            NeedleKind::Exact(needle) if needle.is_empty() => None,
            NeedleKind::Exact(needle) => {
                let at = from + memmem::find(&text.as_bytes()[from..], needle.as_bytes())?;
                Some(at..at + needle.len())
            }
            NeedleKind::Folded(_, chars) => find_folded(text, chars, from),
            NeedleKind::Pattern(regex) => {
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

/// Returns the reason for which a regular expression is invalid, in one line.
fn describe_syntax_error(error: &regex_syntax::Error) -> String {
    match error {
        regex_syntax::Error::Parse(error) => error.kind().to_string(),
        regex_syntax::Error::Translate(error) => error.kind().to_string(),
        error => error.to_string(),
    }
}

/// Returns whether JSON may escape a character, or a decoder may have inserted it.
fn is_escaped(c: char) -> bool {
    matches!(c, '\0'..='\u{1f}' | '"' | '\\' | '/' | '\u{7f}' | char::REPLACEMENT_CHARACTER)
}

/// Returns the run of plain characters with the most bytes.
fn find_longest_run(text: &str, is_plain: impl Fn(char) -> bool) -> &str {
    text.split(|c| !is_plain(c)).max_by_key(|run| run.len()).unwrap_or_default()
}

/// Returns whether the line has an escape sequence that may encode a character of a run: any except control
/// characters.
fn may_hide_match(line: &[u8]) -> bool {
    let is_control = |digits: &[u8]| matches!(digits, [b'0', b'0', b'0' | b'1', ..]);
    memmem::find_iter(line, b"\\u").any(|at| !is_control(&line[at + 2..]))
}

/// Returns whether the line contains the lower-case bytes `run` in any ASCII case.
fn contains_run(line: &[u8], run: &[u8], rare_idx: usize) -> bool {
    let byte = run[rare_idx];
    memchr::memchr2_iter(byte, byte.to_ascii_uppercase(), line).any(|at| {
        let candidate = at.checked_sub(rare_idx).and_then(|start| line.get(start..start + run.len()));
        candidate.is_some_and(|candidate| candidate.eq_ignore_ascii_case(run))
    })
}

/// The most frequent bytes of session files, in descending order.
const BYTES_BY_FREQUENCY: &[u8] = b"e\"t ,:ainsro-0d1c2l4u8356b97fmhpg_.ywvkxjqz";

/// Returns a number that is larger the rarer a byte is in session files.
fn byte_rarity(byte: u8) -> usize {
    BYTES_BY_FREQUENCY.iter().position(|&known| known == byte).unwrap_or(BYTES_BY_FREQUENCY.len())
}

/// Returns the lower-case form of a character. ASCII maps to ASCII and no other character does, so that runs
/// of ASCII can be found by their bytes.
pub(super) fn fold_char(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(one), None) if !one.is_ascii() => one,
        _ => c,
    }
}

/// Returns whether a character has a different upper-case or lower-case form.
fn has_case(c: char) -> bool {
    !c.to_uppercase().eq([c]) || !c.to_lowercase().eq([c])
}

/// Returns the byte range of the first match of the case-folded characters `needle` at byte `from` or later.
///
/// Returns `None` if there is no match or the needle is empty.
fn find_folded(text: &str, needle: &[char], from: usize) -> Option<Range<usize>> {
    let (first, rest) = needle.split_first()?;
    let rest_of_text = &text[from..];
    let matches = |at: usize| {
        let mut chars = rest_of_text[at..].char_indices();
        chars.next().filter(|(_, c)| fold_char(*c) == *first)?;
        let is_match =
            rest.iter().all(|expected| chars.next().is_some_and(|(_, c)| fold_char(c) == *expected));
        is_match.then(|| from + at..from + at + chars.offset())
    };
    match u8::try_from(*first) {
        Ok(byte) if byte.is_ascii() => {
            memchr::memchr2_iter(byte, byte.to_ascii_uppercase(), rest_of_text.as_bytes()).find_map(matches)
        }
        _ => rest_of_text.char_indices().find_map(|(at, _)| matches(at)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Needle, fold_char, has_case};

    #[test]
    fn folded_characters_have_case_and_only_ascii_folds_to_ascii() {
        for c in '\0'..=char::MAX {
            let folded = fold_char(c);
            assert_eq!(folded.is_ascii(), c.is_ascii(), "{c:?}");
            // Otherwise the line filter would reject a line that contains the other form.
            assert!(folded == c || c.is_ascii() || has_case(folded), "{c:?} {folded:?}");
        }
    }

    #[test]
    fn smart_case_ignores_case_unless_a_capital_is_typed() {
        fn find_first<'t>(text_to_find: &str, text: &'t str) -> Option<&'t str> {
            Needle::smart_case(text_to_find).find(text, 0).map(|range| &text[range])
        }
        assert_eq!(find_first("shed", "a Tidy SHED"), Some("SHED"));
        assert_eq!(find_first("Shed", "a Tidy SHED"), None);
        assert_eq!(find_first("Shed", "a shed, a Shed"), Some("Shed"));
        assert_eq!(find_first("straße", "in der STRAẞE"), Some("STRAẞE"));
        assert_eq!(find_first("über", "ganz ÜBER alles"), Some("ÜBER"));
        assert_eq!(find_first("漢字", "some 漢字 here"), Some("漢字"));
        assert_eq!(find_first("aab", "aaab"), Some("aab"));
        assert_eq!(find_first("", "anything"), None);
    }

    #[test]
    fn empty_pattern_matches_are_skipped() {
        let needle = Needle::from_pattern("x*").unwrap();
        assert_eq!(needle.find("aéxxb", 0), Some(3..5));
        assert_eq!(needle.find("aé", 0), None);
        assert!(Needle::from_pattern("(").is_err());
    }

    #[test]
    fn line_filter_never_rejects_a_match() {
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
        for (text, line, expected) in cases {
            assert_eq!(
                Needle::case_insensitive(text).may_match_line(line.as_bytes()),
                expected,
                "{text:?} in {line}"
            );
        }
        assert!(!Needle::case_sensitive("Shed").may_match_line(b"{\"t\":\"a shed\"}"));
    }
}
