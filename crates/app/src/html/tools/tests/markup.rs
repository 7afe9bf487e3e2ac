//! Reads drawn markup again, the way a browser would, to see that only our own elements are in it.

const TAGS: &[&str] = &[
    "a",
    "article",
    "b",
    "blockquote",
    "br",
    "button",
    "code",
    "dd",
    "del",
    "details",
    "div",
    "dl",
    "dt",
    "em",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "i",
    "img",
    "input",
    "ins",
    "li",
    "mark",
    "ol",
    "p",
    "pre",
    "s",
    "span",
    "strong",
    "summary",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
];
const VOID: &[&str] = &["br", "hr", "img", "input"];
const ATTRIBUTES: &[&str] = &[
    "alt",
    "aria-hidden",
    "aria-label",
    "checked",
    "class",
    "data-call",
    "data-do",
    "data-kept",
    "data-lang",
    "data-n",
    "data-o",
    "disabled",
    "href",
    "loading",
    "rel",
    "role",
    "scope",
    "src",
    "start",
    "tabindex",
    "target",
    "type",
];

/// Checks that every tag and attribute is one of ours, that elements close in order and that links lead to the web.
pub(super) fn check(markup: &str) {
    let mut open = Vec::new();
    let mut rest = markup;
    while let Some(at) = rest.find('<') {
        let end = rest[at..].find('>').map(|len| at + len).expect("a tag that ends");
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closes in order");
            continue;
        }
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(TAGS.contains(&name), "<{tag}>");
        attributes_of(attributes, tag);
        if !VOID.contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?} not closed");
}

fn attributes_of(mut rest: &str, tag: &str) {
    while !rest.trim().is_empty() {
        rest = rest.trim_start();
        let end = rest.find(['=', ' ']).unwrap_or(rest.len());
        let name = &rest[..end];
        assert!(ATTRIBUTES.contains(&name), "<{tag}>");
        rest = &rest[end..];
        let Some(value) = rest.strip_prefix("=\"") else { continue };
        let close = value.find('"').expect("a value that ends");
        if name == "href" {
            let is_web = ["http://", "https://", "mailto:"].iter().any(|scheme| value.starts_with(scheme));
            assert!(is_web, "<{tag}>");
        }
        rest = &value[close + 1..];
    }
}

/// Returns the words of markup, without tags.
pub(super) fn words(markup: &str) -> String {
    let mut words = String::new();
    let mut rest = markup;
    while let Some(at) = rest.find('<') {
        words.push_str(&rest[..at]);
        rest = rest[at..].split_once('>').map_or("", |(_, behind)| behind);
    }
    words.push_str(rest);
    words.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}
