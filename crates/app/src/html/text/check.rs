//! Reads our own markup again: only known tags with known attributes, each closed in its order, and no sign of the text unescaped.

/// Tags that may occur, with their attributes.
const TAGS: &[(&str, &[&str])] = &[
    ("a", &["href", "rel", "target"]),
    ("blockquote", &[]),
    ("br", &[]),
    ("code", &[]),
    ("del", &[]),
    ("div", &["class", "data-lang"]),
    ("em", &[]),
    ("h3", &[]),
    ("h4", &[]),
    ("h5", &[]),
    ("h6", &[]),
    ("hr", &[]),
    ("li", &[]),
    ("ol", &["start"]),
    ("p", &["class"]),
    ("pre", &["class"]),
    ("span", &["class", "data-n", "data-o"]),
    ("strong", &[]),
    ("table", &[]),
    ("tbody", &[]),
    ("td", &["class"]),
    ("th", &["class"]),
    ("thead", &[]),
    ("tr", &[]),
    ("ul", &[]),
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
            "hr" => {}
            _ => open.push(name),
        }
        deepest = deepest.max(open.len());
    }
    unescape(rest, &mut text);
    assert!(open.is_empty(), "every tag is closed: {open:?}");
    assert!(deepest < 80, "no browser is asked for {deepest} levels");
    assert!(!text.contains(|c: char| c.is_control() && c != '\n' && c != '\t'), "no control character stays");
    assert!(!text.contains(['\u{202e}', '\u{2066}', '\u{200f}']), "no override stays");
    text
}

fn check_attributes(mut rest: &str, known: &[&str]) {
    while !rest.is_empty() {
        let (name, value) = rest.strip_prefix(' ').expect("a space").split_once("=\"").expect("a value");
        let (value, after) = value.split_once('"').expect("a closed value");
        assert!(known.contains(&name), "{name} is not an attribute of ours");
        assert!(!value.contains(['<', '>', '\'', '\n']), "{value:?} is escaped");
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
    assert!(!text.contains(['>', '"', '\'']), "signs are escaped: {text:?}");
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
