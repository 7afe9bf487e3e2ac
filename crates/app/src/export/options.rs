//! What is asked for, and who writes it.

use std::io;

use rayon::prelude::*;
use rethread_engine::Error;
use rethread_engine::core::usage::Prices;
use rethread_engine::ops::{BranchSelector, BranchView, SessionView, ToldTurn};

use super::detail::{Detail, reduce};
use super::{json, markdown, page, text};

/// Turns that are told at once.
const BATCH: usize = 128;

/// The form of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// One page that needs nothing else
    Html,
    /// GitHub-flavoured markdown
    Md,
    /// JSON Lines
    Json,
    /// Plain text
    Text,
}

impl Format {
    /// Returns how files of it end.
    pub(crate) fn ending(self) -> &'static str {
        match self {
            Format::Html => "html",
            Format::Md => "md",
            Format::Json => "jsonl",
            Format::Text => "txt",
        }
    }

    /// Returns its media type.
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Format::Html => "text/html; charset=utf-8",
            Format::Md => "text/markdown; charset=utf-8",
            Format::Json => "application/jsonl; charset=utf-8",
            Format::Text => "text/plain; charset=utf-8",
        }
    }

    /// Says which form a file of this name has.
    pub(crate) fn of_ending(ending: &str) -> Option<Format> {
        match ending.to_ascii_lowercase().as_str() {
            "html" | "htm" => Some(Format::Html),
            "md" | "markdown" => Some(Format::Md),
            "json" | "jsonl" | "ndjson" => Some(Format::Json),
            "txt" | "text" => Some(Format::Text),
            _ => None,
        }
    }

    /// Returns how much it tells where nobody says.
    pub(crate) fn detail(self) -> Detail {
        match self {
            Format::Html | Format::Json => Detail::Everything,
            Format::Md | Format::Text => Detail::Answers,
        }
    }
}

/// What is asked for.
#[derive(Debug, Clone)]
pub(crate) struct ExportOptions {
    /// In which form.
    pub(crate) format: Format,
    /// How much of it.
    pub(crate) detail: Detail,
    /// Which turns.
    pub(crate) which: BranchSelector,
}

/// What an export must be told beside the session.
pub(crate) struct ExportContext<'a> {
    /// What responses cost.
    pub(crate) prices: &'a Prices,
    /// Writes a path with `~`.
    pub(crate) tilde: &'a dyn Fn(&str) -> String,
}

/// Why an export did not come to its end.
#[derive(Debug)]
pub(crate) enum ExportError {
    /// The session could not be told.
    Failure(Error),
    /// It could not be written.
    Io(io::Error),
}

impl From<Error> for ExportError {
    fn from(failure: Error) -> ExportError {
        ExportError::Failure(failure)
    }
}

impl From<io::Error> for ExportError {
    fn from(error: io::Error) -> ExportError {
        ExportError::Io(error)
    }
}

/// Writes a session as it is ordered.
pub(crate) fn write(
    reading: &SessionView,
    order: &ExportOptions,
    around: &ExportContext<'_>,
    out: &mut dyn io::Write,
) -> Result<(), ExportError> {
    let way = reading.way(&order.which)?;
    let detail = order.detail;
    let session = &reading.session;
    let folder = session.sketch.cwd.as_deref().unwrap_or_default();
    match order.format {
        Format::Html => page::write(reading, &way, order, around, out),
        Format::Md => {
            out.write_all(markdown::head(reading, around).as_bytes())?;
            turns(reading, &way, detail, out, |told| Ok(markdown::turn(told, detail, folder).into_bytes()))
        }
        Format::Text => {
            out.write_all(text::head(reading, around).as_bytes())?;
            turns(reading, &way, detail, out, |told| Ok(text::turn(told, detail, folder).into_bytes()))
        }
        Format::Json => {
            out.write_all(&json::head(
                reading,
                way.turns(),
                order.which == BranchSelector::Everything,
                detail,
            )?)?;
            turns(reading, &way, detail, out, |told| json::turn(&session.id, told))
        }
    }
}

/// Tells the turns of a way in parallel, and writes them in order.
fn turns(
    reading: &SessionView,
    way: &BranchView,
    detail: Detail,
    out: &mut dyn io::Write,
    draw: impl Fn(&ToldTurn) -> io::Result<Vec<u8>> + Sync,
) -> Result<(), ExportError> {
    let one = |stop: usize| -> Result<Vec<u8>, ExportError> {
        let Some(mut told) = reading.turn(way, stop)? else { return Ok(Vec::new()) };
        reduce(&mut told.turn, &mut told.raw, detail);
        Ok(draw(&told)?)
    };
    for from in (0..way.stops.len()).step_by(BATCH) {
        let to = (from + BATCH).min(way.stops.len());
        let drawn: Vec<_> = (from..to).into_par_iter().map(one).collect();
        for piece in drawn {
            out.write_all(&piece?)?;
        }
    }
    Ok(())
}

/// Makes the name of a file of a title: letters and digits of the title, and the beginning of the id.
pub(crate) fn file_name(title: &str, id: &str, format: Format) -> String {
    let plain = |text: &str, most: usize| {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let mut name = String::new();
        for word in words.map(str::to_ascii_lowercase) {
            if name.len() + word.len() + 1 > most {
                break;
            }
            name.push_str(if name.is_empty() { "" } else { "-" });
            name.push_str(&word);
        }
        name
    };
    let id: String = id.chars().filter(char::is_ascii_alphanumeric).take(8).collect();
    let parts = [plain(title, 60), id];
    let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    let stem = if parts.is_empty() { "session".to_owned() } else { parts.join("-") };
    format!("{stem}.{}", format.ending())
}

#[cfg(test)]
mod tests {
    use super::{Format, file_name};

    #[test]
    fn a_name_holds_only_letters_digits_and_dashes() {
        let cases = [
            ("Fix the login bug", "3f2a11bb-0000", "fix-the-login-bug-3f2a11bb.html"),
            ("../../etc/passwd\r\nX: y", "a/b", "etc-passwd-x-y-ab.html"),
            ("\u{202e}漢字", "", "session.html"),
            ("", "..", "session.html"),
        ];
        for (title, id, name) in cases {
            assert_eq!(file_name(title, id, Format::Html), name);
        }
        assert!(file_name(&"word ".repeat(100), "3f2a", Format::Md).len() < 80);
    }

    #[test]
    fn a_file_knows_its_form_by_its_ending() {
        for format in [Format::Html, Format::Md, Format::Json, Format::Text] {
            assert_eq!(Format::of_ending(format.ending()), Some(format));
        }
        assert_eq!(Format::of_ending("HTM"), Some(Format::Html));
        assert_eq!(Format::of_ending("pdf"), None);
    }
}
