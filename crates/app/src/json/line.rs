//! JSON that a terminal may see: control characters that JSON itself would let pass are escaped.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::Formatter;

/// Compact JSON in which DEL, C1 and the characters that change the reading order are escaped.
struct EscapingFormatter;

impl Formatter for EscapingFormatter {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        escape(writer, fragment)
    }

    // Raw values hold such characters only inside strings, where the escape means the same.
    fn write_raw_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        escape(writer, fragment)
    }
}

/// Writes an object on a line of its own.
pub(crate) fn line(object: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    object.serialize(&mut serde_json::Serializer::with_formatter(&mut line, EscapingFormatter))?;
    line.push(b'\n');
    Ok(line)
}

fn escape<W: ?Sized + Write>(writer: &mut W, fragment: &str) -> io::Result<()> {
    let odd = |c: char| matches!(c, '\u{7f}'..='\u{9f}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut rest = fragment;
    while let Some(at) = rest.find(odd) {
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
    fn odd_characters_are_escaped_and_mean_the_same() {
        let text = "a\u{9b}b\u{202e}c\u{7f}d\u{1b}e漢";
        let json = String::from_utf8(super::line(&text).unwrap()).unwrap();
        let json = json.trim_end();
        assert_eq!(json, "\"a\\u009bb\\u202ec\\u007fd\\u001be漢\"");
        assert_eq!(serde_json::from_str::<String>(json).unwrap(), text);
    }
}
