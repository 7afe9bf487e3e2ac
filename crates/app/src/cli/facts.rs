//! Facts under each other: what each is about on the left, words in several styles on the right, wrapped.

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use super::error::CliError;
use super::out::Out;
use super::style::{NAME, QUIET, paint};
use super::table::truncate_to_width;

/// Columns of what a fact is about.
const LABEL: usize = 14;
/// Widest text.
const WIDEST: usize = 120;

/// Words in a style each.
pub(crate) type Words = Vec<(Style, String)>;

/// Prints a fact.
pub(crate) fn fact(label: &str, words: &Words, out: &mut Out) -> Result<(), CliError> {
    let pad = LABEL.saturating_sub(label.width());
    let lines = wrap(words, out.width().min(WIDEST) - LABEL);
    for (k, line) in lines.iter().enumerate() {
        match k {
            0 => out.line(&format!("{}{}{line}", paint(QUIET, label), " ".repeat(pad)))?,
            _ => out.line(&format!("{}{line}", " ".repeat(LABEL)))?,
        }
    }
    Ok(())
}

/// Prints what can be typed: never wrapped or cut, whatever the width.
pub(crate) fn command(label: &str, command: &str, out: &mut Out) -> Result<(), CliError> {
    let pad = LABEL.saturating_sub(label.width());
    out.line(&format!("{}{}{}", paint(QUIET, label), " ".repeat(pad), paint(NAME, command)))
}

/// Prints a line below a fact, cut at the edge.
pub(crate) fn below(style: Style, text: &str, out: &mut Out) -> Result<(), CliError> {
    let room = out.width().min(WIDEST) - LABEL;
    out.line(&format!("{}{}", " ".repeat(LABEL), paint(style, &truncate_to_width(text, room))))
}

/// Wraps words at a width, each line painted; what no space parts stays together, also over a change of style.
pub(crate) fn wrap(words: &Words, width: usize) -> Vec<String> {
    let mut lines: Vec<Words> = vec![Vec::new()];
    let mut used = 0;
    for unit in units(words) {
        let wide: usize = unit.iter().map(|(_, piece)| piece.width()).sum();
        if used > 0 && used + 1 + wide > width {
            lines.push(Vec::new());
            used = 0;
        }
        let Some(line) = lines.last_mut() else { continue };
        for (k, (style, piece)) in unit.into_iter().enumerate() {
            let gap = if k == 0 && used > 0 { " " } else { "" };
            let piece = format!("{gap}{}", truncate_to_width(piece, width.saturating_sub(used + gap.len())));
            used += piece.width();
            match line.last_mut() {
                Some((known, text)) if *known == style => text.push_str(&piece),
                _ => line.push((style, piece)),
            }
        }
    }
    let drawn = |line: &Words| line.iter().map(|(style, text)| paint(*style, text)).collect();
    lines.iter().map(drawn).collect()
}

/// Parts words at spaces.
fn units(words: &Words) -> Vec<Vec<(Style, &str)>> {
    let mut units: Vec<Vec<(Style, &str)>> = vec![Vec::new()];
    for (style, text) in words {
        for (k, piece) in text.split(' ').enumerate() {
            if k > 0 {
                units.push(Vec::new());
            }
            if let Some(unit) = units.last_mut().filter(|_| !piece.is_empty()) {
                unit.push((*style, piece));
            }
        }
    }
    units.retain(|unit| !unit.is_empty());
    units
}

#[cfg(test)]
mod tests {
    use super::super::style::{NAME, PLAIN};
    use super::wrap;

    #[test]
    fn words_are_wrapped_whatever_their_style() {
        let words = vec![
            (NAME, "L12".to_owned()),
            (PLAIN, ", the last line ".to_owned()),
            (NAME, "of all".to_owned()),
        ];
        let lines = wrap(&words, 13);
        let bare: Vec<String> =
            lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect();
        assert_eq!(bare, ["L12, the last", "line of all"]);
        let words = vec![(PLAIN, "see L12".to_owned()), (NAME, ", L13".to_owned())];
        assert_eq!(wrap(&words, 7).len(), 3);
    }
}
