//! Labelled facts: a label on the left, wrapped text in several styles on the right.

use unicode_width::UnicodeWidthStr;

use crate::cli::error::CliError;
use crate::cli::out::Out;
use crate::cli::style::{NAME, QUIET, paint};
use crate::cli::table::truncate_to_width;
use crate::config::TextRole;

/// The width of the label column, in columns of the screen.
const LABEL_WIDTH: usize = 14;
/// The maximum width of a fact, including its label.
const MAX_WIDTH: usize = 120;

/// Parts of a text, each with its style.
pub(crate) type StyledText = Vec<(TextRole, String)>;

/// Prints a text with a label on the left, wrapped at the screen width or 120 columns.
pub(crate) fn print_fact(label: &str, text: &StyledText, out: &mut Out) -> Result<(), CliError> {
    let pad = LABEL_WIDTH.saturating_sub(label.width());
    let lines = wrap_styled(text, out.width().min(MAX_WIDTH) - LABEL_WIDTH);
    for (idx, line) in lines.iter().enumerate() {
        match idx {
            0 => out.line(&format!("{}{}{line}", paint(QUIET, label), " ".repeat(pad)))?,
            _ => out.line(&format!("{}{line}", " ".repeat(LABEL_WIDTH)))?,
        }
    }
    Ok(())
}

/// Prints a labelled command, without wrapping or truncating it.
pub(crate) fn print_command(label: &str, command: &str, out: &mut Out) -> Result<(), CliError> {
    let pad = LABEL_WIDTH.saturating_sub(label.width());
    out.line(&format!("{}{}{}", paint(QUIET, label), " ".repeat(pad), paint(NAME, command)))
}

/// Prints one indented line below a fact, truncated to the screen width or 120 columns.
pub(crate) fn print_detail(style: TextRole, text: &str, out: &mut Out) -> Result<(), CliError> {
    let max_width = out.width().min(MAX_WIDTH) - LABEL_WIDTH;
    out.line(&format!("{}{}", " ".repeat(LABEL_WIDTH), paint(style, &truncate_to_width(text, max_width))))
}

/// Wraps styled text at a width and returns painted lines. Breaks only at spaces, even if the style changes within
/// a word.
pub(crate) fn wrap_styled(text: &StyledText, width: usize) -> Vec<String> {
    let mut lines: Vec<StyledText> = vec![Vec::new()];
    let mut used = 0;
    for word in split_words(text) {
        let word_width: usize = word.iter().map(|(_, part)| part.width()).sum();
        if used > 0 && used + 1 + word_width > width {
            lines.push(Vec::new());
            used = 0;
        }
        let Some(line) = lines.last_mut() else { continue };
        for (idx, (style, part)) in word.into_iter().enumerate() {
            let gap = if idx == 0 && used > 0 { " " } else { "" };
            let part = format!("{gap}{}", truncate_to_width(part, width.saturating_sub(used + gap.len())));
            used += part.width();
            match line.last_mut() {
                Some((last_style, text)) if *last_style == style => text.push_str(&part),
                _ => line.push((style, part)),
            }
        }
    }
    let paint_line = |line: &StyledText| line.iter().map(|(style, text)| paint(*style, text)).collect();
    lines.iter().map(paint_line).collect()
}

/// Splits styled text at spaces into words. A word has several parts if its style changes.
fn split_words(text: &StyledText) -> Vec<Vec<(TextRole, &str)>> {
    let mut words: Vec<Vec<(TextRole, &str)>> = vec![Vec::new()];
    for (style, part) in text {
        for (idx, fragment) in part.split(' ').enumerate() {
            if idx > 0 {
                words.push(Vec::new());
            }
            if let Some(word) = words.last_mut().filter(|_| !fragment.is_empty()) {
                word.push((*style, fragment));
            }
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::wrap_styled;
    use crate::cli::style::{NAME, PLAIN};

    #[test]
    fn text_is_wrapped_regardless_of_style() {
        let text = vec![
            (NAME, "L12".to_owned()),
            (PLAIN, ", the last line ".to_owned()),
            (NAME, "of all".to_owned()),
        ];
        let lines = wrap_styled(&text, 13);
        let bare: Vec<String> =
            lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect();
        assert_eq!(bare, ["L12, the last", "line of all"]);
        let text = vec![(PLAIN, "see L12".to_owned()), (NAME, ", L13".to_owned())];
        assert_eq!(wrap_styled(&text, 7).len(), 3);
    }
}
