//! Code with syntax colours.

use super::page::Page;
use super::styled::StyledText;
use crate::cli::clean;
use crate::cli::error::CliError;
use crate::cli::style::{PLAIN, select_token_style};
use crate::content::highlight::{Language, tokenize};

/// Prints code line by line, in the colours of its language. Lines are broken only at the width.
pub(super) fn print_code(
    text: &str,
    language: Option<Language>,
    page: &mut Page<'_>,
) -> Result<(), CliError> {
    let text = clean::text(text);
    highlight_lines(&text, language).iter().try_for_each(|line| page.print_block(line))
}

/// Splits clean code into lines with the colours of its language.
pub(super) fn highlight_lines(text: &str, language: Option<Language>) -> Vec<StyledText> {
    let tokens = tokenize(text, language);
    let mut tokens = tokens.iter().peekable();
    let mut lines = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.trim_end_matches('\n').len();
        let mut styled = StyledText::default();
        let mut at = start;
        while at < end {
            while tokens.next_if(|token| token.end <= at).is_some() {}
            let (style, until) = match tokens.peek() {
                Some(token) if token.start <= at => (select_token_style(token.kind), token.end.min(end)),
                Some(token) => (PLAIN.into(), token.start.min(end)),
                None => (PLAIN.into(), end),
            };
            styled.push(style, &text[at..until]);
            at = until;
        }
        lines.push(styled);
        start += line.len();
    }
    lines
}
