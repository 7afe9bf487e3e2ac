//! Restores the quotes that a shell removed from a query.

use super::field::Field;
use super::parser::{is_quote, parse_pattern_body};

/// Joins shell arguments into one query.
///
/// A single argument is a query. A shell removes quotes. If there are several arguments, one that contains
/// spaces was a quoted phrase or a quoted field value: `role:user "off by one"` keeps its meaning.
pub fn join_shell_args(arguments: &[String]) -> String {
    match arguments {
        [query] => query.clone(),
        several => several.iter().map(|argument| requote_arg(argument)).collect::<Vec<_>>().join(" "),
    }
}

/// Adds quotes around an argument, or around the value of its field, if it contains spaces.
///
/// Returns it unchanged if it has no spaces, contains quotes or is a `/pattern/`.
fn requote_arg(argument: &str) -> String {
    if !argument.contains(char::is_whitespace) || argument.contains(is_quote) {
        return argument.to_owned();
    }
    let (minus, rest) = match argument.strip_prefix('-') {
        Some(rest) if !rest.starts_with('-') => ("-", rest),
        _ => ("", argument),
    };
    if parse_pattern_body(rest).is_some_and(|pattern| pattern.len() + 2 == rest.len()) {
        return argument.to_owned();
    }
    let (name, value) = match Field::parse_prefix(rest) {
        Some((_, name)) => rest.split_at(name.len() + 1),
        None => ("", rest),
    };
    // `error: not found` begins like a field, but a space never precedes a value.
    if value.starts_with(char::is_whitespace) {
        return format!("{minus}\"{rest}\"");
    }
    format!("{minus}{name}\"{value}\"")
}

#[cfg(test)]
mod tests {
    use super::join_shell_args;

    #[test]
    fn shell_arguments_are_requoted() {
        let cases: &[(&[&str], &str)] = &[
            (&["a b"], "a b"),
            (&["\"a b\" c"], "\"a b\" c"),
            (&["a", "b"], "a b"),
            (&["role:user", "off by one"], "role:user \"off by one\""),
            (&["x", "-off by one"], "x -\"off by one\""),
            (&["x", "--off by one"], "x \"--off by one\""),
            (&["x", "project:my dir"], "x project:\"my dir\""),
            (&["x", "-project:my dir"], "x -project:\"my dir\""),
            (&["x", "error: not found"], "x \"error: not found\""),
            (&["x", "std::fs or so"], "x \"std::fs or so\""),
            (&["x", "/a .* b/"], "x /a .* b/"),
            (&["x", "/a b/"], "x \"/a b/\""),
            (&["x", "say \"a b\""], "x say \"a b\""),
            (&["a", "OR", "b"], "a OR b"),
            (&["a", ""], "a "),
            (&[], ""),
        ];
        for (arguments, query) in cases {
            let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
            assert_eq!(join_shell_args(&arguments), *query);
        }
    }
}
