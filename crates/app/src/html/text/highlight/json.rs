//! JSON, laid out without being understood: numbers and strings stay as they were written.

use maud::Markup;
use serde::de::IgnoredAny;

use super::{Language, code};

/// What lies deeper stays on its line.
const DEEPEST: usize = 20;

/// What is longer stays as it is.
const LONGEST: usize = 1024 * 1024;

/// Draws JSON, laid out; what is none is drawn as it is.
pub(crate) fn json(text: &str) -> Markup {
    let laid_out = text.len() <= LONGEST && serde_json::from_str::<IgnoredAny>(text).is_ok();
    if laid_out {
        code(&lay_out(text), Some(Language::Json), None)
    } else {
        code(text, Some(Language::Json), None)
    }
}

/// Puts every element of valid JSON on a line of its own.
fn lay_out(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut depth = 0usize;
    let mut from = 0;
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(from) {
        let mut end = from + 1;
        match byte {
            b'"' => {
                end = string_end(bytes, end);
                out.push_str(text.get(from..end).unwrap_or_default());
            }
            b'{' | b'[' => {
                let inner = end + bytes[end..].iter().take_while(|b| b.is_ascii_whitespace()).count();
                out.push(char::from(*byte));
                if let Some(close @ (b'}' | b']')) = bytes.get(inner) {
                    out.push(char::from(*close));
                    end = inner + 1;
                } else {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            b'}' | b']' => {
                // A level that was not broken when it opened is not broken when it closes.
                if depth <= DEEPEST {
                    new_line(&mut out, depth.saturating_sub(1));
                }
                depth = depth.saturating_sub(1);
                out.push(char::from(*byte));
            }
            b',' => {
                out.push(',');
                if depth > DEEPEST { out.push(' ') } else { new_line(&mut out, depth) }
            }
            b':' => out.push_str(": "),
            b' ' | b'\t' | b'\n' | b'\r' => {}
            _ => {
                end =
                    from + bytes[from..].iter().take_while(|b| !b" \t\r\n,:]}\"".contains(b)).count().max(1);
                out.push_str(text.get(from..end).unwrap_or_default());
            }
        }
        from = end;
    }
    out
}

fn new_line(out: &mut String, depth: usize) {
    if depth <= DEEPEST {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    }
}

/// Returns where the string ends whose text begins at `at`.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::{json, lay_out};

    #[test]
    fn json_is_laid_out_as_it_was_written() {
        let cases = [
            ("{}", "{}"),
            ("[ ]", "[]"),
            ("1.00000000000000000001e+05", "1.00000000000000000001e+05"),
            (r#"{"a":1,"b":[true,null]}"#, "{\n  \"a\": 1,\n  \"b\": [\n    true,\n    null\n  ]\n}"),
            (r#"{"a":"x\n\"{[,:"}"#, "{\n  \"a\": \"x\\n\\\"{[,:\"\n}"),
            (" { \"a\" : { } } ", "{\n  \"a\": {}\n}"),
            (
                r#"["漢<",123456789012345678901234567890]"#,
                "[\n  \"漢<\",\n  123456789012345678901234567890\n]",
            ),
        ];
        for (text, laid_out) in cases {
            assert_eq!(lay_out(text), laid_out, "{text}");
            assert_eq!(lay_out(laid_out), laid_out, "a second time: {text}");
        }
    }

    #[test]
    fn depth_costs_no_more_than_length() {
        let deep = format!("{}1,2{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(lay_out(&deep).len() < deep.len() + 2000);
        let drawn = json(&deep).into_string();
        assert!(drawn.contains("[[[") && drawn.contains("]]]"));
    }

    #[test]
    fn what_is_no_json_stays() {
        assert_eq!(json("{a,b").into_string(), "<pre class=\"code\"><code>{a,b</code></pre>");
    }
}
