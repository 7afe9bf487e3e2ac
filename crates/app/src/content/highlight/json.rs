//! Pretty-prints JSON without parsing values: numbers and strings stay as they are written.

use serde::de::IgnoredAny;

/// Maximum nesting depth that is indented. Deeper values stay on one line.
const MAX_DEPTH: usize = 20;

/// Maximum length in bytes of JSON that is pretty-printed. Longer JSON is shown as it is written.
const MAX_BYTES: usize = 1024 * 1024;

/// Puts every element of JSON on its own line. Returns `None` if the text is longer than [`MAX_BYTES`] or not JSON.
pub(crate) fn pretty_print(text: &str) -> Option<String> {
    let is_json = text.len() <= MAX_BYTES && serde_json::from_str::<IgnoredAny>(text).is_ok();
    is_json.then(|| indent(text))
}

/// Puts every element of valid JSON on its own line.
fn indent(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut depth = 0usize;
    let mut from = 0;
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(from) {
        let mut end = from + 1;
        match byte {
            b'"' => {
                end = find_string_end(bytes, end);
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
                    push_new_line(&mut out, depth);
                }
            }
            b'}' | b']' => {
                // A level that was not indented when it opened is not indented when it closes.
                if depth <= MAX_DEPTH {
                    push_new_line(&mut out, depth.saturating_sub(1));
                }
                depth = depth.saturating_sub(1);
                out.push(char::from(*byte));
            }
            b',' => {
                out.push(',');
                if depth > MAX_DEPTH { out.push(' ') } else { push_new_line(&mut out, depth) }
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

/// Appends a line break and the indentation of a level. Appends nothing for levels deeper than [`MAX_DEPTH`].
fn push_new_line(out: &mut String, depth: usize) {
    if depth <= MAX_DEPTH {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    }
}

/// Returns the offset after the string whose content starts at `at`, or the length of `bytes` if it is not closed.
fn find_string_end(bytes: &[u8], mut at: usize) -> usize {
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
    use super::{indent, pretty_print};

    #[test]
    fn values_are_preserved_by_pretty_printing() {
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
        for (text, pretty) in cases {
            assert_eq!(pretty_print(text).as_deref(), Some(pretty), "{text}");
            assert_eq!(indent(pretty), pretty, "a second time: {text}");
        }
    }

    #[test]
    fn output_size_is_linear_for_deep_nesting() {
        let deep = format!("{}1,2{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(indent(&deep).len() < deep.len() + 2000);
    }

    #[test]
    fn invalid_json_is_refused() {
        assert_eq!(pretty_print("{a,b"), None);
    }
}
