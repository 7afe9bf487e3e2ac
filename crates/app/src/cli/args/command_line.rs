//! Parsing of the command line: in a search, `-word` is part of the query, not an option; errors are cleaned.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::error::ContextValue;
use clap::{CommandFactory, Parser};

use super::Args;
use crate::text::clean;

/// The prefix of a query word that begins with a dash, so that clap does not parse it as an option. Arguments from the
/// operating system cannot contain this character.
const MARKER: char = '\0';

/// Parses the command line of the process. Prints an error or the help and exits if it is not a command to run.
pub(crate) fn parse_command_line() -> Args {
    let words = mark_query_words(std::env::args_os().collect());
    Args::try_parse_from(words).unwrap_or_else(|error| clean_error(error).exit())
}

/// Cleans the words of the user that an error quotes: they may be pasted from a hostile text.
fn clean_error(mut error: clap::Error) -> clap::Error {
    let is_hostile = |text: &str| text.contains(clean::is_hostile);
    let has_hostile_word = error.context().any(|(_, value)| match value {
        ContextValue::String(text) => is_hostile(text),
        ContextValue::Strings(texts) => texts.iter().any(|text| is_hostile(text)),
        _ => false,
    });
    if !has_hostile_word {
        return error;
    }
    // Styled text contains escape sequences of clap, which look like those of a word: it becomes plain.
    let clean_styled = |text: &StyledStr| StyledStr::from(clean::line(&text.to_string()));
    let clean_value = |value: &ContextValue| match value {
        ContextValue::String(text) => ContextValue::String(clean_word(text)),
        ContextValue::Strings(texts) => {
            ContextValue::Strings(texts.iter().map(|text| clean_word(text)).collect())
        }
        ContextValue::StyledStrs(texts) => ContextValue::StyledStrs(texts.iter().map(clean_styled).collect()),
        // The usage line is the only single styled text, and contains no words of the user.
        value => value.clone(),
    };
    let values: Vec<_> = error.context().map(|(kind, value)| (kind, clean_value(value))).collect();
    for (kind, value) in values {
        error.insert(kind, value);
    }
    error
}

/// Cleans a word and removes [`MARKER`].
fn clean_word(word: &str) -> String {
    clean::line(strip_marker(word))
}

/// Removes [`MARKER`] from a query word, which restores the word as the user typed it.
pub(crate) fn strip_marker(word: &str) -> &str {
    word.strip_prefix(MARKER).unwrap_or(word)
}

/// Adds [`MARKER`] to the words after `search` that begin with one dash and are not options of it.
fn mark_query_words(mut words: Vec<OsString>) -> Vec<OsString> {
    let command = Args::command();
    let takes_value = |command: &clap::Command, word: &str| {
        let has_name = |arg: &&clap::Arg| {
            arg.get_long().is_some_and(|long| word.strip_prefix("--") == Some(long))
                || arg
                    .get_short()
                    .is_some_and(|short| word.strip_prefix('-') == Some(short.encode_utf8(&mut [0; 4])))
        };
        command.get_arguments().find(has_name).is_some_and(|arg| arg.get_action().takes_values())
    };
    let mut idx = 1;
    while let Some(word) = words.get(idx).and_then(|word| word.to_str()).filter(|word| word.starts_with('-'))
    {
        idx += if takes_value(&command, word) { 2 } else { 1 };
    }
    let Some(search) = command.find_subcommand("search").filter(|_| words.get(idx) == Some(&"search".into()))
    else {
        return words;
    };
    idx += 1;
    while let Some(word) = words.get(idx).and_then(|word| word.to_str()).filter(|word| *word != "--") {
        let word = word.to_owned();
        if takes_value(&command, &word) || takes_value(search, &word) {
            idx += 1;
        } else if is_query_word(&word, &[search, &command]) {
            words[idx] = format!("{MARKER}{word}").into();
        }
        idx += 1;
    }
    words
}

/// Returns `true` if a word begins with one dash and is not a short option of `commands`, also with a number (`-n5`).
fn is_query_word(word: &str, commands: &[&clap::Command]) -> bool {
    let Some(rest) = word.strip_prefix('-') else { return false };
    let is_short = |short: char| matches!(short, 'h' | 'V') || has_short_option(commands, short);
    let mut chars = rest.chars();
    let is_option = match (chars.next(), chars.next()) {
        (None | Some('-'), _) => true,
        (Some(short), None) => is_short(short),
        _ => false,
    };
    !is_option
        && !rest
            .strip_prefix('n')
            .is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit() || b == b'='))
}

/// Returns `true` if one of the commands has this short option.
fn has_short_option(commands: &[&clap::Command], short: char) -> bool {
    commands.iter().flat_map(|command| command.get_arguments()).any(|arg| arg.get_short() == Some(short))
}

#[cfg(test)]
mod tests {
    use super::{MARKER, mark_query_words};

    #[test]
    fn query_words_may_begin_with_a_dash() {
        let cases = [
            ("search a -b", "search a ~-b"),
            ("search -b a", "search ~-b a"),
            ("search a -l -n 5 -n5 -h", "search a -l -n 5 -n5 -h"),
            ("search a -a -ab -c", "search a -a ~-ab ~-c"),
            ("search a -e -b -c", "search a -e -b ~-c"),
            ("search a -not -limit -l", "search a ~-not ~-limit -l"),
            ("search a --limit -5 -x", "search a --limit -5 ~-x"),
            ("search a --json -x --root /r -y", "search a --json ~-x --root /r ~-y"),
            ("--root search search a -x", "--root search search a ~-x"),
            ("--demo --color never search a -x", "--demo --color never search a ~-x"),
            ("search a -x -- -y", "search a ~-x -- -y"),
            ("search -", "search -"),
            ("find search -x", "find search -x"),
            ("ls -a", "ls -a"),
            ("", ""),
        ];
        for (typed, expected) in cases {
            let words = ["rethread"].into_iter().chain(typed.split_whitespace()).map(Into::into).collect();
            let words: Vec<String> =
                mark_query_words(words).iter().skip(1).map(|w| w.to_string_lossy().into_owned()).collect();
            assert_eq!(words.join(" ").replace(MARKER, "~"), expected, "{typed}");
        }
    }
}
