//! Parses a range of turns.

use std::ops::RangeInclusive;

use super::error::CliError;
use super::figures::count_noun;
use super::out::Out;

/// Parses a range of turns: `5`, `3-9`, `3..9`, `3..`, `3-` or `..9`, with an optional `t` before the numbers.
///
/// Returns an error if a number is invalid or the range is empty.
pub(crate) fn parse_turns(text: &str) -> Result<RangeInclusive<u32>, CliError> {
    parse_range(text).ok_or_else(|| CliError::BadTurns(text.to_owned()))
}

/// Prints how many of the requested turns are on other branches, if there are any.
pub(crate) fn note_turns_elsewhere(count: usize, out: &mut Out) {
    if count > 0 {
        let verb = if count == 1 { "is" } else { "are" };
        let turns = count_noun(count as u64, "turn");
        out.note(&format!("{turns} of this range {verb} not on this branch (--all includes other branches)"));
    }
}

fn parse_range(text: &str) -> Option<RangeInclusive<u32>> {
    let parse = |text: &str| text.trim().trim_start_matches('t').parse::<u32>().ok();
    // `-9` looks like an option or a negative number, so a range with a dash has a first turn.
    let with_dash = || text.split_once(['-', '–']).filter(|(first, _)| !first.trim().is_empty());
    let Some((first, last)) = text.split_once("..").or_else(with_dash) else {
        let turn = parse(text)?;
        return Some(turn..=turn);
    };
    let first = if first.trim().is_empty() { 0 } else { parse(first)? };
    let last = last.trim_start_matches('=');
    let last = if last.trim().is_empty() { u32::MAX } else { parse(last)? };
    (first <= last).then_some(first..=last)
}

#[cfg(test)]
mod tests {
    use super::parse_range;

    #[test]
    fn turns_are_parsed_in_all_forms() {
        let all = u32::MAX;
        let cases = [
            ("5", 5..=5),
            ("t5", 5..=5),
            ("3..9", 3..=9),
            ("3..", 3..=all),
            ("..9", 0..=9),
            ("t3..t9", 3..=9),
            ("3..=9", 3..=9),
            ("..", 0..=all),
            ("1-2", 1..=2),
            ("t1 - t2", 1..=2),
            ("3–9", 3..=9),
            ("3-", 3..=all),
        ];
        for (text, range) in cases {
            assert_eq!(parse_range(text), Some(range), "{text}");
        }
        assert_eq!(["", "x", "9..3", "9-3", "-1", "1-2-3", "-"].map(parse_range), [const { None }; 7]);
    }
}
