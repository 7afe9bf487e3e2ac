//! Checks rendered markup: only allowed tags and attributes, properly nested, and no unescaped text.

/// The allowed tags with their attributes.
const TAGS: &[(&str, &[&str])] = &[
    ("a", &["href", "rel", "target"]),
    ("article", &["class"]),
    ("b", &[]),
    ("blockquote", &[]),
    ("button", &["aria-label", "class", "data-command", "type"]),
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
    ("div", &["class", "data-call", "data-result-file", "data-lang"]),
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

/// Checks markup and returns its text as a browser would show it. Panics if the markup is not allowed.
pub(crate) fn check_markup(markup: &str) -> String {
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
            assert_eq!(open.pop(), Some(name), "tags are nested properly");
            continue;
        }
        let name = tag.split(' ').next().expect("a first part");
        let (_, attributes) =
            TAGS.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("<{tag}> is not allowed"));
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
    assert!(deepest < 80, "the markup has {deepest} levels");
    assert!(
        !markup.contains(|c: char| c.is_control() && c != '\n' && c != '\t'),
        "control characters are removed"
    );
    assert!(!markup.contains(['\u{202e}', '\u{2066}', '\u{200f}']), "direction overrides are removed");
    text
}

/// Checks that markup grows no faster than its text. Renders `text(len)` and `text(4 * len)` and compares the sizes.
pub(crate) fn check_linear_growth(
    text: impl Fn(usize) -> String,
    render: impl Fn(&str) -> String,
    len: usize,
) {
    let [short, long] = [len, 4 * len].map(|len| {
        let rendered = render(&text(len));
        check_markup(&rendered);
        rendered.len()
    });
    assert!(long <= 5 * short + 4000, "{short} bytes became {long}: {:?}", text(len.min(40)));
}

/// Panics if an attribute of a tag is not in `known` or its value is not allowed.
fn check_attributes(mut rest: &str, known: &[&str]) {
    while !rest.is_empty() {
        let (name, value) = rest.strip_prefix(' ').expect("a space").split_once("=\"").expect("a value");
        let (value, after) = value.split_once('"').expect("a closed value");
        assert!(known.contains(&name), "{name} is not an allowed attribute");
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

/// Appends text with its five entities resolved. Panics at any other `&`, which was not escaped.
fn unescape(text: &str, out: &mut String) {
    assert!(!text.contains(['>', '"']), "special characters are escaped: {text:?}");
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        let entities = [("&amp;", '&'), ("&lt;", '<'), ("&gt;", '>'), ("&quot;", '"'), ("&#39;", '\'')];
        let (entity, c) =
            entities.iter().find(|(entity, _)| rest[at..].starts_with(entity)).expect("a known entity");
        out.push(*c);
        rest = &rest[at + entity.len()..];
    }
    out.push_str(rest);
}
