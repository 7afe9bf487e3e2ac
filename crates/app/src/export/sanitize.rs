//! Sanitizes text of a session for a markdown file: it closes every block it opens, contains no HTML, loads no images,
//! and its headings are below those of the export.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, LinkType, Options, Parser, Tag};

use crate::text::clean;

/// The number of levels by which headings are lowered, so that they are below the heading of the turn.
const HEADING_SHIFT: usize = 2;
/// Maximum number of passes over a text.
const MAX_PASSES: usize = 8;

/// Replacements in a text, and the ranges in which `<` is not escaped.
#[derive(Default)]
struct TextEdits {
    /// The byte ranges to replace, each with its new text.
    replacements: Vec<(Range<usize>, String)>,
    /// The byte ranges in which `<` is not escaped: code and safe autolinks.
    literal_ranges: Vec<Range<usize>>,
}

/// Sanitizes prose and keeps its markdown. Edits can change how the rest is parsed, so passes are repeated until one changes
/// nothing; text that does not converge becomes a fenced block. Leading spaces are removed: after a list, an indented
/// line would belong to its last item.
pub(super) fn sanitize_prose(text: &str) -> String {
    let text = clean::text(text);
    let text = text.trim();
    let mut safe = text.to_owned();
    for pass in 0..MAX_PASSES {
        // The first pass lowers all headings; later passes only headings that an edit created above the limit.
        let (edits, last_fence) = find_edits(&safe, if pass == 0 { 6 } else { HEADING_SHIFT });
        let Some(changed) = edits.apply(&safe) else {
            let closing = last_fence.and_then(|range| find_missing_fence(&safe, &range));
            return closing.map_or(safe.clone(), |closing| format!("{safe}\n{closing}"));
        };
        safe = changed;
    }
    format_fenced_block(text, "")
}

/// Returns the markdown extensions that common renderers support.
fn parser_options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES
}

