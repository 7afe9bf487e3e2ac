//! The command line as typed, before it is parsed: in a search, `-word` is a part of the query.

use std::ffi::OsString;

use clap::{CommandFactory, Parser};

use super::Args;

/// Stands before a word of the query that begins with a dash, so that it is not taken for an option. No argument that
/// comes from a shell can hold it.
const MARK: char = '\0';

/// Reads the command line.
pub(crate) fn read() -> Args {
    Args::parse_from(marked(std::env::args_os().collect()))
}

/// Returns a word of the query as it was typed.
pub(crate) fn unmarked(word: &str) -> &str {
    word.strip_prefix(MARK).unwrap_or(word)
}

/// Marks what begins with one dash behind `search` and is none of its options.
fn marked(mut words: Vec<OsString>) -> Vec<OsString> {
    let command = Args::command();
    let takes_value = |command: &clap::Command, word: &str| {
        let named = |arg: &&clap::Arg| {
            arg.get_long().is_some_and(|long| word.strip_prefix("--") == Some(long))
                || arg
                    .get_short()
                    .is_some_and(|short| word.strip_prefix('-') == Some(short.encode_utf8(&mut [0; 4])))
        };
        command.get_arguments().find(named).is_some_and(|arg| arg.get_action().takes_values())
    };
    let mut at = 1;
    while let Some(word) = words.get(at).and_then(|word| word.to_str()).filter(|word| word.starts_with('-')) {
        at += if takes_value(&command, word) { 2 } else { 1 };
    }
    let Some(search) = command.find_subcommand("search").filter(|_| words.get(at) == Some(&"search".into()))
    else {
        return words;
    };
    at += 1;
    while let Some(word) = words.get(at).and_then(|word| word.to_str()).filter(|word| *word != "--") {
        let word = word.to_owned();
        if takes_value(&command, &word) || takes_value(search, &word) {
            at += 1;
        } else if is_query(&word) {
            words[at] = format!("{MARK}{word}").into();
        }
        at += 1;
    }
    words
}

/// Whether a word is none of the short options that a search has, alone or with a number behind it.
fn is_query(word: &str) -> bool {
    let Some(rest) = word.strip_prefix('-') else { return false };
    let is_option = matches!(rest, "" | "l" | "h" | "V") || rest.starts_with('-');
    !is_option
        && !rest
            .strip_prefix('n')
            .is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit() || b == b'='))
}

#[cfg(test)]
mod tests {
    use super::{MARK, marked};

    #[test]
    fn words_of_a_query_may_begin_with_a_dash() {
        let cases = [
            ("search a -b", "search a ~-b"),
            ("search -b a", "search ~-b a"),
            ("search a -l -n 5 -n5 -h", "search a -l -n 5 -n5 -h"),
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
                marked(words).iter().skip(1).map(|w| w.to_string_lossy().into_owned()).collect();
            assert_eq!(words.join(" ").replace(MARK, "~"), expected, "{typed}");
        }
    }
}
