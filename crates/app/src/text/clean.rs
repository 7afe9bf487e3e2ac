//! Sanitizes session text for a terminal: keeps the text, removes control sequences.
//!
//! Session text is untrusted. [`text()`] cleans many lines, [`line()`] cleans one. [`filter_output`] is the last filter
//! before the terminal and allows only the colours of rethread.

use std::borrow::Cow;

const ESC: char = '\u{1b}';

/// Removes control sequences from text and makes control characters visible. Keeps line feeds and tabs.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    if text.bytes().all(is_safe) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let len = match sequence_len(rest) {
            0 if c == '\r' && rest[1..].starts_with('\n') => 1,
            0 => {
                push_clean(&mut clean, c);
                c.len_utf8()
            }
            len => len,
        };
        rest = &rest[len..];
    }
    Cow::Owned(clean)
}

/// Cleans text and puts it on one line. Collapses white space into single spaces and removes it at the ends.
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

/// The maximum number of bytes that [`line_start`] cleans: more than a terminal or a page shows on a line.
const MAX_START_BYTES: usize = 16 << 10;

/// Cleans the start of a text and puts it on one line, like [`line()`]. Use it for labels, which are truncated later.
pub(crate) fn line_start(text: &str) -> String {
    line(start(text))
}

/// Returns at most 16 kB from the start of a text, without white space before it.
pub(crate) fn start(text: &str) -> &str {
    let text = text.trim_start();
    &text[..text.floor_char_boundary(MAX_START_BYTES)]
}

/// Cleans rendered output and keeps its colour sequences. All other sequences lose their escape character and become
/// visible text.
pub(crate) fn filter_output(output: &str) -> Cow<'_, str> {
    if output.bytes().all(is_safe) {
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
                push_clean(&mut safe, c);
                c.len_utf8()
            }
        };
        rest = &rest[len..];
    }
    Cow::Owned(safe)
}

/// Returns `true` if a byte is printable ASCII, a line feed or a tab.
fn is_safe(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\n' | b'\t')
}

/// Appends a character unchanged or made visible, or omits it.
fn push_clean(clean: &mut String, c: char) {
    match c {
        '\n' | '\t' => clean.push(c),
        // A bare carriage return would overwrite the line. A progress bar becomes lines.
        '\r' | '\u{2028}' | '\u{2029}' => clean.push('\n'),
        '\0'..='\u{1f}' => clean.push(char::from_u32(0x2400 + c as u32).unwrap_or('?')),
        '\u{7f}' => clean.push('\u{2421}'),
        '\u{80}'..='\u{9f}' => clean.push(char::REPLACEMENT_CHARACTER),
        // Bidirectional overrides are shown by name, because they can disguise text.
        _ if is_bidi_override(c) => clean.push_str(&format!("<U+{:04X}>", c as u32)),
        _ if is_invisible(c) => {}
        _ => clean.push(c),
    }
}

/// Returns `true` if [`text()`] removes or replaces a character: it could change or hide the text around it.
pub(crate) fn is_hostile(c: char) -> bool {
    let is_separator = matches!(c, '\u{2028}' | '\u{2029}');
    (c.is_control() && c != '\n' && c != '\t') || is_separator || is_bidi_override(c) || is_invisible(c)
}

/// Returns `true` for embeddings, overrides and isolates, which change the direction of the text after them.
fn is_bidi_override(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns `true` for bidirectional marks, zero-width characters, annotations and tags. Joiners are kept: emoji and
/// some scripts need them.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}')
        || matches!(c, '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}')
        || matches!(c, '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns the length in bytes of the control sequence at the start of `text`, or 0 if there is none.
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

/// Returns the length of the escape sequence at the start of `text`.
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

/// Returns the length of the parameters and the final byte of a control sequence, up to the first invalid character.
fn csi_len(text: &str) -> usize {
    let parameters_len = text.bytes().take_while(|b| (0x20..=0x3f).contains(b)).count();
    parameters_len
        + usize::from(text.as_bytes().get(parameters_len).is_some_and(|b| (0x40..=0x7e).contains(b)))
}

/// Returns the length of a control string with its terminator. An unterminated string ends with its line.
fn string_len(text: &str) -> usize {
    for (pos, c) in text.char_indices() {
        match c {
            '\u{7}' | '\u{9c}' => return pos + c.len_utf8(),
            ESC if text[pos + 1..].starts_with('\\') => return pos + 2,
            ESC | '\n' => return pos,
            _ => {}
        }
    }
    text.len()
}

/// Returns the length in bytes of the colour sequence (SGR) at the start of `text`, or 0 if there is none.
fn color_len(text: &str) -> usize {
    let Some(body) = text.strip_prefix("\u{1b}[") else {
        return 0;
    };
    let numbers_len = body.bytes().take_while(|b| b.is_ascii_digit() || *b == b';').count();
    if body.as_bytes().get(numbers_len) == Some(&b'm') { 2 + numbers_len + 1 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::{filter_output, is_hostile, line, text};

    #[test]
    fn control_sequences_are_removed_completely() {
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
    fn filtered_output_has_no_sequences_except_colours() {
        assert_eq!(filter_output("\u{1b}[1;32mok\u{1b}[0m"), "\u{1b}[1;32mok\u{1b}[0m");
        assert_eq!(filter_output("\u{1b}[2Jx\u{1b}]0;t\u{7}"), "[2Jx]0;t␇");
        assert_eq!(filter_output("\u{1b}[38;2;1;2;3mx\u{9b}"), "\u{1b}[38;2;1;2;3mx\u{fffd}");
    }

    #[test]
    fn exactly_the_hostile_characters_are_changed() {
        for c in '\0'..=char::MAX {
            let dirty = c.to_string();
            assert_eq!(filter_output(&dirty) != dirty.as_str(), is_hostile(c), "{c:?}");
        }
        for c in "\u{85}\u{61c}\u{200b}\u{202e}\u{2060}\u{2069}\u{206a}\u{feff}\u{e0041}\u{e0100}".chars() {
            assert!(is_hostile(c), "{c:?}");
        }
    }

    #[test]
    fn cleaning_is_idempotent() {
        for code in (0..0x300).chain(0x2000..0x2100).chain(0xfe00..0x10000).chain(0xe0000..0xe0100) {
            let Some(c) = char::from_u32(code) else { continue };
            for dirty in [format!("a{c}b"), format!("\u{1b}{c}b"), format!("\u{1b}[{c}b"), format!("{c}{c}m")]
            {
                let once = text(&dirty).into_owned();
                assert_eq!(text(&once), once, "{dirty:?}");
                assert_eq!(filter_output(&once), once, "{dirty:?}");
            }
        }
    }
}
