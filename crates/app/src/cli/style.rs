//! Text styles. No information is conveyed by colour alone.

use anstyle::{AnsiColor, Style};

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

/// Search matches.
pub(crate) const MATCH: Style = Style::new().bold().invert();

/// Wraps text in the escape codes of a style. Empty text stays empty.
pub(crate) fn paint(style: Style, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{style}{text}{style:#}") }
}
