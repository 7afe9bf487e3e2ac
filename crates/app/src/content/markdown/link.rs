//! Finds URLs and file mentions in text, and decides which URLs become links.

use crate::text::clean;

/// Returns `url` if it is safe to link to: `http`, `https` or `mailto` without white space, control or invisible
/// characters. Returns `None` otherwise.
pub(crate) fn safe_url(url: &str) -> Option<&str> {
    let rest = ["http://", "https://", "mailto:"].iter().find_map(|scheme| url.strip_prefix(scheme))?;
    let is_plain = rest.starts_with(is_host)
        && !url.contains(|c: char| c.is_whitespace() || c.is_control())
        && clean::text(url) == url;
    is_plain.then_some(url)
}

/// Returns `true` if a host name or mail address may start with this character.
fn is_host(c: char) -> bool {
    c.is_alphanumeric() || c == '['
}

/// Returns the start and end offset of the first `http` or `https` URL in a text. Returns `None` if there is none.
pub(crate) fn find_url(text: &str) -> Option<(usize, usize)> {
    let mut from = 0;
    while let Some(at) = text.get(from..)?.find("http").map(|at| from + at) {
        let is_in_word = text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let len = if is_in_word { None } else { measure_url(&text[at..]) };
        if let Some(len) = len {
            return Some((at, at + len));
        }
        from = at + 4;
    }
    None
}

/// Returns the length in bytes of the URL at the start of a text, without punctuation and brackets that follow it.
/// Returns `None` if there is no safe URL.
fn measure_url(text: &str) -> Option<usize> {
    let scheme = if text.starts_with("https://") { 8 } else { 7 };
    if scheme == 7 && !text.starts_with("http://") {
        return None;
    }
    // Checked first, so that text after a bare scheme is not scanned again for each `http` in it.
    if !text[scheme..].starts_with(is_host) {
        return None;
    }
    // Counters suffice: a closing bracket without an opening one ends the URL.
    let (mut round, mut square) = (0usize, 0usize);
    let mut len = text.len();
    for (at, c) in text.char_indices().skip(scheme) {
        let ends = match c {
            '(' => open_bracket(&mut round),
            '[' => open_bracket(&mut square),
            ')' => close_bracket(&mut round),
            ']' => close_bracket(&mut square),
            '<' | '>' | '"' | '`' | '{' | '}' | '|' | '\\' | '^' => true,
            c => c.is_whitespace() || c.is_control(),
        };
        if ends {
            len = at;
            break;
        }
    }
    let tail = ['.', ',', ';', ':', '!', '?', '\'', '*', '_', '~', '(', '[', '…', '。', '，', '、'];
    let len = text[..len].trim_end_matches(tail).len();
    (len > scheme && safe_url(&text[..len]).is_some()).then_some(len)
}

/// Counts an opening bracket. Returns `false`: it does not end the URL.
fn open_bracket(open: &mut usize) -> bool {
    *open += 1;
    false
}

/// Counts a closing bracket. Returns `true` if none was open, so that it ends the URL.
fn close_bracket(open: &mut usize) -> bool {
    let was_closed = *open == 0;
    *open = open.saturating_sub(1);
    was_closed
}

/// Returns the start and end offset of the first file mention in a text, such as `@path/file`. Returns `None` if
/// there is none.
pub(crate) fn find_mention(text: &str) -> Option<(usize, usize)> {
    let mut from = 0;
    while let Some(at) = text.get(from..)?.find('@').map(|at| from + at) {
        let rest = &text[at + 1..];
        let before = text[..at].chars().next_back();
        let is_separate =
            before.is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '[' | '"' | '\'' | ','));
        let len =
            rest.find(|c: char| c.is_whitespace() || matches!(c, '@' | ',' | '"' | '\'' | ')' | ']' | '<'));
        let path = rest[..len.unwrap_or(rest.len())].trim_end_matches(['.', ':', ';', '!', '?']);
        if is_separate && path.contains(['/', '.']) && path.contains(char::is_alphanumeric) {
            return Some((at, at + 1 + path.len()));
        }
        from = at + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{find_mention, find_url, safe_url};

    #[test]
    fn only_plain_web_and_mail_urls_are_safe() {
        for url in ["http://a.b", "https://a.b/c?d=e#f", "mailto:a@b.c", "https://[::1]/", "https://例え.jp/"]
        {
            assert_eq!(safe_url(url), Some(url));
        }
        let refused = [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            "java\nscript:alert(1)",
            "java\tscript:x",
            " https://a.b",
            "\u{1}javascript:x",
            "data:text/html,x",
            "file:///etc/passwd",
            "vbscript:x",
            "//a.b",
            "/a",
            "a.html",
            "#x",
            "",
            "http:a.b",
            "https:/a.b",
            "HTTPS://a.b",
            "https://",
            "https:// a.b",
            "https://a.b\u{202e}",
            "https://a\u{0}b",
            "https://a.b/\nx",
            "https://\"onclick",
            "mailto:",
            "blob:https://a.b",
            "view-source:https://a.b",
            "javascript://https://",
        ];
        for url in refused {
            assert_eq!(safe_url(url), None, "{url:?}");
        }
    }

    #[test]
    fn urls_are_found_without_surrounding_punctuation() {
        let cases = [
            ("see https://a.b/c.", Some("https://a.b/c")),
            ("(https://a.b/c)", Some("https://a.b/c")),
            ("https://a.b/c_(d) e", Some("https://a.b/c_(d)")),
            ("<https://a.b>", Some("https://a.b")),
            ("[x](https://a.b)", Some("https://a.b")),
            ("at http://localhost:3000/, now", Some("http://localhost:3000/")),
            ("https://a.b/?x=1&y=2!", Some("https://a.b/?x=1&y=2")),
            ("**https://a.b**", Some("https://a.b")),
            ("http https:// http:// httpx://a", None),
            ("xhttps://a.b", None),
            ("http http://a.b", Some("http://a.b")),
            ("javascript:https://", None),
            ("https://漢字.jp/ä。", Some("https://漢字.jp/ä")),
        ];
        for (text, found) in cases {
            assert_eq!(find_url(text).map(|(from, to)| &text[from..to]), found, "{text}");
        }
    }

    #[test]
    fn mentions_are_paths() {
        let cases = [
            ("fix @src/main.rs please", Some("@src/main.rs")),
            ("@README.md.", Some("@README.md")),
            ("(@a/b)", Some("@a/b")),
            ("me@example.com", None),
            ("@someone", None),
            ("@", None),
            ("@/ @. @@@", None),
            ("x @ y @docs/ä.md: z", Some("@docs/ä.md")),
        ];
        for (text, found) in cases {
            assert_eq!(find_mention(text).map(|(from, to)| &text[from..to]), found, "{text}");
        }
    }
}
