//! Puts text into markup, so that it stays text.

/// Which bytes mean something.
const MEANS: [bool; 256] = {
    let mut means = [false; 256];
    let signs = *b"<>&\"'";
    let mut at = 0;
    while at < signs.len() {
        means[signs[at] as usize] = true;
        at += 1;
    }
    means
};

/// Appends text, with every character escaped that means something in markup or in an attribute.
pub(super) fn push(out: &mut String, text: &str) {
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        if !MEANS[usize::from(byte)] {
            continue;
        }
        let name = match byte {
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'&' => "&amp;",
            b'"' => "&quot;",
            _ => "&#39;",
        };
        out.push_str(text.get(from..at).unwrap_or_default());
        out.push_str(name);
        from = at + 1;
    }
    out.push_str(text.get(from..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::push;

    #[test]
    fn nothing_that_means_something_stays() {
        let cases = [
            ("", ""),
            ("a<b", "a&lt;b"),
            ("<script>&amp;\"'", "&lt;script&gt;&amp;amp;&quot;&#39;"),
            ("naïve — 漢<字", "naïve — 漢&lt;字"),
        ];
        for (text, markup) in cases {
            let mut out = String::new();
            push(&mut out, text);
            assert_eq!(out, markup);
        }
    }
}
