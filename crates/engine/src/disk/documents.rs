//! Reads a file as a search sees it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use rethread_core::entry::Entry;
use rethread_core::pack_fields;
use rethread_core::query::{SearchDoc, SearchDocBuilder};
use rethread_core::tree::LineSpan;

use super::find::{FileRole, SessionFile};
use super::open::open;
use super::scan::scan_range;

/// Bytes that are read of a large result.
const LARGEST: u64 = 64 << 20;

/// Whose a file is, by the first of its lines that say so.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FileOwner {
    /// The session that it belongs to.
    pub(crate) session: String,
    /// The folder it was started in.
    pub(crate) cwd: String,
}

pack_fields!(FileOwner { session, cwd });

impl FileOwner {
    /// Takes what the path says.
    pub(crate) fn of(file: &SessionFile) -> FileOwner {
        FileOwner { session: file.session().unwrap_or_default().to_owned(), cwd: String::new() }
    }

    /// Takes what the next line says, where nothing is known yet.
    pub(crate) fn learn(&mut self, card: &SearchDoc<'_>) {
        for (known, said) in [(&mut self.session, &card.session), (&mut self.cwd, &card.cwd)] {
            if known.is_empty() {
                known.push_str(said.as_deref().unwrap_or_default());
            }
        }
    }
}

/// Shows the cards of some lines of a file, behind `lines` others, passing over lines that are not `worth` a look. Returns
/// how many lines there are up to the end; fails as soon as it is not to `go_on`.
pub(crate) fn read_docs(
    go_on: &dyn Fn() -> bool,
    file: &SessionFile,
    bytes: Range<u64>,
    lines: u32,
    cards: &mut SearchDocBuilder,
    worth: impl FnMut(&[u8]) -> bool,
    mut each: impl FnMut(&SearchDoc<'_>, LineSpan),
) -> io::Result<u32> {
    if let FileRole::Result { .. } = file.role {
        let text = read_text(&file.path, bytes.end)?;
        let place = LineSpan { offset: 0, len: u32::try_from(bytes.end).unwrap_or(u32::MAX), line: 1 };
        if let Some(card) = SearchDoc::of_result(&text, file.mark.moment(), &file.path.to_string_lossy()) {
            each(&card, place);
        }
        return Ok(1);
    }
    let show = |entry: &Entry<'_>, place: LineSpan| {
        if let Some(card) = cards.card(entry) {
            each(&card, place);
        }
    };
    scan_range(go_on, &file.path, bytes, lines, worth, show)
}

/// Reads the first `len` bytes of a file that holds nothing but text.
pub(crate) fn read_text(path: &Path, len: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    open(path)?.take(len.min(LARGEST)).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns where the last whole line of the first `len` bytes ends.
pub(crate) fn last_line_end(path: &Path, len: u64) -> io::Result<u64> {
    let mut file: File = open(path)?;
    let mut buffer = vec![0; 64 << 10];
    let mut end = len;
    while end > 0 {
        let from = end.saturating_sub(buffer.len() as u64);
        let piece = &mut buffer[..(end - from) as usize];
        file.seek(SeekFrom::Start(from))?;
        file.read_exact(piece)?;
        if let Some(at) = memchr::memrchr(b'\n', piece) {
            return Ok(from + at as u64 + 1);
        }
        end = from;
    }
    Ok(0)
}
