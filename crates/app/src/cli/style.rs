//! Text styles. No information is conveyed by colour alone.

use anstyle::{AnsiColor, Style};

use crate::content::highlight::TokenKind;

/// Normal text.
pub(crate) const PLAIN: Style = Style::new();
/// Secondary text: ages, sizes, footers.
pub(crate) const QUIET: Style = Style::new().dimmed();
/// Headings and titles.
pub(crate) const STRONG: Style = Style::new().bold();
/// Names and commands that can be typed.
pub(crate) const NAME: Style = AnsiColor::Cyan.on_default();
/// Prompts.
pub(crate) const PROMPT: Style = AnsiColor::Green.on_default().bold();
/// Tools.
pub(crate) const TOOL: Style = AnsiColor::Blue.on_default();
/// Marks and warnings.
pub(crate) const MARK: Style = AnsiColor::Yellow.on_default();
/// Failures and removed text.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
/// Added text.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();

/// The first level of headings in Markdown.
pub(crate) const HEADING_1: Style = AnsiColor::Magenta.on_default().bold().underline();
/// The other headings in Markdown.
pub(crate) const HEADING: Style = AnsiColor::Magenta.on_default().bold();
/// Emphasis in Markdown.
pub(crate) const EMPHASIS: Style = Style::new().italic();
/// Strong emphasis within bold text.
pub(crate) const STRONG_IN_BOLD: Style = Style::new().underline();
/// Text that Markdown strikes through.
pub(crate) const DELETED: Style = Style::new().strikethrough();
/// Code within a line of Markdown.
pub(crate) const CODE: Style = AnsiColor::Cyan.on_default();
/// The text of links.
pub(crate) const LINK: Style = Style::new().underline();
/// Changed words within a removed or an added line.
pub(crate) const CHANGED_WORD: Style = Style::new().bold().underline();

/// Search matches.
pub(crate) const MATCH: Style = Style::new().bold().invert();

/// Wraps text in the escape codes of a style. Empty text stays empty.
pub(crate) fn paint(style: Style, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{style}{text}{style:#}") }
}

/// Returns the style of a kind of token. Only the colours of the terminal's theme are used, and none that is hard to read
/// on a light or a dark background.
pub(crate) fn select_token_style(kind: TokenKind) -> Style {
    match kind {
        TokenKind::Keyword => AnsiColor::Magenta.on_default(),
        TokenKind::String | TokenKind::Added => AnsiColor::Green.on_default(),
        TokenKind::Number | TokenKind::Type => AnsiColor::Cyan.on_default(),
        TokenKind::Comment => QUIET,
        TokenKind::Function | TokenKind::Name => AnsiColor::Blue.on_default(),
        TokenKind::Removed => AnsiColor::Red.on_default(),
    }
}
