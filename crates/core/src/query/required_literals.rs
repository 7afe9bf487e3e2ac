//! Finds texts that every match of a regular expression contains: `/time(d )?out [0-9]+/` requires `timeout ` or `timed out `.

use regex_syntax::hir::{Class, ClassUnicode, Hir, HirKind, Repetition};

use super::needle::fold_char;

/// Case-folded texts, of which every match contains at least one.
pub(super) type Alternatives = Vec<String>;

/// The maximum number of texts in [`Alternatives`]. Each costs a lookup in the index.
const MAX_ALTERNATIVES: usize = 16;
/// Longer texts are not joined to even longer ones.
const MAX_JOINED_LEN: usize = 64;
/// Most terms of an index contain a shorter text.
const MIN_LEN: usize = 2;
/// The maximum number of [`Alternatives`] of one expression. The first ones are the rarest.
const MAX_REQUIRED: usize = 4;
/// The maximum number of copies of a repeated expression that are examined.
const MAX_COPIES: u32 = 8;

/// Returns sets of texts: every match contains a text of each set, ignoring case. Returns an empty list if no text is
/// required.
pub(super) fn find_required_literals(hir: &Hir) -> Vec<Alternatives> {
    let mut required = analyze(hir).into_required();
    required.retain(|texts| shortest(texts) >= MIN_LEN);
    required
}

/// The texts that an expression matches, and those that its matches contain.
#[derive(Debug, Clone, Default)]
struct Analysis {
    /// All texts that the expression matches, case-folded. `None` if there are too many.
    exact: Option<Vec<String>>,
    /// Sets of texts, of which every match contains one of each, if `exact` is `None`. At most [`MAX_REQUIRED`], longest first.
    required: Vec<Alternatives>,
}

impl Analysis {
    fn exact(texts: Vec<String>) -> Analysis {
        Analysis { exact: Some(texts), required: Vec::new() }
    }

    fn into_required(self) -> Vec<Alternatives> {
        match self.exact {
            Some(texts) if shortest(&texts) == 0 => Vec::new(),
            Some(texts) => vec![texts],
            None => self.required,
        }
    }
}

fn analyze(hir: &Hir) -> Analysis {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Analysis::exact(vec![String::new()]),
        HirKind::Literal(literal) => match str::from_utf8(&literal.0) {
            Ok(text) => Analysis::exact(vec![text.chars().map(fold_char).collect()]),
            Err(_) => Analysis::default(),
        },
        HirKind::Class(Class::Unicode(class)) => Analysis { exact: list_chars(class), required: Vec::new() },
        HirKind::Class(Class::Bytes(_)) => Analysis::default(),
        HirKind::Capture(capture) => analyze(&capture.sub),
        HirKind::Repetition(repetition) => analyze_repetition(repetition),
        HirKind::Concat(parts) => {
            let mut sequence = Sequence::default();
            parts.iter().for_each(|part| sequence.push(&analyze(part)));
            sequence.finish()
        }
        HirKind::Alternation(branches) => analyze_alternation(branches),
    }
}

/// Returns the case-folded characters of a class. Returns `None` if there are too many.
fn list_chars(class: &ClassUnicode) -> Option<Vec<String>> {
    let count: usize = class.iter().map(regex_syntax::hir::ClassUnicodeRange::len).sum();
    if count > 4 * MAX_ALTERNATIVES {
        return None;
    }
    let chars = class.iter().flat_map(|range| range.start()..=range.end());
    let mut chars: Vec<String> = chars.map(|c| fold_char(c).to_string()).collect();
    chars.sort_unstable();
    chars.dedup();
    (chars.len() <= MAX_ALTERNATIVES).then_some(chars)
}

fn analyze_repetition(repetition: &Repetition) -> Analysis {
    let part = analyze(&repetition.sub);
    match (repetition.min, repetition.max, part.exact) {
        (0, Some(1), Some(mut texts)) if texts.len() < MAX_ALTERNATIVES => {
            texts.push(String::new());
            Analysis::exact(texts)
        }
        (0, ..) => Analysis::default(),
        (min, max, exact) => {
            let part = Analysis { exact, ..part };
            let mut sequence = Sequence::default();
            (0..min.min(MAX_COPIES)).for_each(|_| sequence.push(&part));
            if max != Some(min) || min > MAX_COPIES {
                sequence.cut();
            }
            sequence.finish()
        }
    }
}

fn analyze_alternation(branches: &[Hir]) -> Analysis {
    let analyses: Vec<Analysis> = branches.iter().map(analyze).collect();
    let exact: Option<Vec<String>> = analyses
        .iter()
        .map(|branch| branch.exact.clone())
        .collect::<Option<Vec<_>>>()
        .map(|texts| texts.concat());
    if let Some(mut texts) = exact.filter(|texts| texts.len() <= MAX_ALTERNATIVES) {
        texts.sort_unstable();
        texts.dedup();
        return Analysis::exact(texts);
    }
    // One set of each branch, together.
    let first = |branch: Analysis| branch.into_required().into_iter().next();
    let any: Option<Vec<Alternatives>> = analyses.into_iter().map(first).collect();
    let any = any.map(|sets| sets.concat()).filter(|texts| texts.len() <= 2 * MAX_ALTERNATIVES);
    Analysis { exact: None, required: Vec::from_iter(any) }
}

