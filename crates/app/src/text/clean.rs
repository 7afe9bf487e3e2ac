//! Makes text of a session fit for a terminal: what it says stays, what it would do to the screen goes.
//!
//! Session text is hostile until it has passed here. [`text()`] is for many lines, [`line()`] for one; [`guard`] is the
//! last fence before the screen and lets nothing pass but our own colours.

use std::borrow::Cow;

const ESC: char = '\u{1b}';

/// Cleans text of any number of lines.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    if text.bytes().all(is_harmless) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let len = match sequence_len(rest) {
            0 if c == '\r' && rest[1..].starts_with('\n') => 1,
            0 => {
                put(&mut clean, c);
                c.len_utf8()
            }
            len => len,
        };
        rest = &rest[len..];
    }
    Cow::Owned(clean)
}

/// Cleans text and puts it on one line: runs of white space become one space.
pub(crate) fn line(text: &str) -> String {
    let clean = self::text(text);
    let mut line = String::with_capacity(clean.len());
    for word in clean.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Lets pass what may reach a terminal: cleaned text and colour sequences.
pub(crate) fn guard(output: &str) -> Cow<'_, str> {
    if output.bytes().all(is_harmless) {
        return Cow::Borrowed(output);
    }
    let mut safe = String::with_capacity(output.len());
    let mut rest = output;
    while let Some(c) = rest.chars().next() {
        let len = match c {
            ESC => {
                let len = color_len(rest);
                safe.push_str(&rest[..len]);
                len.max(1)
            }
            _ => {
                put(&mut safe, c);
                c.len_utf8()
            }
        };
        rest = &rest[len..];
    }
    Cow::Owned(safe)
}

fn is_harmless(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\n' | b'\t')
}

/// Puts one character as it is, visibly, or not at all.
fn put(clean: &mut String, c: char) {
    match c {
        '\n' | '\t' => clean.push(c),
        // A bare return would write over what stands there; a progress bar becomes lines.
        '\r' | '\u{2028}' | '\u{2029}' => clean.push('\n'),
        '\0'..='\u{1f}' => clean.push(char::from_u32(0x2400 + c as u32).unwrap_or('?')),
        '\u{7f}' => clean.push('\u{2421}'),
        '\u{80}'..='\u{9f}' => clean.push(char::REPLACEMENT_CHARACTER),
        // Overrides of the reading order are shown by name: they are made to deceive.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            clean.push_str(&format!("<U+{:04X}>", c as u32));
        }
        // Marks of the reading order, invisible letters and tags carry nothing a reader could see.
        '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{2060}'..='\u{2065}' | '\u{feff}' => {}
        '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => {}
        _ => clean.push(c),
    }
}

/// Measures the control sequence at the start of `text`: 0 where there is none.
pub(crate) fn sequence_len(text: &str) -> usize {
    match text.chars().next() {
        Some(ESC) => escape_len(text),
        Some(c @ '\u{9b}') => c.len_utf8() + csi_len(&text[c.len_utf8()..]),
        Some(c @ ('\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}')) => {
            c.len_utf8() + string_len(&text[c.len_utf8()..])
        }
        _ => 0,
    }
}

/// Measures the escape sequence at the start of `text`.
fn escape_len(text: &str) -> usize {
    let rest = &text[1..];
    match rest.chars().next() {
        Some('[') => 2 + csi_len(&rest[1..]),
        Some(']' | 'P' | 'X' | '^' | '_') => 2 + string_len(&rest[1..]),
        Some(c @ ' '..='/') => {
            1 + c.len_utf8() + usize::from(rest[1..].starts_with(|c| ('0'..='~').contains(&c)))
        }
        Some(c @ '0'..='~') => 1 + c.len_utf8(),
        _ => 1,
    }
}

/// Measures parameters and final byte of a control sequence; a character that fits nowhere is not part of it.
fn csi_len(text: &str) -> usize {
    let body = text.bytes().take_while(|b| (0x20..=0x3f).contains(b)).count();
    body + usize::from(text.as_bytes().get(body).is_some_and(|b| (0x40..=0x7e).contains(b)))
}

/// Measures a control string with its end; one without an end stops at the end of its line.
fn string_len(text: &str) -> usize {
    for (at, c) in text.char_indices() {
        match c {
            '\u{7}' | '\u{9c}' => return at + c.len_utf8(),
            ESC if text[at + 1..].starts_with('\\') => return at + 2,
            ESC | '\n' => return at,
            _ => {}
        }
    }
    text.len()
}

/// Measures a colour sequence at the start of `text`: 0 where there is none.
fn color_len(text: &str) -> usize {
    let Some(body) = text.strip_prefix("\u{1b}[") else {
        return 0;
    };
    let numbers = body.bytes().take_while(|b| b.is_ascii_digit() || *b == b';').count();
    if body.as_bytes().get(numbers) == Some(&b'm') { 2 + numbers + 1 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::{guard, line, text};

    #[test]
    fn sequences_go_whole_and_words_stay() {
        let cases = [
            ("plain\ttext\n", "plain\ttext\n"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("a\u{1b}[2J\u{1b}[1;1Hb", "ab"),
            ("\u{1b}]0;title\u{7}x", "x"),
            ("\u{1b}]8;;http://e\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}]52;c;never closed\nnext", "\nnext"),
            ("\u{1b}P1$r\u{1b}\\y", "y"),
            ("\u{1b}(Bz\u{1b}cq", "zq"),
            ("\u{9b}31mred", "red"),
            ("\u{9d}0;t\u{9c}x", "x"),
            ("one\r\ntwo\rthree", "one\ntwo\nthree"),
            ("bell\u{7}back\u{8}nul\0del\u{7f}", "bell␇back␈nul␀del␡"),
            ("\u{85}", "\u{fffd}"),
            ("a\u{202e}b\u{2066}c\u{200f}d", "a<U+202E>b<U+2066>cd"),
            ("\u{1b}", ""),
            ("\u{1b}[", ""),
            ("\u{1b}[31", ""),
            ("\u{1b}é", "é"),
            ("👩\u{200d}🔬 naïve 漢字", "👩\u{200d}🔬 naïve 漢字"),
        ];
        for (dirty, clean) in cases {
            assert_eq!(text(dirty), clean, "{dirty:?}");
        }
        assert_eq!(line("  two\n\twords\u{1b}[K "), "two words");
    }

    #[test]
    fn the_guard_lets_only_colours_pass() {
        assert_eq!(guard("\u{1b}[1;32mok\u{1b}[0m"), "\u{1b}[1;32mok\u{1b}[0m");
        assert_eq!(guard("\u{1b}[2Jx\u{1b}]0;t\u{7}"), "[2Jx]0;t␇");
        assert_eq!(guard("\u{1b}[38;2;1;2;3mx\u{9b}"), "\u{1b}[38;2;1;2;3mx\u{fffd}");
    }

    #[test]
    fn cleaning_twice_changes_nothing() {
        for code in (0..0x300).chain(0x2000..0x2100).chain(0xfe00..0x10000).chain(0xe0000..0xe0100) {
            let Some(c) = char::from_u32(code) else { continue };
            for dirty in [format!("a{c}b"), format!("\u{1b}{c}b"), format!("\u{1b}[{c}b"), format!("{c}{c}m")]
            {
                let once = text(&dirty).into_owned();
                assert_eq!(text(&once), once, "{dirty:?}");
                assert_eq!(guard(&once), once, "{dirty:?}");
            }
        }
    }
}