/// Finds the edits that make a text safe. Headings of level 1 to `max_level` are lowered. Also returns the byte range
/// of the last top-level block if it is fenced.
fn find_edits(text: &str, max_level: usize) -> (TextEdits, Option<Range<usize>>) {
    let parser = Parser::new_ext(text, parser_options());
    let mut edits = TextEdits::default();
    // A link definition would apply to all texts of the export.
    for (_, definition) in parser.reference_definitions().iter() {
        edits.insert(definition.span.start, "\\");
    }
    let mut depth = 0_usize;
    let mut last_fence = None;
    let mut fences = Vec::new();
    for (event, range) in parser.into_offset_iter() {
        match event {
            Event::Code(_) => edits.literal_ranges.push(range),
            Event::Start(tag) => {
                if depth == 0 {
                    let is_fenced = matches!(tag, Tag::CodeBlock(CodeBlockKind::Fenced(_)));
                    last_fence = Some(range.clone()).filter(|_| is_fenced);
                    fences.extend(last_fence.clone());
                }
                edits.add_tag_edits(text, &tag, range, max_level);
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    edits.replace_tabs(text, &fences);
    (edits, last_fence)
}

impl TextEdits {
    /// Replaces each tab outside of the byte ranges `fences` by four spaces. The export may insert `text` at another column,
    /// where a tab would have another width.
    fn replace_tabs(&mut self, text: &str, fences: &[Range<usize>]) {
        let mut fences = fences.iter().peekable();
        for (at, _) in text.match_indices('\t') {
            while fences.next_if(|fence| fence.end <= at).is_some() {}
            if !fences.peek().is_some_and(|fence| fence.contains(&at)) {
                self.replacements.push((at..at + 1, "    ".to_owned()));
            }
        }
    }

    /// Inserts text at a byte offset.
    fn insert(&mut self, at: usize, text: &str) {
        self.replacements.push((at..at, text.to_owned()));
    }

    /// Adds the edits for an element that starts in `range`: escapes unsafe links, footnotes and images, and lowers
    /// headings up to `max_level`.
    fn add_tag_edits(&mut self, text: &str, tag: &Tag<'_>, range: Range<usize>, max_level: usize) {
        match tag {
            Tag::CodeBlock(_) => self.literal_ranges.push(range),
            Tag::Link { link_type: LinkType::Autolink | LinkType::Email, dest_url, .. } => {
                self.literal_ranges.extend(Some(range).filter(|_| is_safe_url(dest_url)));
            }
            Tag::Link { dest_url, .. } if !is_safe_url(dest_url) => self.insert(range.start, "\\"),
            Tag::FootnoteDefinition(_) => self.insert(range.start, "\\"),
            // Loading an image would reveal the reader to its server, so it becomes a link.
            Tag::Image { .. } => self.insert(range.start, "\\"),
            Tag::Heading { level, .. } if *level as usize <= max_level => {
                self.lower_heading(text, *level, range);
            }
            _ => {}
        }
    }

    /// Lowers a heading. An underlined heading becomes one with `#` signs.
    fn lower_heading(&mut self, text: &str, level: HeadingLevel, range: Range<usize>) {
        let level = level as usize;
        let new_level = (level + HEADING_SHIFT).min(6);
        let source = text.get(range.clone()).unwrap_or_default().trim_end();
        let sign_count = source.bytes().take_while(|byte| *byte == b'#').count();
        let next_byte = source.as_bytes().get(sign_count);
        if sign_count == level && next_byte.is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'\n')) {
            if new_level > level {
                self.insert(range.start, &"#".repeat(new_level - level));
            }
            return;
        }
        self.insert(range.start, &format!("{} ", "#".repeat(new_level)));
        let Some(underline) = source.rfind('\n') else { return };
        for (at, _) in source[..underline].match_indices('\n') {
            self.replacements.push((range.start + at..range.start + at + 1, " ".to_owned()));
        }
        self.replacements.push((range.start + underline..range.start + source.len(), String::new()));
    }

    /// Applies the edits and escapes `<`. Returns `None` if the text does not change.
    fn apply(mut self, text: &str) -> Option<String> {
        self.replacements.sort_by_key(|(range, _)| range.start);
        self.literal_ranges.sort_by_key(|range| range.start);
        let mut safe = String::with_capacity(text.len() + text.len() / 16);
        let mut literal_ranges = self.literal_ranges.iter().peekable();
        let mut from = 0;
        let mut push_escaped = |safe: &mut String, part: Range<usize>| {
            let mut copied_to = part.start;
            for (offset, _) in text.get(part.clone()).unwrap_or_default().match_indices('<') {
                let at = part.start + offset;
                while literal_ranges.next_if(|range| range.end <= at).is_some() {}
                if literal_ranges.peek().is_some_and(|range| range.contains(&at)) {
                    continue;
                }
                safe.push_str(&text[copied_to..at]);
                safe.push_str("&lt;");
                copied_to = at + 1;
            }
            safe.push_str(text.get(copied_to..part.end).unwrap_or_default());
        };
        for (range, replacement) in &self.replacements {
            if range.start < from {
                continue;
            }
            push_escaped(&mut safe, from..range.start);
            safe.push_str(replacement);
            from = range.end;
        }
        push_escaped(&mut safe, from..text.len());
        (safe != text).then_some(safe)
    }
}

/// Returns `true` for `http`, `https` and `mailto` URLs and for relative ones.
fn is_safe_url(url: &str) -> bool {
    let scheme = url.split(['/', '?', '#']).next().unwrap_or_default();
    match scheme.split_once(':') {
        Some((scheme, _)) => ["http", "https", "mailto"].iter().any(|safe| scheme.eq_ignore_ascii_case(safe)),
        None => true,
    }
}

/// Returns the fence that is needed to close a fenced block. Returns `None` if the block is closed or does not start
/// with a fence.
fn find_missing_fence(text: &str, block: &Range<usize>) -> Option<String> {
    let source = text.get(block.clone())?;
    let sign = source.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
    let sign_count = source.chars().take_while(|c| *c == sign).count();
    // The block is open if it includes text that is appended to it.
    let probe = format!("{text}\n\nz");
    let is_fence =
        |event: &Event<'_>| matches!(event, Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))));
    let mut events = Parser::new_ext(&probe, parser_options()).into_offset_iter();
    let is_open = events.any(|(event, range)| is_fence(&event) && range.end == probe.len());
    is_open.then(|| sign.to_string().repeat(sign_count))
}

/// Formats text as a fenced block. The fence has at least three backticks and is longer than every run of backticks
/// in the text. `language` may be empty.
pub(super) fn format_fenced_block(text: &str, language: &str) -> String {
    let text = clean::text(text);
    let text = text.trim_end().trim_start_matches('\n');
    let fence = "`".repeat((longest_backtick_run(text) + 1).max(3));
    format!("{fence}{language}\n{text}\n{fence}")
}

/// Formats text as a code span on one line. Returns an empty string for blank text.
pub(super) fn format_code_span(text: &str) -> String {
    let text = clean::line(text);
    if text.is_empty() {
        return String::new();
    }
    let ticks = "`".repeat(longest_backtick_run(&text) + 1);
    let gap = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{ticks}{gap}{text}{gap}{ticks}")
}

/// Returns the length of the longest run of backticks.
pub(super) fn longest_backtick_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}

