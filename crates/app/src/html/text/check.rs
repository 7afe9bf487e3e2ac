//! Reads our own markup again: only known tags with known attributes, each closed in its order, and no sign of the text unescaped.

/// Tags that may occur, with their attributes.
const TAGS: &[(&str, &[&str])] = &[
    ("a", &["href", "rel", "target"]),
    ("article", &["class"]),
    ("b", &[]),
    ("blockquote", &[]),
    ("button", &["aria-label", "class", "data-do", "type"]),
    ("dd", &[]),
    ("details", &["class"]),
    ("dl", &["class"]),
    ("dt", &[]),
    ("img", &["alt", "class", "loading", "src"]),
    ("mark", &[]),
    ("summary", &[]),
    ("br", &[]),
    ("code", &[]),
    ("del", &[]),
    ("div", &["class", "data-call", "data-kept", "data-lang"]),
    ("em", &[]),
    ("h3", &[]),
    ("h4", &[]),
    ("h5", &[]),
    ("h6", &[]),
    ("hr", &[]),
    ("li", &["class"]),
    ("ol", &["start"]),
    ("p", &["class"]),
    ("pre", &["class"]),
    ("span", &["aria-hidden", "aria-label", "class", "data-n", "data-o", "role"]),
    ("strong", &[]),
    ("table", &[]),
    ("tbody", &[]),
    ("td", &["class"]),
    ("th", &["class"]),
    ("thead", &[]),
    ("tr", &[]),
    ("ul", &["class"]),
];

/// Checks markup and returns the text in it, as a browser would show it.
pub(crate) fn markup(markup: &str) -> String {
    let mut text = String::new();
    let mut open = Vec::new();
    let mut deepest = 0;
    let mut rest = markup;
    while let Some(at) = rest.find('<') {
        unescape(&rest[..at], &mut text);
        let end = rest[at..].find('>').expect("a tag ends") + at;
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "tags close in their order");
            continue;
        }
        let name = tag.split(' ').next().expect("a first part");
        let (_, attributes) =
            TAGS.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("<{tag}> is not ours"));
        check_attributes(&tag[name.len()..], attributes);
        match name {
            "br" => text.push('\n'),
            "hr" | "img" => {}
            _ => open.push(name),
        }
        deepest = deepest.max(open.len());
    }
    unescape(rest, &mut text);
    assert!(open.is_empty(), "every tag is closed: {open:?}");
    assert!(deepest < 80, "no browser is asked for {deepest} levels");
    assert!(
        !markup.contains(|c: char| c.is_control() && c != '\n' && c != '\t'),
        "no control character stays"
    );
    assert!(!markup.contains(['\u{202e}', '\u{2066}', '\u{200f}']), "no override stays");
    text
}

/// Checks markup of a text, and of one four times as long: it may not grow faster than its text.
pub(crate) fn grows_evenly(text: impl Fn(usize) -> String, draw: impl Fn(&str) -> String, len: usize) {
    let [short, long] = [len, 4 * len].map(|len| {
        let drawn = draw(&text(len));
        markup(&drawn);
        drawn.len()
    });
    assert!(long <= 5 * short + 4000, "{short} bytes became {long}: {:?}", text(len.min(40)));
}

fn check_attributes(mut rest: &str, known: &[&str]) {
    while !rest.is_empty() {
        let (name, value) = rest.strip_prefix(' ').expect("a space").split_once("=\"").expect("a value");
        let (value, after) = value.split_once('"').expect("a closed value");
        assert!(known.contains(&name), "{name} is not an attribute of ours");
        assert!(!value.contains(['<', '>', '\n']), "{value:?} is escaped");
        match name {
            "href" => {
                assert!(["http://", "https://", "mailto:"].iter().any(|s| value.starts_with(s)), "{value}");
            }
            "rel" => assert_eq!(value, "noopener noreferrer"),
            "target" => assert_eq!(value, "_blank"),
            "class" => {
                assert!(
                    value.bytes().all(|b| b.is_ascii_alphanumeric() || b == b' ' || b == b'-'),
                    "{value}"
                );
            }
            "start" | "data-n" | "data-o" => assert!(value.bytes().all(|b| b.is_ascii_digit()), "{value}"),
            _ => {}
        }
        rest = after;
    }
}

/// Reads the five names of signs; any other `&` is one that was not escaped.
fn unescape(text: &str, out: &mut String) {
    assert!(!text.contains(['>', '"']), "signs are escaped: {text:?}");
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        let names = [("&amp;", '&'), ("&lt;", '<'), ("&gt;", '>'), ("&quot;", '"'), ("&#39;", '\'')];
        let (name, sign) = names.iter().find(|(name, _)| rest[at..].starts_with(name)).expect("a known name");
        out.push(*sign);
        rest = &rest[at + name.len()..];
    }
    out.push_str(rest);
}
