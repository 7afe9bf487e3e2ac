//! Text styles by role. No information is conveyed by colour alone.

use std::sync::OnceLock;

use anstyle::{AnsiColor, Style};

use crate::config::{Palette, TextRole};
use crate::content::highlight::TokenKind;

/// Normal text.
pub(crate) const PLAIN: TextRole = TextRole::Plain;
/// Secondary text: ages, sizes, footers.
pub(crate) const QUIET: TextRole = TextRole::Quiet;
/// Headings and titles.
pub(crate) const STRONG: TextRole = TextRole::Strong;
/// Names and commands that can be typed.
pub(crate) const NAME: TextRole = TextRole::Name;
/// Prompts.
pub(crate) const PROMPT: TextRole = TextRole::Prompt;
/// Tools.
pub(crate) const TOOL: TextRole = TextRole::Tool;
/// Marks and warnings.
pub(crate) const MARK: TextRole = TextRole::Mark;
/// Headings that warn.
pub(crate) const STRONG_MARK: TextRole = TextRole::StrongMark;
/// Failures and removed text.
pub(crate) const BAD: TextRole = TextRole::Bad;
/// Added text.
pub(crate) const GOOD: TextRole = TextRole::Good;

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
pub(crate) const MATCH: TextRole = TextRole::Match;

/// The styles of the process, which are set once.
static PALETTE: OnceLock<Palette> = OnceLock::new();

/// Sets the styles that [`paint`] uses. Has no effect once text has been painted.
pub(crate) fn set_palette(palette: Palette) {
    // The first palette stays in use.
    let _ = PALETTE.set(palette);
}

impl From<TextRole> for Style {
    /// Returns the style of the role in the palette of the process.
    fn from(role: TextRole) -> Style {
        PALETTE.get_or_init(Palette::default).style(role)
    }
}

/// Wraps text in the escape codes of a style. Empty text stays empty.
pub(crate) fn paint(style: impl Into<Style>, text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let style = style.into();
    format!("{style}{text}{style:#}")
}

/// Returns the style of a kind of token. Only the colours of the terminal's theme are used, and none that is hard to read
/// on a light or a dark background.
pub(crate) fn select_token_style(kind: TokenKind) -> Style {
    match kind {
        TokenKind::Keyword => AnsiColor::Magenta.on_default(),
        TokenKind::String | TokenKind::Added => AnsiColor::Green.on_default(),
        TokenKind::Number | TokenKind::Type => AnsiColor::Cyan.on_default(),
        TokenKind::Comment => QUIET.into(),
        TokenKind::Function | TokenKind::Name => AnsiColor::Blue.on_default(),
        TokenKind::Removed => AnsiColor::Red.on_default(),
    }
}
