//! Reads the command back from the files of a schedule, so that `archive status` shows what the system really runs.

use super::units::SystemKind;

/// Returns the arguments of the scheduled command, without the program. Returns `None` if the file has no command, or one
/// that `units` did not write.
pub(super) fn parse_words(system: SystemKind, content: &str) -> Option<Vec<String>> {
    match system {
        SystemKind::Systemd => {
            let line = content.lines().find_map(|line| line.strip_prefix("ExecStart="))?;
            parse_systemd_words(line)
        }
        SystemKind::Launchd => {
            let list = find_between(content, "<array>", "</array>")?;
            let strings = list.split("<string>").skip(1);
            let words: Option<Vec<String>> =
                strings.map(|text| Some(unescape_xml(text.split_once("</string>")?.0))).collect();
            Some(words?.split_first()?.1.to_vec())
        }
        SystemKind::TaskScheduler => {
            parse_windows_words(&unescape_xml(find_between(content, "<Arguments>", "</Arguments>")?))
        }
    }
}

fn find_between<'t>(text: &'t str, start: &str, end: &str) -> Option<&'t str> {
    Some(text.split_once(start)?.1.split_once(end)?.0)
}

/// Parses quoted words of a unit file, and omits the first.
fn parse_systemd_words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' => continue,
            '"' => {}
            _ => return None,
        }
        let mut word = String::new();
        loop {
            let is_program = words.is_empty();
            match chars.next()? {
                '"' => break,
                '\\' => word.push(chars.next()?),
                doubled if doubled == '%' || doubled == '$' && !is_program => {
                    chars.next().filter(|next| *next == doubled)?;
                    word.push(doubled);
                }
                other => word.push(other),
            }
        }
        words.push(word);
    }
    Some(words.split_first()?.1.to_vec())
}

/// Parses quoted arguments as programs on Windows do: backslashes count only before a quote.
fn parse_windows_words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while let Some(quoted) = rest.strip_prefix('"') {
        let mut word = String::new();
        let mut backslashes = 0;
        let mut end = None;
        for (at, c) in quoted.char_indices() {
            if c == '\\' {
                backslashes += 1;
                continue;
            }
            let kept = if c == '"' { backslashes / 2 } else { backslashes };
            word.push_str(&"\\".repeat(kept));
            if c == '"' && backslashes % 2 == 0 {
                end = Some(at + 1);
                break;
            }
            word.push(c);
            backslashes = 0;
        }
        words.push(word);
        rest = quoted[end?..].trim_start();
    }
    rest.is_empty().then_some(words)
}

fn unescape_xml(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    text.replace("&quot;", "\"").replace("&apos;", "'").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::units::tests::{HOSTILE, command};
    use super::super::units::{ScheduledCommand, format_files};
    use super::*;

    const SYSTEMS: [SystemKind; 3] = [SystemKind::Systemd, SystemKind::Launchd, SystemKind::TaskScheduler];

    /// Writes the files of a schedule and reads the arguments back.
    fn write_and_parse(system: SystemKind, args: &[String]) -> Option<Vec<String>> {
        let command = ScheduledCommand { args: args.to_vec(), ..command() };
        format_files(system, &command).iter().find_map(|content| parse_words(system, content))
    }

    proptest! {
        #[test]
        fn every_word_is_read_as_it_was_written(
            args in proptest::collection::vec("[ -~é]{0,12}|[\\\\\"%$&<> ]{1,6}", 1..5),
        ) {
            for system in SYSTEMS {
                prop_assert_eq!(write_and_parse(system, &args), Some(args.clone()), "{:?}", system);
            }
        }
    }

    #[test]
    fn hostile_paths_are_read_as_they_were_written() {
        let args = ["--sync", HOSTILE, "C:\\a b\\", "&amp;lt;", "100%%", "$$HOME"].map(str::to_owned);
        for system in SYSTEMS {
            assert_eq!(write_and_parse(system, &args).as_deref(), Some(&args[..]), "{system:?}");
        }
    }

    #[test]
    fn files_of_other_programs_are_not_parsed() {
        for content in
            ["", "ExecStart=", "ExecStart=/bin/true \"a\"", "ExecStart=\"/bin/true\" \"a", "<array>"]
        {
            for system in SYSTEMS {
                assert_eq!(parse_words(system, content), None, "{content}");
            }
        }
    }
}
