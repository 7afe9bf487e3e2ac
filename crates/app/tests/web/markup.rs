//! Whether markup is well formed: every element is closed, in order, and nothing inline runs or styles.

/// Elements that have no end.
const BARE: &[&str] = &["meta", "link", "input", "br", "img", "hr", "source", "wbr", "col"];

/// Checks a page or a piece of one; says what is wrong.
pub(crate) fn check(markup: &str) -> Result<(), String> {
    let mut open: Vec<String> = Vec::new();
    let mut rest = markup;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let near: String = rest.chars().take(80).collect();
        if rest.starts_with("!DOCTYPE") {
            continue;
        }
        let end = end_of(rest).ok_or_else(|| format!("an element without an end: {near}"))?;
        let inside = &rest[..end];
        rest = &rest[end + 1..];
        if let Some(name) = inside.strip_prefix('/') {
            let last = open.pop();
            if last.as_deref() != Some(name.trim()) {
                return Err(format!("`{name}` closes {last:?}: {near}"));
            }
            continue;
        }
        let name: String = inside.chars().take_while(char::is_ascii_alphanumeric).collect();
        if name.is_empty() {
            return Err(format!("a bare `<`: {near}"));
        }
        forbid(&name, inside)?;
        if !BARE.contains(&name.as_str()) {
            open.push(name);
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("never closed: {open:?}")) }
}

/// Finds the end of an element, which does not stand in a value.
fn end_of(inside: &str) -> Option<usize> {
    let mut quoted = false;
    for (at, byte) in inside.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b'>' if !quoted => return Some(at),
            b'<' if !quoted => return None,
            _ => {}
        }
    }
    None
}

/// The policy of our pages forbids what is inline; a browser would say so only where nobody looks.
fn forbid(name: &str, inside: &str) -> Result<(), String> {
    let outside_values: String = inside.split('"').step_by(2).collect();
    let attributes = outside_values.split_whitespace().skip(1);
    for attribute in attributes {
        let attribute = attribute.trim_end_matches('=').to_ascii_lowercase();
        if attribute == "style" || attribute.starts_with("on") {
            return Err(format!("`{attribute}` on `{name}`"));
        }
    }
    if name == "script" && !inside.contains("src=\"/assets/") || name == "style" {
        return Err(format!("inline `{name}`"));
    }
    Ok(())
}

#[test]
fn what_is_not_well_formed_is_found() {
    for good in [
        "",
        "<!DOCTYPE html><p>a<br>b</p>",
        "<a href=\"x>y\">&lt;</a>",
        "<input disabled><svg><rect x=\"1\"></rect></svg>",
    ] {
        assert_eq!(check(good), Ok(()), "{good}");
    }
    for bad in [
        "<p>",
        "<p></b>",
        "<p><b></p></b>",
        "a < b",
        "<p",
        "<p style=\"x\"></p>",
        "<p onclick=\"x\"></p>",
        "<script>x</script>",
        "<a <b></a>",
    ] {
        assert!(check(bad).is_err(), "{bad}");
    }
}
