//! Text of a session as markdown that stays in its place: it opens nothing that it does not close, runs nothing, loads
//! nothing, and its headings stand below those of the export.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, LinkType, Options, Parser, Tag};

use crate::text::clean;

/// How much deeper the headings of an answer stand: below the heading of its turn.
const DEEPER: usize = 2;
/// How often text is read until nothing is left to change.
const ROUNDS: usize = 8;

/// Changes to a text, and where its `<` stays as it is.
#[derive(Default)]
struct Edits {
    edits: Vec<(Range<usize>, String)>,
    kept: Vec<Range<usize>>,
}

/// Writes prose as it is, made safe. What is changed may mean that other text is read differently, so that it is read again until
/// nothing is left to change; text that never comes to rest is shown as it stands. It begins at the left: behind a list, an indented
/// line would belong to the last item of that.
pub(super) fn prose(text: &str) -> String {
    let text = clean::text(text);
    let text = text.trim();
    let mut safe = text.to_owned();
    for round in 0..ROUNDS {
        let (edits, open) = survey(&safe, if round == 0 { 6 } else { DEEPER });
        let Some(changed) = edits.apply(&safe) else {
            let fence = open.and_then(|range| unclosed(&safe, &range));
            return fence.map_or(safe.clone(), |fence| format!("{safe}\n{fence}"));
        };
        safe = changed;
    }
    fenced(text, "")
}

/// The markdown that those who read it know.
fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES
}

