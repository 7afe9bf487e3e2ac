//! The palette: few colours, and none that carries meaning alone.

use anstyle::{AnsiColor, Style};

/// Text like any other.
pub(crate) const PLAIN: Style = Style::new();
/// What can be read later: ages, sizes, footers.
pub(crate) const QUIET: Style = Style::new().dimmed();
/// Headings and titles.
pub(crate) const STRONG: Style = Style::new().bold();
/// Names that can be typed.
pub(crate) const NAME: Style = AnsiColor::Cyan.on_default();
/// What the user said.
pub(crate) const PROMPT: Style = AnsiColor::Green.on_default().bold();
/// Tools.
pub(crate) const TOOL: Style = AnsiColor::Blue.on_default();
/// Marks and warnings.
pub(crate) const MARK: Style = AnsiColor::Yellow.on_default();
/// Failures and what was taken away.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
/// What was added.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();

/// What was looked for.
pub(crate) const FOUND: Style = Style::new().bold().invert();

/// Wraps text in a style.
pub(crate) fn paint(style: Style, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{style}{text}{style:#}") }
}
