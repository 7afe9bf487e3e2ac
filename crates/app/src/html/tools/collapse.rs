//! Long pieces show their beginning; the rest unfolds.
//!
//! What is folded is drawn whole and then parted, so that a comment or a string that began above is still one below: the
//! elements that are open at the cut are closed and opened again. It is markup of our own, where every `<` begins a tag.

use maud::{Markup, PreEscaped, html};

use crate::text::figures;

/// How many lines of a long piece show at once.
pub(super) const SHOWN: usize = 40;
/// How many lines more are shown rather than folded: a click is not worth less.
const SPARE: usize = 8;
/// How many bytes of words a long text shows at once.
const WORDS_SHOWN: usize = 3000;

/// Folds what is drawn line by line: code, changes, output.
pub(super) fn lines(whole: Markup) -> Markup {
    let total = count(&whole.0);
    if total <= SHOWN + SPARE {
        return whole;
    }
    let mut seen = 0;
    let cut = part(&whole.0, |text, _| {
        seen += usize::from(text == b'\n');
        text == b'\n' && seen == SHOWN
    });
    let Some((head, rest)) = cut else { return whole };
    more(head, &figures::things((total - SHOWN) as u64, "more line"), rest)
}

/// Counts the lines of markup, whether or not the last one ends.
fn count(markup: &str) -> usize {
    let mut words = markup;
    while words.ends_with('>') {
        words = words.rfind('<').map_or("", |at| &words[..at]);
    }
    markup.matches('\n').count() + usize::from(!words.ends_with('\n'))
}

/// Folds words: the cut falls between two paragraphs, or two lines where there are none.
pub(super) fn prose(whole: Markup) -> Markup {
    if whole.0.len() <= WORDS_SHOWN * 3 / 2 {
        return whole;
    }
    let mut seen = 0;
    let cut = part(&whole.0, |text, depth| {
        seen += 1;
        seen > WORDS_SHOWN && depth <= 1 && matches!(text, b'>' | b'\n')
    });
    let Some((head, rest)) = cut else { return whole };
    more(head, "more", rest)
}

/// Puts the rest behind a line that says how much it is.
fn more(head: String, says: &str, rest: String) -> Markup {
    html! { (PreEscaped(head)) details class="more" { summary { (says) } (PreEscaped(rest)) } }
}

/// Parts markup after the first byte at which `is_here` says so, and after what closes there; it is asked at every byte of
/// text and after every tag that closes (as `>`), with how many elements are open.
fn part(markup: &str, mut is_here: impl FnMut(u8, usize) -> bool) -> Option<(String, String)> {
    let bytes = markup.as_bytes();
    let mut open: Vec<&str> = Vec::new();
    let mut is_cut = false;
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'<' {
            if is_cut {
                return Some(split(markup, at, &open));
            }
            is_cut = is_here(bytes[at], open.len());
            at += 1;
            continue;
        }
        let end = markup[at..].find('>').map_or(bytes.len(), |len| at + len + 1);
        let tag = &markup[at..end];
        if tag.starts_with("</") {
            open.pop();
            is_cut = is_cut || is_here(b'>', open.len());
        } else {
            if is_cut {
                return Some(split(markup, at, &open));
            }
            if !is_void(name(tag)) {
                open.push(tag);
            }
        }
        at = end;
    }
    None
}

/// Closes what is open, and opens it again.
fn split(markup: &str, at: usize, open: &[&str]) -> (String, String) {
    let (head, rest) = markup.split_at(at);
    let mut head = head.to_owned();
    for tag in open.iter().rev() {
        head.push_str("</");
        head.push_str(name(tag));
        head.push('>');
    }
    let mut again = open.concat();
    again.push_str(rest);
    (head, again)
}

/// Returns the name of a tag that opens.
fn name(tag: &str) -> &str {
    let name = tag.trim_start_matches('<');
    &name[..name.find([' ', '>', '\n']).unwrap_or(name.len())]
}

fn is_void(name: &str) -> bool {
    matches!(name, "br" | "hr" | "img" | "input" | "wbr")
}

#[cfg(test)]
mod tests {
    use maud::PreEscaped;

    use super::{lines, part, prose};

    #[test]
    fn a_cut_closes_and_opens_again_what_is_open() {
        let second = |markup: &str| {
            let mut seen = 0;
            part(markup, |text, _| {
                seen += usize::from(text == b'\n');
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
            let parted = second(markup).map_or(String::new(), |(head, rest)| format!("{head}|{rest}"));
            assert_eq!(parted, expected);
        }
    }

    #[test]
    fn short_pieces_stay_whole_and_long_ones_lose_nothing() {
        for count in [0_usize, 1, 40, 48, 49, 300] {
            let text = (0..count).map(|no| format!("{no}\n")).collect::<String>();
            let drawn = lines(PreEscaped(format!("<pre>{text}</pre>"))).0;
            if count <= 48 {
                assert_eq!(drawn, format!("<pre>{text}</pre>"));
            } else {
                let says = format!("<summary>{} more lines</summary>", count - 40);
                assert!(drawn.contains(&says), "{drawn}");
                assert!(drawn.contains("39\n</pre><details"), "{drawn}");
                assert!(drawn.ends_with(&format!("{}\n</pre></details>", count - 1)));
            }
        }
    }

    #[test]
    fn words_part_between_paragraphs() {
        let paragraph = format!("<p>{} <em>x</em></p>", "word ".repeat(200));
        let drawn = prose(PreEscaped(format!("<div>{}</div>", paragraph.repeat(8)))).0;
        assert_eq!(drawn.matches(&paragraph).count(), 8, "{drawn}");
        assert!(
            drawn.contains("</p></div><details class=\"more\"><summary>more</summary><div><p>"),
            "{drawn}"
        );
    }
}
