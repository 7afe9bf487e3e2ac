//! Options of an export, and the choice of the writer by format.

use std::collections::BTreeSet;
use std::io;
use std::ops::RangeInclusive;

use rayon::prelude::*;
use rethread_engine::Error;
use rethread_engine::core::usage::PriceTable;
use rethread_engine::ops::read::{BranchSelector, BranchView, SessionView};
use rethread_engine::ops::show::ShownTurn;

use super::detail::{Detail, reduce_turn};
use super::verify::SearchedParts;
use super::{json, markdown, page, text};
use crate::text::session::scope_label;

/// The number of turns that are formatted in parallel before they are written.
const BATCH_TURNS: usize = 128;
/// Longer turns and chunks are formatted one at a time, to limit the memory.
pub(super) const MAX_PARALLEL_BYTES: u64 = 1 << 20;

/// The file format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// One self-contained HTML page
    Html,
    /// GitHub-flavoured markdown
    Md,
    /// JSON Lines
    Json,
    /// Plain text
    Text,
}

impl Format {
    /// Returns the file extension, without the dot.
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Format::Html => "html",
            Format::Md => "md",
            Format::Json => "jsonl",
            Format::Text => "txt",
        }
    }

    /// Returns the media type for the `Content-Type` header.
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Format::Html => "text/html; charset=utf-8",
            Format::Md => "text/markdown; charset=utf-8",
            Format::Json => "application/jsonl; charset=utf-8",
            Format::Text => "text/plain; charset=utf-8",
        }
    }

    /// Returns the format of files with this extension, in any case and without the dot. Returns `None` if it is unknown.
    pub(crate) fn from_extension(extension: &str) -> Option<Format> {
        match extension.to_ascii_lowercase().as_str() {
            "html" | "htm" => Some(Format::Html),
            "md" | "markdown" => Some(Format::Md),
            "json" | "jsonl" | "ndjson" => Some(Format::Json),
            "txt" | "text" => Some(Format::Text),
            _ => None,
        }
    }

    /// Returns the level of detail to use if the user chose none.
    pub(crate) fn default_detail(self) -> Detail {
        match self {
            Format::Html | Format::Json => Detail::Everything,
            Format::Md | Format::Text => Detail::Answers,
        }
    }
}

/// The format, the level of detail and the turns of an export.
#[derive(Debug, Clone)]
pub(crate) struct ExportOptions {
    /// The format of the file.
    pub(crate) format: Format,
    /// The level of detail.
    pub(crate) detail: Detail,
    /// Whether to omit texts in the user's name that no user typed.
    pub(crate) only_typed: bool,
    /// Selects the turns to export.
    pub(crate) selector: BranchSelector,
    /// The numbers of the turns to export. `None` exports all selected turns.
    pub(crate) turns: Option<RangeInclusive<u32>>,
}

impl ExportOptions {
    /// States which turns of the session are exported.
    pub(super) fn scope_label(&self, branch: &BranchView) -> String {
        let mut label = scope_label(&branch.scope, &self.selector);
        let mut numbers = branch.turns.iter().filter_map(|turn| turn.number);
        if let Some(first) = numbers.next().filter(|_| self.turns.is_some()) {
            match numbers.next_back() {
                Some(last) => label.push_str(&format!("; here t{first} to t{last}")),
                None => label.push_str(&format!("; here t{first}")),
            }
        }
        label
    }
}

/// The user's settings that an export depends on.
pub(crate) struct ExportContext<'a> {
    /// The prices of responses.
    pub(crate) prices: &'a PriceTable,
    /// Replaces the home folder at the start of a path by `~`.
    pub(crate) format_path: &'a dyn Fn(&str) -> String,
    /// The theme of a page, `light` or `dark`. `None` is that of the system.
    pub(crate) theme: Option<&'static str>,
    /// States which secrets were replaced. `None` if none were.
    pub(crate) masked: Option<String>,
}

