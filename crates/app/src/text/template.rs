//! Texts with placeholders such as `{id}`, which the user writes.

/// A part of a template. `N` names the placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TemplatePart<N> {
    /// Text that is kept.
    Literal(String),
    /// A placeholder.
    Value(N),
}

/// Parses a template. `names` are the placeholders without braces; `{{` and `}}` are literal braces.
///
/// Returns an error message if a placeholder is unknown or not closed, or if the text has control characters.
pub(crate) fn parse_template<N: Copy>(
    text: &str,
    names: &[(&str, N)],
) -> Result<Vec<TemplatePart<N>>, String> {
    check_characters(text)?;
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if rest.starts_with("{{") || rest.starts_with("}}") {
            literal.push(c);
            rest = &rest[2..];
        } else if c == '{' {
            let end = rest.find('}').ok_or("a `{` is not closed; write `{{` for a brace")?;
            let name = &rest[1..end];
            let (_, value) = names
                .iter()
                .find(|(known, _)| *known == name)
                .ok_or_else(|| format!("unknown placeholder `{{{name}}}`; use {}", list_names(names)))?;
            if !literal.is_empty() {
                parts.push(TemplatePart::Literal(std::mem::take(&mut literal)));
            }
            parts.push(TemplatePart::Value(*value));
            rest = &rest[end + 1..];
        } else {
            literal.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    if !literal.is_empty() {
        parts.push(TemplatePart::Literal(literal));
    }
    Ok(parts)
}

/// Returns an error message if a text contains a control character, or one that is invisible or reorders text.
pub(crate) fn check_characters(text: &str) -> Result<(), String> {
    let is_forbidden = |c: char| c.is_control() || super::clean::is_hostile(c);
    match text.chars().find(|c| is_forbidden(*c)) {
        Some(c) => Err(format!("control and invisible characters are not allowed (U+{:04X})", c as u32)),
        None => Ok(()),
    }
}

fn list_names<N>(names: &[(&str, N)]) -> String {
    let names: Vec<String> = names.iter().map(|(name, _)| format!("{{{name}}}")).collect();
    names.join(" ")
}

#[cfg(test)]
mod tests {
    use super::{TemplatePart, parse_template};

    const NAMES: [(&str, u8); 2] = [("id", 1), ("folder", 2)];

    #[test]
    fn placeholders_and_braces_are_parsed() {
        let literal = |text: &str| TemplatePart::Literal(text.to_owned());
        let cases = [
            ("", vec![]),
            ("plain", vec![literal("plain")]),
            (
                "a {id}{folder} b",
                vec![literal("a "), TemplatePart::Value(1), TemplatePart::Value(2), literal(" b")],
            ),
            ("{{id}} }", vec![literal("{id} }")]),
        ];
        for (text, parts) in cases {
            assert_eq!(parse_template(text, &NAMES), Ok(parts), "{text}");
        }
    }

    #[test]
    fn invalid_templates_are_refused() {
        for (text, message) in [
            ("{ident}", "unknown placeholder `{ident}`; use {id} {folder}"),
            ("{}", "unknown placeholder `{}`"),
            ("a {id", "a `{` is not closed"),
            ("a\u{1b}[31m{id}", "control and invisible characters are not allowed (U+001B)"),
            ("a\n{id}", "(U+000A)"),
            ("a\u{202e}{id}", "(U+202E)"),
        ] {
            let error = parse_template(text, &NAMES).expect_err(text);
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
