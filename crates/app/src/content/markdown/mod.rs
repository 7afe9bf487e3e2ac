//! How Markdown is read: the enabled extensions, the limits, and which addresses are safe.

mod link;

pub(crate) use link::{find_mention, find_url, safe_url};
use pulldown_cmark::Options;

/// The enabled Markdown extensions.
pub(crate) const OPTIONS: Options =
    Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH).union(Options::ENABLE_TASKLISTS);

/// Maximum length in bytes of Markdown that is parsed. Longer text is shown as its source.
pub(crate) const MAX_BYTES: usize = 256 * 1024;

/// Maximum nesting depth of quotes, lists and emphasis that is shown.
pub(crate) const MAX_DEPTH: usize = 20;

/// Returns the name of the language at the start of the info string of a code block.
pub(crate) fn language_name(info: &str) -> &str {
    info.split([' ', ',', '\t', '{']).next().unwrap_or_default()
}

/// Returns the indentation of the line after the line break at offset `at`, in columns, at most 40. A tab has four.
pub(crate) fn measure_indentation(source: &str, at: usize) -> usize {
    const MAX_COLUMNS: usize = 40;
    let next = source.get(at..).and_then(|rest| rest.split_once('\n')).map_or("", |(_, next)| next);
    let width = |c: char| if c == '\t' { 4 } else { 1 };
    next.chars().take_while(|c| matches!(c, ' ' | '\t')).map(width).sum::<usize>().min(MAX_COLUMNS)
}