/// Finds what must change, headings of up to this level among it, and the fenced block that stands last.
fn survey(text: &str, highest: usize) -> (Edits, Option<Range<usize>>) {
    let parser = Parser::new_ext(text, options());
    let mut edits = Edits::default();
    // What is defined holds in the whole export, also for what other texts say.
    for (_, definition) in parser.reference_definitions().iter() {
        edits.insert(definition.span.start, "\\");
    }
    let mut depth = 0_usize;
    let mut open = None;
    let mut fences = Vec::new();
    for (event, range) in parser.into_offset_iter() {
        match event {
            Event::Code(_) => edits.kept.push(range),
            Event::Start(tag) => {
                if depth == 0 {
                    let fenced = matches!(tag, Tag::CodeBlock(CodeBlockKind::Fenced(_)));
                    open = Some(range.clone()).filter(|_| fenced);
                    fences.extend(open.clone());
                }
                edits.start(text, &tag, range, highest);
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    edits.untab(text, &fences);
    (edits, open)
}

impl Edits {
    /// Writes spaces for tabs: how wide one is depends on where the text will stand. Only in blocks between these fences it means
    /// nothing.
    fn untab(&mut self, text: &str, fences: &[Range<usize>]) {
        let mut fences = fences.iter().peekable();
        for (at, _) in text.match_indices('\t') {
            while fences.next_if(|fence| fence.end <= at).is_some() {}
            if !fences.peek().is_some_and(|fence| fence.contains(&at)) {
                self.edits.push((at..at + 1, "    ".to_owned()));
            }
        }
    }

    fn insert(&mut self, at: usize, what: &str) {
        self.edits.push((at..at, what.to_owned()));
    }

    fn start(&mut self, text: &str, tag: &Tag<'_>, range: Range<usize>, highest: usize) {
        match tag {
            Tag::CodeBlock(_) => self.kept.push(range),
            Tag::Link { link_type: LinkType::Autolink | LinkType::Email, dest_url, .. } => {
                self.kept.extend(Some(range).filter(|_| is_safe(dest_url)));
            }
            Tag::Link { dest_url, .. } if !is_safe(dest_url) => self.insert(range.start, "\\"),
            Tag::FootnoteDefinition(_) => self.insert(range.start, "\\"),
            // What a picture is loaded from would learn who reads: it becomes a link.
            Tag::Image { .. } => self.insert(range.start, "\\"),
            Tag::Heading { level, .. } if *level as usize <= highest => self.heading(text, *level, range),
            _ => {}
        }
    }

    /// Puts a heading lower; one that is underlined gets signs before it instead.
    fn heading(&mut self, text: &str, level: HeadingLevel, range: Range<usize>) {
        let level = level as usize;
        let deeper = (level + DEEPER).min(6);
        let source = text.get(range.clone()).unwrap_or_default().trim_end();
        let signs = source.bytes().take_while(|byte| *byte == b'#').count();
        let behind = source.as_bytes().get(signs);
        if signs == level && behind.is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'\n')) {
            if deeper > level {
                self.insert(range.start, &"#".repeat(deeper - level));
            }
            return;
        }
        self.insert(range.start, &format!("{} ", "#".repeat(deeper)));
        let Some(underline) = source.rfind('\n') else { return };
        for (at, _) in source[..underline].match_indices('\n') {
            self.edits.push((range.start + at..range.start + at + 1, " ".to_owned()));
        }
        self.edits.push((range.start + underline..range.start + source.len(), String::new()));
    }

    /// Returns the changed text, or nothing where there is nothing to change.
    fn apply(mut self, text: &str) -> Option<String> {
        self.edits.sort_by_key(|(range, _)| range.start);
        self.kept.sort_by_key(|range| range.start);
        let mut safe = String::with_capacity(text.len() + text.len() / 16);
        let mut kept = self.kept.iter().peekable();
        let mut from = 0;
        let mut write = |safe: &mut String, part: Range<usize>| {
            let mut at = part.start;
            for (less, _) in text.get(part.clone()).unwrap_or_default().match_indices('<') {
                let less = part.start + less;
                while kept.next_if(|range| range.end <= less).is_some() {}
                if kept.peek().is_some_and(|range| range.contains(&less)) {
                    continue;
                }
                safe.push_str(&text[at..less]);
                safe.push_str("&lt;");
                at = less + 1;
            }
            safe.push_str(text.get(at..part.end).unwrap_or_default());
        };
        for (range, instead) in &self.edits {
            if range.start < from {
                continue;
            }
            write(&mut safe, from..range.start);
            safe.push_str(instead);
            from = range.end;
        }
        write(&mut safe, from..text.len());
        (safe != text).then_some(safe)
    }
}

/// Whether a link leads to the web, to mail, or to a place beside the text.
fn is_safe(address: &str) -> bool {
    let scheme = address.split(['/', '?', '#']).next().unwrap_or_default();
    match scheme.split_once(':') {
        Some((scheme, _)) => ["http", "https", "mailto"].iter().any(|safe| scheme.eq_ignore_ascii_case(safe)),
        None => true,
    }
}

/// Returns what would close a fenced block that the text leaves open.
fn unclosed(text: &str, block: &Range<usize>) -> Option<String> {
    let source = text.get(block.clone())?;
    let sign = source.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
    let signs = source.chars().take_while(|c| *c == sign).count();
    // Whether it is open is seen by what it does to words behind it.
    let probe = format!("{text}\n\nz");
    let fence = |event: &Event<'_>| matches!(event, Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))));
    let mut events = Parser::new_ext(&probe, options()).into_offset_iter();
    let open = events.any(|(event, range)| fence(&event) && range.end == probe.len());
    open.then(|| sign.to_string().repeat(signs))
}

/// Writes text as a fenced block, with a fence that nothing in it closes.
pub(super) fn fenced(text: &str, kind: &str) -> String {
    let text = clean::text(text);
    let text = text.trim_end().trim_start_matches('\n');
    let fence = "`".repeat((longest(text) + 1).max(3));
    format!("{fence}{kind}\n{text}\n{fence}")
}

/// Writes words on one line as code.
pub(super) fn code(words: &str) -> String {
    let words = clean::line(words);
    if words.is_empty() {
        return String::new();
    }
    let ticks = "`".repeat(longest(&words) + 1);
    let gap = if words.starts_with('`') || words.ends_with('`') { " " } else { "" };
    format!("{ticks}{gap}{words}{gap}{ticks}")
}

fn longest(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}

/// Writes words on one line as nothing but words.
pub(super) fn words(words: &str) -> String {
    let mut safe = String::with_capacity(words.len());
    for c in clean::line(words).chars() {
        match c {
            '<' => safe.push_str("&lt;"),
            '&' => safe.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' | '#' => safe.extend(['\\', c]),
            c => safe.push(c),
        }
    }
    safe
}

/// Puts a mark before every line.
pub(super) fn behind(mark: &str, text: &str) -> String {
    let line = |line: &str| format!("{mark}{line}").trim_end().to_owned();
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::{Event, Parser, Tag};

    use super::{behind, code, fenced, options, prose, words};

    #[test]
    fn text_stays_in_its_place() {
        let cases = [
            ("plain *words* and `<b>`", "plain *words* and `<b>`"),
            ("# One\n## Two\n###### Six", "### One\n#### Two\n###### Six"),
            ("One\n===\n\nTwo\nmore\n---", "### One\n\n#### Two more"),
            ("a <script>alert(1)</script> b", "a &lt;script>alert(1)&lt;/script> b"),
            ("<!-- \n<div onclick=x>", "&lt;!-- \n&lt;div onclick=x>"),
            ("```\n<b>\n```\n<b>", "```\n<b>\n```\n&lt;b>"),
            ("```rust\nfn main", "```rust\nfn main\n```"),
            ("~~~~\n```\n~~~", "~~~~\n```\n~~~\n~~~~"),
            ("<!--\n```", "&lt;!--\n```\n```"),
            ("text\n````", "text\n````\n````"),
            ("- a\n  ```\n  b", "- a\n  ```\n  b"),
            ("[a](javascript:alert(1)) [b](https://x.y)", "\\[a](javascript:alert(1)) [b](https://x.y)"),
            ("[a](&#106;avascript:x)", "\\[a](&#106;avascript:x)"),
            ("<javascript:x> <https://x.y>", "&lt;javascript:x> <https://x.y>"),
            ("[a]\n\n[a]: data:text/html,x", "\\[a]\n\n\\[a]: data:text/html,x"),
            ("[a]: vbscript:x", "\\[a]: vbscript:x"),
            ("see [a] and [^n]\n\n[a]: https://x.y\n\n[^n]: a note\n\n    <b>", {
                "see [a] and [^n]\n\n\\[a]: https://x.y\n\n\\[^n]: a note\n\n    &lt;b>"
            }),
            ("    <b> ![p](x)", "&lt;b> \\![p](x)"),
            ("a\n\n\t<b>\n\n```\n\tb\n```", "a\n\n    <b>\n\n```\n\tb\n```"),
            ("![p](https://x.y/track.png)", "\\![p](https://x.y/track.png)"),
            ("[a](src/a.rs:12) [b](#t1)", "[a](src/a.rs:12) [b](#t1)"),
            ("\u{1b}[31mred\u{202e}", "red&lt;U+202E>"),
        ];
        for (text, expected) in cases {
            assert_eq!(prose(text), expected, "{text}");
        }
        assert_eq!(code("a ``b`"), "``` a ``b` ```");
        assert_eq!(code(" \n"), "");
        assert_eq!(fenced("a\n````\nb\n", "text"), "`````text\na\n````\nb\n`````");
        assert_eq!(words("*a* <b> `c` [d]\n#"), "\\*a\\* &lt;b> \\`c\\` \\[d\\] \\#");
    }

    proptest! {
        #[test]
        fn what_follows_is_not_swallowed(
            text in "([a<>!`~#=\\-\\[\\]():> \n\t*_\\\\|0^]|```|~~~|<!--|<pre>|javascript:|    |1\\.|!\\[p\\]\\(x\\)|\\[a\\]: x){0,40}",
            around in 0..3,
        ) {
            let safe = prose(&text);
            let before = if around == 0 { "" } else { "- a\n\n" };
            let stands = if around == 2 { behind("> ", &format!("You\n\n{safe}")) } else { safe.clone() };
            let whole = format!("![a] ![^a]\n\n{before}{stands}\n\nLAST\n\n# END");
            let events: Vec<_> = Parser::new_ext(&whole, options()).collect();
            let html = events.iter().any(|event| matches!(event, Event::Html(_) | Event::InlineHtml(_)));
            prop_assert!(!html, "{text:?} became {safe:?}");
            let loaded = events.iter().any(|event| matches!(event, Event::Start(Tag::Image { .. })));
            prop_assert!(!loaded, "{text:?} became {safe:?}");
            let high = |event: &&Event<'_>| matches!(event, Event::Start(Tag::Heading { level, .. }) if (*level as usize) < 3);
            prop_assert_eq!(events.iter().filter(high).count(), 1, "{:?} became {:?}", text, safe);
        }
    }
}
