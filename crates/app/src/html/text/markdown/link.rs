//! Which addresses become links, and where they stand in text.

use crate::text::clean;

/// Tells an address that a reader may safely be led to: of the web or of mail, written plainly.
pub(crate) fn safe(address: &str) -> Option<&str> {
    let rest = ["http://", "https://", "mailto:"].iter().find_map(|scheme| address.strip_prefix(scheme))?;
    let plain = rest.starts_with(is_host)
        && !address.contains(|c: char| c.is_whitespace() || c.is_control())
        && clean::text(address) == address;
    plain.then_some(address)
}

fn is_host(c: char) -> bool {
    c.is_alphanumeric() || c == '['
}

/// Finds the next address of the web in text: where it begins and ends.
pub(super) fn next(text: &str) -> Option<(usize, usize)> {
    let mut from = 0;
    while let Some(at) = text.get(from..)?.find("http").map(|at| from + at) {
        let glued = text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let found = if glued { None } else { address(&text[at..]) };
        if let Some(len) = found {
            return Some((at, at + len));
        }
        from = at + 4;
    }
    None
}

/// Measures the address at the start of text; what only ends the sentence or a bracket around it is left out.
fn address(text: &str) -> Option<usize> {
    let scheme = if text.starts_with("https://") { 8 } else { 7 };
    if scheme == 7 && !text.starts_with("http://") {
        return None;
    }
    // Asked first, so that what follows is read once: an address that begins so is one.
    if !text[scheme..].starts_with(is_host) {
        return None;
    }
    // Two numbers suffice: a bracket that was never opened ends the address.
    let (mut round, mut square) = (0usize, 0usize);
    let mut len = text.len();
    for (at, c) in text.char_indices().skip(scheme) {
        let ends = match c {
            '(' => bump(&mut round),
            '[' => bump(&mut square),
            ')' => drop_one(&mut round),
            ']' => drop_one(&mut square),
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
    (len > scheme && safe(&text[..len]).is_some()).then_some(len)
}

fn bump(open: &mut usize) -> bool {
    *open += 1;
    false
}

/// Closes a bracket; says whether there was none to close.
fn drop_one(open: &mut usize) -> bool {
    let none = *open == 0;
    *open = open.saturating_sub(1);
    none
}

/// Finds the next mention of a file, `@path/file`: where it begins and ends.
pub(super) fn mention(text: &str) -> Option<(usize, usize)> {
    let mut from = 0;
    while let Some(at) = text.get(from..)?.find('@').map(|at| from + at) {
        let rest = &text[at + 1..];
        let before = text[..at].chars().next_back();
        let apart = before.is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '[' | '"' | '\'' | ','));
        let len =
            rest.find(|c: char| c.is_whitespace() || matches!(c, '@' | ',' | '"' | '\'' | ')' | ']' | '<'));
        let path = rest[..len.unwrap_or(rest.len())].trim_end_matches(['.', ':', ';', '!', '?']);
        if apart && path.contains(['/', '.']) && path.contains(char::is_alphanumeric) {
            return Some((at, at + 1 + path.len()));
        }
        from = at + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{mention, next, safe};

    #[test]
    fn only_plain_addresses_of_web_and_mail_are_safe() {
        for address in
            ["http://a.b", "https://a.b/c?d=e#f", "mailto:a@b.c", "https://[::1]/", "https://例え.jp/"]
        {
            assert_eq!(safe(address), Some(address));
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
        for address in refused {
            assert_eq!(safe(address), None, "{address:?}");
        }
    }

    #[test]
    fn addresses_are_found_without_what_surrounds_them() {
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
            assert_eq!(next(text).map(|(from, to)| &text[from..to]), found, "{text}");
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
            assert_eq!(mention(text).map(|(from, to)| &text[from..to]), found, "{text}");
        }
    }
}
