//! Checks that markup is well formed: every element is closed in order, and there are no inline scripts or styles.

/// Elements without an end tag.
const VOID_ELEMENTS: &[&str] = &["meta", "link", "input", "br", "img", "hr", "source", "wbr", "col"];

/// Checks a page or a fragment. Returns `Err` with a description of the first defect.
pub(crate) fn check_markup(source: &str) -> Result<(), String> {
    let mut open_elements: Vec<String> = Vec::new();
    let mut rest = source;
    while let Some(idx) = rest.find('<') {
        rest = &rest[idx + 1..];
        let excerpt: String = rest.chars().take(80).collect();
        if rest.starts_with("!DOCTYPE") {
            continue;
        }
        let end = find_tag_end(rest).ok_or_else(|| format!("a tag without an end: {excerpt}"))?;
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            let innermost = open_elements.pop();
            if innermost.as_deref() != Some(name.trim()) {
                return Err(format!("`{name}` closes {innermost:?}: {excerpt}"));
            }
            continue;
        }
        let name: String = tag.chars().take_while(char::is_ascii_alphanumeric).collect();
        if name.is_empty() {
            return Err(format!("a bare `<`: {excerpt}"));
        }
        reject_inline_code(&name, tag)?;
        if !VOID_ELEMENTS.contains(&name.as_str()) {
            open_elements.push(name);
        }
    }
    if open_elements.is_empty() { Ok(()) } else { Err(format!("never closed: {open_elements:?}")) }
}

/// Returns the index of the `>` that ends a tag, ignoring quoted values.
fn find_tag_end(tag: &str) -> Option<usize> {
    let mut in_quotes = false;
    for (idx, byte) in tag.bytes().enumerate() {
        match byte {
            b'"' => in_quotes = !in_quotes,
            b'>' if !in_quotes => return Some(idx),
            b'<' if !in_quotes => return None,
            _ => {}
        }
    }
    None
}

/// Rejects inline scripts and styles, which the content security policy of our pages forbids.
fn reject_inline_code(name: &str, tag: &str) -> Result<(), String> {
    let outside_values: String = tag.split('"').step_by(2).collect();
    let attributes = outside_values.split_whitespace().skip(1);
    for attribute in attributes {
        let attribute = attribute.trim_end_matches('=').to_ascii_lowercase();
        if attribute == "style" || attribute.starts_with("on") {
            return Err(format!("`{attribute}` on `{name}`"));
        }
    }
    if name == "script" && !tag.contains("src=\"/assets/") || name == "style" {
        return Err(format!("inline `{name}`"));
    }
    Ok(())
}

#[test]
fn defects_are_found() {
    for markup in [
        "",
        "<!DOCTYPE html><p>a<br>b</p>",
        "<a href=\"x>y\">&lt;</a>",
        "<input disabled><svg><rect x=\"1\"></rect></svg>",
    ] {
        assert_eq!(check_markup(markup), Ok(()), "{markup}");
    }
    for markup in [
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
        assert!(check_markup(markup).is_err(), "{markup}");
    }
}
