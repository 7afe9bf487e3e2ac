//! What can be typed into a shell.

use super::clean;

/// Writes a word so that a shell takes it as one.
pub(crate) fn typed(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '~');
    let word = clean::line(word);
    if !word.is_empty() && word.chars().all(plain) {
        word
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::typed;

    #[test]
    fn a_name_is_quoted_where_a_shell_would_part_it() {
        let said = ["last", "3f2a", "fix the build", "it's", ""].map(typed);
        assert_eq!(said, ["last", "3f2a", "'fix the build'", "'it'\\''s'", "''"]);
    }
}
