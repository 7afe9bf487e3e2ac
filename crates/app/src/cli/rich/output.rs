//! Output of programs, with its colours.

use anstyle::{Ansi256Color, AnsiColor, Color, Effects, Style};

use super::page::Page;
use super::styled::{StyledText, overlay};
use crate::cli::error::CliError;
use crate::content::ansi::{OutputStyle, flag, interpret};

/// Prints the first `max_lines` lines of terminal output, and returns the number of omitted lines. Text without a colour
/// of its own has the style `base`.
pub(crate) fn print_output(
    text: &str,
    base: impl Into<Style>,
    max_lines: usize,
    page: &mut Page<'_>,
) -> Result<usize, CliError> {
    let base = base.into();
    let mut lines = vec![StyledText::default()];
    interpret(text, |style, run| {
        let style = convert_style(style, base);
        for (idx, part) in run.split('\n').enumerate() {
            if idx > 0 {
                lines.push(StyledText::default());
            }
            if let Some(line) = lines.last_mut() {
                line.push(style, part);
            }
        }
    });
    let is_blank = |line: &StyledText| line.text().trim().is_empty();
    let start = lines.iter().take_while(|line| is_blank(line)).count();
    let end = lines.len() - lines.iter().rev().take_while(|line| is_blank(line)).count();
    let lines = lines.get(start..end).unwrap_or_default();
    lines.iter().take(max_lines).try_for_each(|line| page.print_block(line))?;
    Ok(lines.len().saturating_sub(max_lines))
}

/// Converts a style of recorded output. Text in the default style has the style `base`.
fn convert_style(style: OutputStyle, base: Style) -> Style {
    if style == OutputStyle::default() {
        return base;
    }
    let effects = [
        (flag::BOLD, Effects::BOLD),
        (flag::DIM, Effects::DIMMED),
        (flag::ITALIC, Effects::ITALIC),
        (flag::UNDERLINE, Effects::UNDERLINE),
        (flag::INVERSE, Effects::INVERT),
        (flag::STRIKE, Effects::STRIKETHROUGH),
    ];
    let effects = effects.iter().filter(|(bit, _)| style.flags & bit != 0).map(|(_, effect)| *effect);
    // Text in the colour of its background would be hidden.
    let background = style.background.filter(|color| Some(*color) != style.foreground);
    let own = Style::new()
        .fg_color(style.foreground.map(convert_color))
        .bg_color(background.map(convert_color))
        .effects(effects.fold(Effects::new(), |all, effect| all | effect));
    // Dimmed colours are hard to read.
    if own.get_fg_color().is_some() { own } else { overlay(base, own) }
}

/// Converts a colour of the palette. The first sixteen belong to the theme of the terminal.
fn convert_color(number: u8) -> Color {
    Ansi256Color(number)
        .into_ansi()
        .map_or(Color::Ansi256(Ansi256Color(number)), |color: AnsiColor| color.into())
}
