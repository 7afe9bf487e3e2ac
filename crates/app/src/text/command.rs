//! Builds the commands of rethread that are suggested to the user.
//!
//! Every suggested command repeats the global options that select the sessions, so that it can be pasted as it is.

use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use super::shell::quote;

/// The words after `rethread` in every suggested command. Process-wide, because errors and pages without a context suggest
/// commands too.
static GLOBAL_WORDS: RwLock<Vec<String>> = RwLock::new(Vec::new());

/// Sets the options that every suggested command repeats: `--config`, and `--demo`, or `--root` with each of `roots`.
pub(crate) fn set_global_options(roots: &[PathBuf], config: Option<&Path>, is_demo: bool) {
    let config = config.into_iter().flat_map(|file| ["--config".to_owned(), file.display().to_string()]);
    let words: Vec<String> = match is_demo {
        true => vec!["--demo".to_owned()],
        false => roots.iter().flat_map(|root| ["--root".to_owned(), root.display().to_string()]).collect(),
    };
    *GLOBAL_WORDS.write().unwrap_or_else(PoisonError::into_inner) = config.chain(words).collect();
}

/// Returns the global options in force, with absolute paths.
pub(crate) fn list_global_words() -> Vec<String> {
    let words = GLOBAL_WORDS.read().unwrap_or_else(PoisonError::into_inner).clone();
    // A path follows each option but `--demo`.
    let is_path = |word: &String| !word.starts_with("--");
    let to_absolute = |word: String| match std::path::absolute(&word) {
        Ok(path) if is_path(&word) => path.display().to_string(),
        _ => word,
    };
    words.into_iter().map(to_absolute).collect()
}

/// Builds a command of rethread with the global options in force. Each word is quoted for a shell.
pub(crate) fn build_command(words: &[&str]) -> String {
    let global = GLOBAL_WORDS.read().unwrap_or_else(PoisonError::into_inner);
    join_words(&global, words)
}

/// Joins `rethread`, the global words and `words`, each quoted for a shell.
fn join_words(global: &[String], words: &[&str]) -> String {
    let words = global.iter().map(String::as_str).chain(words.iter().copied());
    std::iter::once("rethread".to_owned()).chain(words.map(quote)).collect::<Vec<_>>().join(" ")
}

/// Builds a command of rethread in backticks, for use in a sentence.
pub(crate) fn quote_command(words: &[&str]) -> String {
    format!("`{}`", build_command(words))
}

#[cfg(test)]
mod tests {
    use super::join_words;

    #[test]
    fn every_word_is_quoted_for_a_shell() {
        let global = ["--root".to_owned(), "/tmp/my store".to_owned()];
        assert_eq!(
            join_words(&global, &["show", "it's", "--all"]),
            "rethread --root '/tmp/my store' show 'it'\\''s' --all"
        );
        assert_eq!(join_words(&[], &["ls"]), "rethread ls");
    }
}
