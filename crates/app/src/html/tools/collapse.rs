//! Collapses long content: the beginning is visible, the rest expands.
//!
//! Content is rendered as a whole and split afterwards, so that a comment or a string that spans the split keeps its
//! highlighting. Elements that are open at the split are closed and opened again. The markup is always our own: every
//! `<` starts a tag.

use maud::{Markup, PreEscaped, html};

use crate::text::figures;

/// Number of lines that stay visible.
pub(super) const VISIBLE_LINES: usize = 40;
/// Number of additional lines that are shown rather than collapsed: fewer are not worth a click.
const EXTRA_LINES: usize = 8;
/// Number of bytes of text and closing tags of prose that stay visible.
const VISIBLE_BYTES: usize = 3000;

/// Collapses line-oriented markup such as code, diffs and output after [`VISIBLE_LINES`] lines.
pub(super) fn fold_lines(whole: Markup) -> Markup {
    let total = count_lines(&whole.0);
    if total <= VISIBLE_LINES + EXTRA_LINES {
        return whole;
    }
    let mut seen = 0;
    let halves = split_markup(&whole.0, |byte, _| {
        seen += usize::from(byte == b'\n');
        byte == b'\n' && seen == VISIBLE_LINES
    });
    let Some((head, rest)) = halves else { return whole };
    render_more(head, &figures::count_noun((total - VISIBLE_LINES) as u64, "more line"), rest)
}

/// Counts the lines of text in markup. The last line counts even without a line break.
fn count_lines(markup: &str) -> usize {
    let mut text = markup;
    while text.ends_with('>') {
        text = text.rfind('<').map_or("", |at| &text[..at]);
    }
    markup.matches('\n').count() + usize::from(!text.ends_with('\n'))
}

/// Collapses prose after [`VISIBLE_BYTES`]. Splits it between two paragraphs, or between two lines if there are no
/// paragraphs.
pub(super) fn fold_prose(whole: Markup) -> Markup {
    if whole.0.len() <= VISIBLE_BYTES * 3 / 2 {
        return whole;
    }
    let mut seen = 0;
    let halves = split_markup(&whole.0, |byte, depth| {
        seen += 1;
        seen > VISIBLE_BYTES && depth <= 1 && matches!(byte, b'>' | b'\n')
    });
    let Some((head, rest)) = halves else { return whole };
    render_more(head, "more", rest)
}

/// Renders the markup `head`, then the markup `rest` collapsed to its label.
fn render_more(head: String, label: &str, rest: String) -> Markup {
    html! { (PreEscaped(head)) details class="more" { summary { (label) } (PreEscaped(rest)) } }
}

/// Splits markup after the first byte for which `is_split` returns `true`, and after the tags that close there.
///
/// Calls `is_split` with every byte of text and, for every closing tag, with `>`; the second argument is the number of open
/// elements. Returns `None` if there is no such byte or nothing follows it.
fn split_markup(markup: &str, mut is_split: impl FnMut(u8, usize) -> bool) -> Option<(String, String)> {
    let bytes = markup.as_bytes();
    let mut open: Vec<&str> = Vec::new();
    let mut is_found = false;
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'<' {
            if is_found {
                return Some(split_at(markup, at, &open));
            }
            is_found = is_split(bytes[at], open.len());
            at += 1;
            continue;
        }
        let end = markup[at..].find('>').map_or(bytes.len(), |len| at + len + 1);
        let tag = &markup[at..end];
        if tag.starts_with("</") {
            open.pop();
            is_found = is_found || is_split(b'>', open.len());
        } else {
            if is_found {
                return Some(split_at(markup, at, &open));
            }
            if !is_void(tag_name(tag)) {
                open.push(tag);
            }
        }
        at = end;
    }
    None
}

/// Splits markup at a byte offset. Closes the elements with the opening tags `open` in the first half and opens them
/// again in the second.
fn split_at(markup: &str, at: usize, open: &[&str]) -> (String, String) {
    let (head, rest) = markup.split_at(at);
    let mut head = head.to_owned();
    for tag in open.iter().rev() {
        head.push_str("</");
        head.push_str(tag_name(tag));
        head.push('>');
    }
    let mut tail = open.concat();
    tail.push_str(rest);
    (head, tail)
}

/// Returns the element name of an opening tag.
fn tag_name(tag: &str) -> &str {
    let name = tag.trim_start_matches('<');
    &name[..name.find([' ', '>', '\n']).unwrap_or(name.len())]
}

/// Returns `true` if the element has no closing tag.
fn is_void(name: &str) -> bool {
    matches!(name, "br" | "hr" | "img" | "input" | "wbr")
}

#[cfg(test)]
mod tests {
    use maud::PreEscaped;

    use super::{fold_lines, fold_prose, split_markup};

    #[test]
    fn split_closes_and_reopens_open_elements() {
        let split_after_line_two = |markup: &str| {
            let mut seen = 0;
            split_markup(markup, |byte, _| {
                seen += usize::from(byte == b'\n');
                seen == 2
            })
        };
        let cases = [
            ("<pre>1\n2\n3\n</pre>", "<pre>1\n2\n</pre>|<pre>3\n</pre>"),
            (
                "<pre class=\"code\"><code>1\n<span class=\"c\">2\n3</span>\n</code></pre>",
                "<pre class=\"code\"><code>1\n<span class=\"c\">2\n</span></code></pre>|\
                 <pre class=\"code\"><code><span class=\"c\">3</span>\n</code></pre>",
            ),
            (
                "<pre><i data-n=\"1\">a\n</i><i data-n=\"2\">b\n</i><i data-n=\"3\">c</i></pre>",
                "<pre><i data-n=\"1\">a\n</i><i data-n=\"2\">b\n</i></pre>|<pre><i data-n=\"3\">c</i></pre>",
            ),
            ("<p>1<br>\n2\n&lt;3</p>", "<p>1<br>\n2\n</p>|<p>&lt;3</p>"),
            ("<pre>1\n2\n</pre>", ""),
            ("1\n", ""),
        ];
        for (markup, expected) in cases {
            let halves =
                split_after_line_two(markup).map_or(String::new(), |(head, rest)| format!("{head}|{rest}"));
            assert_eq!(halves, expected);
        }
    }

    #[test]
    fn only_long_content_is_collapsed_and_nothing_is_lost() {
        for count in [0_usize, 1, 40, 48, 49, 300] {
            let text = (0..count).map(|idx| format!("{idx}\n")).collect::<String>();
            let folded = fold_lines(PreEscaped(format!("<pre>{text}</pre>"))).0;
            if count <= 48 {
                assert_eq!(folded, format!("<pre>{text}</pre>"));
            } else {
                let label = format!("<summary>{} more lines</summary>", count - 40);
                assert!(folded.contains(&label), "{folded}");
                assert!(folded.contains("39\n</pre><details"), "{folded}");
                assert!(folded.ends_with(&format!("{}\n</pre></details>", count - 1)));
            }
        }
    }

    #[test]
    fn prose_is_split_between_paragraphs() {
        let paragraph = format!("<p>{} <em>x</em></p>", "word ".repeat(200));
        let folded = fold_prose(PreEscaped(format!("<div>{}</div>", paragraph.repeat(8)))).0;
        assert_eq!(folded.matches(&paragraph).count(), 8, "{folded}");
        assert!(
            folded.contains("</p></div><details class=\"more\"><summary>more</summary><div><p>"),
            "{folded}"
        );
    }
}