/// Puts text on one line and escapes all markdown in it.
pub(super) fn escape_line(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in clean::line(text).chars() {
        match c {
            '<' => safe.push_str("&lt;"),
            '&' => safe.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' | '#' => safe.extend(['\\', c]),
            c => safe.push(c),
        }
    }
    safe
}

/// Adds a prefix to every line and removes trailing spaces.
pub(super) fn prefix_lines(prefix: &str, text: &str) -> String {
    let add_prefix = |line: &str| format!("{prefix}{line}").trim_end().to_owned();
    text.lines().map(add_prefix).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::{Event, Parser, Tag};

    use super::{
        escape_line, format_code_span, format_fenced_block, parser_options, prefix_lines, sanitize_prose,
    };

    #[test]
    fn unsafe_markdown_is_escaped() {
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
            assert_eq!(sanitize_prose(text), expected, "{text}");
        }
        assert_eq!(format_code_span("a ``b`"), "``` a ``b` ```");
        assert_eq!(format_code_span(" \n"), "");
        assert_eq!(format_fenced_block("a\n````\nb\n", "text"), "`````text\na\n````\nb\n`````");
        assert_eq!(escape_line("*a* <b> `c` [d]\n#"), "\\*a\\* &lt;b> \\`c\\` \\[d\\] \\#");
    }

    proptest! {
        #[test]
        fn sanitized_text_does_not_affect_following_blocks(
            text in "([a<>!`~#=\\-\\[\\]():> \n\t*_\\\\|0^]|```|~~~|<!--|<pre>|javascript:|    |1\\.|!\\[p\\]\\(x\\)|\\[a\\]: x){0,40}",
            position in 0..3,
        ) {
            let safe = sanitize_prose(&text);
            let before = if position == 0 { "" } else { "- a\n\n" };
            let inserted = if position == 2 { prefix_lines("> ", &format!("You\n\n{safe}")) } else { safe.clone() };
            let whole = format!("![a] ![^a]\n\n{before}{inserted}\n\nLAST\n\n# END");
            let events: Vec<_> = Parser::new_ext(&whole, parser_options()).collect();
            let has_html = events.iter().any(|event| matches!(event, Event::Html(_) | Event::InlineHtml(_)));
            prop_assert!(!has_html, "{text:?} became {safe:?}");
            let has_image = events.iter().any(|event| matches!(event, Event::Start(Tag::Image { .. })));
            prop_assert!(!has_image, "{text:?} became {safe:?}");
            let is_high_heading = |event: &&Event<'_>| matches!(event, Event::Start(Tag::Heading { level, .. }) if (*level as usize) < 3);
            prop_assert_eq!(events.iter().filter(is_high_heading).count(), 1, "{:?} became {:?}", text, safe);
        }
    }
}
