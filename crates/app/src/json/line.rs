//! Writes JSON that is safe to print on a terminal: escapes control characters that JSON allows.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::Formatter;

use crate::text::clean;

/// A serde formatter for compact JSON. Escapes DEL, C1 controls, line separators, bidirectional controls, zero-width
/// characters and tags.
struct EscapingFormatter;

impl Formatter for EscapingFormatter {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        escape(writer, fragment)
    }

    // In a raw value, these characters occur only inside strings, where the escape has the same meaning.
    fn write_raw_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        escape(writer, fragment)
    }
}

/// Serializes an object as one line of JSON, including the newline. Control characters are escaped.
pub(crate) fn serialize_line(object: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    write_line(&mut line, object)?;
    Ok(line)
}

/// Writes an object like [`serialize_line`], without a copy of the line in memory.
pub(crate) fn write_line(writer: &mut (impl Write + ?Sized), object: &impl Serialize) -> io::Result<()> {
    object.serialize(&mut serde_json::Serializer::with_formatter(&mut *writer, EscapingFormatter))?;
    writer.write_all(b"\n")
}

/// Writes `fragment` with every character that changes or hides text replaced by `\uXXXX`, or by two of them.
fn escape<W: ?Sized + Write>(writer: &mut W, fragment: &str) -> io::Result<()> {
    let mut rest = fragment;
    while let Some(at) = rest.find(must_escape) {
        writer.write_all(&rest.as_bytes()[..at])?;
        let c = rest[at..].chars().next().unwrap_or(' ');
        for unit in c.encode_utf16(&mut [0; 2]) {
            write!(writer, "\\u{unit:04x}")?;
        }
        rest = &rest[at + c.len_utf8()..];
    }
    writer.write_all(rest.as_bytes())
}

/// Returns `true` if a character must be escaped. C0 controls are not included: serde escapes them in strings, and a raw
/// value may contain them between its tokens.
fn must_escape(c: char) -> bool {
    let is_joiner = matches!(c, '\u{200c}' | '\u{200d}');
    c >= '\u{7f}' && (is_joiner || clean::is_hostile(c))
}

#[cfg(test)]
mod tests {
    #[test]
    fn escaped_characters_round_trip() {
        let text = "a\u{9b}b\u{202e}c\u{7f}d\u{1b}e漢";
        let json = String::from_utf8(super::serialize_line(&text).unwrap()).unwrap();
        let json = json.trim_end();
        assert_eq!(json, "\"a\\u009bb\\u202ec\\u007fd\\u001be漢\"");
        assert_eq!(serde_json::from_str::<String>(json).unwrap(), text);
    }

    #[test]
    fn every_character_round_trips_and_no_hostile_one_is_printed() {
        let text: String = ('\0'..=char::MAX).collect();
        let raw = serde_json::value::RawValue::from_string(serde_json::to_string(&text).unwrap()).unwrap();
        for line in [super::serialize_line(&text).unwrap(), super::serialize_line(&raw).unwrap()] {
            let json = String::from_utf8(line).unwrap();
            assert!(!json.trim_end().contains(crate::text::clean::is_hostile));
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
    }
}
