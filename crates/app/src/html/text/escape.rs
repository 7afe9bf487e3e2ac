//! Escapes text for markup.

/// Marks the bytes that must be escaped.
const SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    let bytes = *b"<>&\"'";
    let mut at = 0;
    while at < bytes.len() {
        special[bytes[at] as usize] = true;
        at += 1;
    }
    special
};

/// Appends text with all characters escaped that are special in markup or in an attribute value.
pub(crate) fn push_escaped(out: &mut String, text: &str) {
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        if !SPECIAL[usize::from(byte)] {
            continue;
        }
        let entity = match byte {
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'&' => "&amp;",
            b'"' => "&quot;",
            _ => "&#39;",
        };
        out.push_str(text.get(from..at).unwrap_or_default());
        out.push_str(entity);
        from = at + 1;
    }
    out.push_str(text.get(from..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::push_escaped;

    #[test]
    fn special_characters_are_escaped() {
        let cases = [
            ("", ""),
            ("a<b", "a&lt;b"),
            ("<script>&amp;\"'", "&lt;script&gt;&amp;amp;&quot;&#39;"),
            ("naïve — 漢<字", "naïve — 漢&lt;字"),
        ];
        for (text, markup) in cases {
            let mut out = String::new();
            push_escaped(&mut out, text);
            assert_eq!(out, markup);
        }
    }
}
