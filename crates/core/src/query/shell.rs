//! Arguments as a shell hands them over → one line of the language.

use super::field::Field;
use super::parser::{is_quote, pattern_of};

/// Puts arguments together again.
///
/// One argument is a query. A shell takes quotes away, so of several arguments one with spaces in it was a phrase, or
/// the value of a field: `role:user "off by one"` means what it says.
pub fn join_shell_args(arguments: &[String]) -> String {
    match arguments {
        [one] => one.clone(),
        several => several.iter().map(|argument| requote(argument)).collect::<Vec<_>>().join(" "),
    }
}

fn requote(argument: &str) -> String {
    if !argument.contains(char::is_whitespace) || argument.contains(is_quote) {
        return argument.to_owned();
    }
    let (not, rest) = match argument.strip_prefix('-') {
        Some(rest) if !rest.starts_with('-') => ("-", rest),
        _ => ("", argument),
    };
    if pattern_of(rest).is_some_and(|pattern| pattern.len() + 2 == rest.len()) {
        return argument.to_owned();
    }
    let (name, value) = match Field::of(rest) {
        Some((_, name)) => rest.split_at(name.len() + 1),
        None => ("", rest),
    };
    // `error: not found` begins like a field, but nobody puts a space before a value.
    if value.starts_with(char::is_whitespace) {
        return format!("{not}\"{rest}\"");
    }
    format!("{not}{name}\"{value}\"")
}

#[cfg(test)]
mod tests {
    use super::join_shell_args;

    #[test]
    fn what_a_shell_took_apart_is_put_together() {
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
        for (arguments, line) in cases {
            let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
            assert_eq!(join_shell_args(&arguments), *line);
        }
    }
}