/// The expressions of a concatenation, joined as long as their texts are few.
struct Sequence {
    /// All texts that the expressions since the last cut match.
    run: Vec<String>,
    was_cut: bool,
    required: Vec<Alternatives>,
}

impl Default for Sequence {
    fn default() -> Sequence {
        Sequence { run: vec![String::new()], was_cut: false, required: Vec::new() }
    }
}

impl Sequence {
    fn push(&mut self, part: &Analysis) {
        let Some(texts) = &part.exact else {
            self.cut();
            return self.require(part.required.clone());
        };
        let joined_len = longest(&self.run) + longest(texts);
        let is_joined = self.run.iter().all(String::is_empty) || texts.iter().all(String::is_empty);
        if self.run.len() * texts.len() > MAX_ALTERNATIVES || joined_len > MAX_JOINED_LEN && !is_joined {
            self.cut();
        }
        let join =
            |start: &String| texts.iter().map(move |text| format!("{start}{text}")).collect::<Vec<_>>();
        self.run = self.run.iter().flat_map(join).collect();
    }

    /// Ends the current run: unknown text follows.
    fn cut(&mut self) {
        self.was_cut = true;
        let run = std::mem::replace(&mut self.run, vec![String::new()]);
        if shortest(&run) > 0 {
            self.require(vec![run]);
        }
    }

    fn require(&mut self, sets: Vec<Alternatives>) {
        self.required.extend(sets);
        self.required.sort_by_key(|texts| (std::cmp::Reverse(shortest(texts)), texts.len()));
        self.required.dedup();
        self.required.truncate(MAX_REQUIRED);
    }

    fn finish(mut self) -> Analysis {
        if !self.was_cut {
            return Analysis::exact(self.run);
        }
        self.cut();
        Analysis { exact: None, required: self.required }
    }
}

/// Returns the length of the shortest text in bytes. Returns 0 if there are no texts.
fn shortest(texts: &[String]) -> usize {
    texts.iter().map(String::len).min().unwrap_or_default()
}

/// Returns the length of the longest text in bytes. Returns 0 if there are no texts.
fn longest(texts: &[String]) -> usize {
    texts.iter().map(String::len).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::find_required_literals;

    fn format_required(pattern: &str) -> String {
        let hir = regex_syntax::parse(pattern).unwrap();
        let format_set = |texts: &Vec<String>| texts.join("|");
        find_required_literals(&hir).iter().map(format_set).collect::<Vec<_>>().join(" & ")
    }

    #[test]
    fn required_literals_are_found_inside_of_patterns() {
        for (pattern, required) in [
            ("time(d )?out", "timed out|timeout"),
            ("time.*out", "time & out"),
            (r"\bfoo\b bar$", "foo bar"),
            ("foo|b[aeo]r|quux", "bar|ber|bor|foo|quux"),
            ("(foo.*|[0-9]+bar)x", "foo|bar"),
            ("(foo.*|[0-9]+)x", ""),
            ("(?i)TimeOut", "timeout"),
            // The long s and the Kelvin sign are not folded, as in the index.
            ("(?i)ask", "ask|as\u{212a}|a\u{17f}k|a\u{17f}\u{212a}"),
            (r"error\[E0[0-9]+\]", "error[e0"),
            ("(ab){3}", "ababab"),
            ("(ab){2,}c", "abab"),
            ("x(ab){9}y", "abababababababab"),
            ("[a-z]+_[0-9]+", ""),
            ("(foo)*bar?", "bar|ba"),
            ("(foo)?", ""),
            ("a+b", ""),
            ("", ""),
            ("[^a]", ""),
            ("(?-u:a)bc", "abc"),
            ("漢+字", "漢 & 字"),
        ] {
            assert_eq!(format_required(pattern), required, "{pattern}");
        }
    }

    #[test]
    fn nested_repetitions_stay_small() {
        let pattern = format!("({}[ab]{}[0-9]xy)+", "(".repeat(60), "{7})".repeat(60));
        for pattern in [pattern.as_str(), &"(?:abc.){8}".repeat(50)] {
            let Ok(hir) = regex_syntax::parse(pattern) else { continue };
            let required = find_required_literals(&hir);
            assert!(required.len() <= super::MAX_REQUIRED, "{required:?}");
            assert!(
                required.iter().all(|texts| super::longest(texts) <= super::MAX_JOINED_LEN),
                "{required:?}"
            );
        }
    }
}
