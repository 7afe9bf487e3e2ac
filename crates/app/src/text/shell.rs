//! What can be typed into a shell.

use std::fmt::Write;

use super::clean;

/// Writes a word so that a shell takes it as one, and as it is: no character is changed or left out. What nobody could see or
/// type is written by its bytes, so what comes of it is clean.
pub(crate) fn typed(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '~');
    if !word.is_empty() && word.chars().all(plain) && !word.starts_with('~') {
        return word.to_owned();
    }
    if word.chars().all(is_visible) {
        return format!("'{}'", word.replace('\'', "'\\''"));
    }
    let mut quoted = String::from("$'");
    for c in word.chars() {
        match c {
            '\'' | '\\' => quoted.extend(['\\', c]),
            c if is_visible(c) => quoted.push(c),
            c => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    let _ = write!(quoted, "\\{byte:03o}");
                }
            }
        }
    }
    quoted.push('\'');
    quoted
}

/// Whether a character can stand in a command that is shown: what is cleaned away, breaks the line or looks like a space
/// cannot.
fn is_visible(c: char) -> bool {
    c == ' ' || !c.is_whitespace() && clean::text(c.encode_utf8(&mut [0; 4])) == c.to_string()
}

#[cfg(test)]
mod tests {
    use super::typed;
    use crate::text::clean;

    #[test]
    fn a_name_is_quoted_where_a_shell_would_part_it() {
        let said = ["last", "3f2a", "fix the build", "it's", "", "~root", "a~b", "$(x) `y` \\"].map(typed);
        let wanted =
            ["last", "3f2a", "'fix the build'", "'it'\\''s'", "''", "'~root'", "a~b", "'$(x) `y` \\'"];
        assert_eq!(said, wanted);
    }

    #[test]
    fn a_shell_reads_what_was_written() {
        let words = [
            "/home/u/my  docs",
            " ends with spaces  ",
            "tab\there",
            "two\nlines",
            "a\u{200b}b",
            "\u{202e}drawer",
            "esc\u{1b}[31m",
            "it's \\ \u{a0}x\u{7}7",
            "naïve 漢字 👩\u{200d}🔬",
            "\u{85}\u{feff}",
            "",
        ];
        for word in words {
            let quoted = typed(word);
            assert_eq!(clean::text(&quoted), quoted, "nothing is left to clean");
            assert!(!quoted.contains('\n'), "{quoted}");
            let script = format!("printf %s {quoted}");
            let Ok(said) = std::process::Command::new("bash").args(["-c", &script]).output() else { return };
            assert_eq!(String::from_utf8_lossy(&said.stdout), word, "{quoted}");
        }
    }
}