/// The cause of an incomplete export.
#[derive(Debug)]
pub(crate) enum ExportError {
    /// The session could not be read.
    Engine(Error),
    /// The output could not be written.
    Io(io::Error),
    /// The output contains secrets of these kinds, so it was not written. `is_redacted` if secrets were replaced before.
    HasSecrets { kinds: BTreeSet<&'static str>, is_redacted: bool },
}

impl From<Error> for ExportError {
    fn from(error: Error) -> ExportError {
        ExportError::Engine(error)
    }
}

impl From<io::Error> for ExportError {
    fn from(error: io::Error) -> ExportError {
        ExportError::Io(error)
    }
}

/// Writes the turns that `options` selects, in the requested format. Returns an error if the session cannot be read
/// or the output cannot be written; the output is then incomplete. Parts that are packed are added to `searched`.
pub(super) fn write_export(
    view: &SessionView,
    options: &ExportOptions,
    context: &ExportContext<'_>,
    searched: Option<&SearchedParts>,
    out: &mut dyn io::Write,
) -> Result<(), ExportError> {
    let branch = view.branch_view_of_turns(&options.selector, options.turns.as_ref())?;
    let detail = options.detail;
    let session = &view.session;
    let folder = session.info.cwd.as_deref().unwrap_or_default();
    match options.format {
        Format::Html => page::write_page(view, &branch, options, context, searched, out),
        Format::Md => {
            let scope = options.scope_label(&branch);
            out.write_all(markdown::format_header(view, &scope, context).as_bytes())?;
            write_turns(view, &branch, options, out, &|turn, out| {
                markdown::write_turn(turn, detail, folder, out)
            })
        }
        Format::Text => {
            let scope = options.scope_label(&branch);
            out.write_all(text::format_header(view, &scope, context).as_bytes())?;
            write_turns(view, &branch, options, out, &|turn, out| text::write_turn(turn, detail, folder, out))
        }
        Format::Json => {
            out.write_all(&json::format_header(
                view,
                branch.turn_count(),
                options.selector == BranchSelector::AllTurns,
                detail,
            )?)?;
            write_turns(view, &branch, options, out, &|turn, out| json::write_turn(&session.id, turn, out))
        }
    }
}

/// Writes a turn to the end of an export.
type TurnFormatter<'a> = &'a (dyn Fn(&ShownTurn, &mut dyn io::Write) -> io::Result<()> + Sync);

/// Writes the turns of a branch in order. Short turns are formatted in parallel. A long one is written while it is formatted,
/// so that its text is in memory only once.
fn write_turns(
    view: &SessionView,
    branch: &BranchView,
    options: &ExportOptions,
    out: &mut dyn io::Write,
    format: TurnFormatter<'_>,
) -> Result<(), ExportError> {
    let write_turn = |turn_idx: usize, out: &mut dyn io::Write| -> Result<(), ExportError> {
        let Some(mut shown) = view.read_turn(branch, turn_idx)? else { return Ok(()) };
        shown.release_lines();
        if options.only_typed {
            shown.turn.remove_untyped();
        }
        reduce_turn(&mut shown.turn, &mut shown.lines, options.detail);
        Ok(format(&shown, out)?)
    };
    let format_turn = |turn_idx: usize| -> Result<Vec<u8>, ExportError> {
        let mut formatted = Vec::new();
        write_turn(turn_idx, &mut formatted)?;
        Ok(formatted)
    };
    let is_long = |turn_idx: usize| view.turn_bytes(branch, turn_idx) > MAX_PARALLEL_BYTES;
    let mut from = 0;
    while from < branch.turns.len() {
        if is_long(from) {
            write_turn(from, out)?;
            from += 1;
            continue;
        }
        let end = (from + BATCH_TURNS).min(branch.turns.len());
        let to = (from..end).find(|&turn_idx| is_long(turn_idx)).unwrap_or(end);
        let formatted: Vec<_> = (from..to).into_par_iter().map(format_turn).collect();
        for turn in formatted {
            out.write_all(&turn?)?;
        }
        from = to;
    }
    Ok(())
}

/// Builds a file name: up to 60 characters of words of the title, the first 8 letters and digits of the id, and the
/// extension. The stem is `session` if both are empty.
pub(crate) fn build_file_name(title: &str, id: &str, format: Format) -> String {
    let slug = |text: &str, max_len: usize| {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let mut name = String::new();
        for word in words.map(str::to_ascii_lowercase) {
            if name.len() + word.len() + 1 > max_len {
                break;
            }
            name.push_str(if name.is_empty() { "" } else { "-" });
            name.push_str(&word);
        }
        name
    };
    let id: String = id.chars().filter(char::is_ascii_alphanumeric).take(8).collect();
    let parts = [slug(title, 60), id];
    let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    let stem = if parts.is_empty() { "session".to_owned() } else { parts.join("-") };
    format!("{stem}.{}", format.extension())
}

#[cfg(test)]
mod tests {
    use super::{Format, build_file_name};

    #[test]
    fn file_name_contains_only_letters_digits_and_dashes() {
        let cases = [
            ("Fix the login bug", "3f2a11bb-0000", "fix-the-login-bug-3f2a11bb.html"),
            ("../../etc/passwd\r\nX: y", "a/b", "etc-passwd-x-y-ab.html"),
            ("\u{202e}漢字", "", "session.html"),
            ("", "..", "session.html"),
        ];
        for (title, id, name) in cases {
            assert_eq!(build_file_name(title, id, Format::Html), name);
        }
        assert!(build_file_name(&"word ".repeat(100), "3f2a", Format::Md).len() < 80);
    }

    #[test]
    fn format_is_derived_from_the_extension() {
        for format in [Format::Html, Format::Md, Format::Json, Format::Text] {
            assert_eq!(Format::from_extension(format.extension()), Some(format));
        }
        assert_eq!(Format::from_extension("HTM"), Some(Format::Html));
        assert_eq!(Format::from_extension("pdf"), None);
    }
}
