//! Writes JSON that is safe to print on a terminal: escapes control characters that JSON allows.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::Formatter;

/// A serde formatter for compact JSON. Escapes DEL, C1 controls, line separators and bidirectional controls.
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
    object.serialize(&mut serde_json::Serializer::with_formatter(&mut line, EscapingFormatter))?;
    line.push(b'\n');
    Ok(line)
}

/// Writes `fragment` with every character that a terminal may interpret replaced by `\uXXXX`.
fn escape<W: ?Sized + Write>(writer: &mut W, fragment: &str) -> io::Result<()> {
    let must_escape = |c: char| matches!(c, '\u{7f}'..='\u{9f}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut rest = fragment;
    while let Some(at) = rest.find(must_escape) {
        writer.write_all(&rest.as_bytes()[..at])?;
        let c = rest[at..].chars().next().unwrap_or(' ');
        write!(writer, "\\u{:04x}", c as u32)?;
        rest = &rest[at + c.len_utf8()..];
    }
    writer.write_all(rest.as_bytes())
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
}
