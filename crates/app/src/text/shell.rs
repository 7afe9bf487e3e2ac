//! Quotes words for a shell.

use std::fmt::Write;

use super::clean;

/// Quotes a word so that bash or zsh reads it unchanged. A word without special characters stays unquoted.
///
/// Invisible characters are written as octal escapes in `$'…'`, so that the result is safe to print.
pub(crate) fn quote(word: &str) -> String {
    let needs_no_quotes = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '~');
    if !word.is_empty() && word.chars().all(needs_no_quotes) && !word.starts_with('~') {
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

/// Returns `true` if a character can be shown in a command: cleaning keeps it, and it is not white space other than
/// a plain space.
fn is_visible(c: char) -> bool {
    c == ' ' || !c.is_whitespace() && clean::text(c.encode_utf8(&mut [0; 4])) == c.to_string()
}

#[cfg(test)]
mod tests {
    use super::quote;
    use crate::text::clean;

    #[test]
    fn words_are_quoted_if_a_shell_would_split_them() {
        let quoted = ["last", "3f2a", "fix the build", "it's", "", "~root", "a~b", "$(x) `y` \\"].map(quote);
        let expected =
            ["last", "3f2a", "'fix the build'", "'it'\\''s'", "''", "'~root'", "a~b", "'$(x) `y` \\'"];
        assert_eq!(quoted, expected);
    }

    #[test]
    fn a_shell_reads_quoted_words_unchanged() {
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
            let quoted = quote(word);
            assert_eq!(clean::text(&quoted), quoted, "the quoted word is clean");
            assert!(!quoted.contains('\n'), "{quoted}");
            let script = format!("printf %s {quoted}");
            let Ok(output) = std::process::Command::new("bash").args(["-c", &script]).output() else {
                return;
            };
            assert_eq!(String::from_utf8_lossy(&output.stdout), word, "{quoted}");
        }
    }
}
