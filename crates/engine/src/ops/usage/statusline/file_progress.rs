//! A file that is being written: its sheet, read on from where it was left.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use rethread_core::pack_fields;
use rethread_core::usage::{FileUsage, UsageCollector};
use xxhash_rust::xxh3::Xxh3;

use super::super::store::book_part;
use crate::Error;
use crate::disk::{FileFingerprint, SessionFile, last_line_end, open};

/// How many bytes before the place where a file was left must be as they were, so that it is only read on. All would cost
/// more than to read them; those who rewrite a file move what stands in it, or give it another number.
const TAIL: u64 = 1 << 20;

/// What is known of a file up to the end of a line.
#[derive(Debug, Clone)]
pub(super) struct FileProgress {
    pub(super) path: PathBuf,
    mark: FileFingerprint,
    settled: bool,
    /// How far it was read, in whole lines.
    bytes: u64,
    lines: u32,
    /// The hash of what stands before that.
    tail: u64,
    /// What these lines hold.
    pub(super) sheet: FileUsage,
}

pack_fields!(FileProgress { path, mark, settled, bytes, lines, tail, sheet });

/// A page that is up to date.
pub(super) struct RefreshedFile {
    pub(super) page: FileProgress,
    /// The sheet with a last line that has no end yet, where there is one.
    open: Option<FileUsage>,
    /// How many bytes were read.
    pub(super) read: u64,
    /// Whether it had to be read from the beginning, though something was known of it.
    pub(super) rewritten: bool,
}

impl RefreshedFile {
    /// Returns the sheet of all that stands in the file.
    pub(super) fn sheet(&self) -> &FileUsage {
        self.open.as_ref().unwrap_or(&self.page.sheet)
    }

    /// Returns the path and that sheet.
    pub(super) fn into_sheet(self) -> (PathBuf, FileUsage) {
        (self.page.path, self.open.unwrap_or(self.page.sheet))
    }
}

impl FileProgress {
    /// Whether it is the page of a file, by whatever path that was found.
    pub(super) fn is_of(&self, file: &SessionFile) -> bool {
        self.path == file.path || self.mark.is_same_inode(&file.mark)
    }

    /// Brings what is known of a file up to date; one that has changed is only read on with `trust`.
    pub(super) fn refresh(
        file: &SessionFile,
        known: Option<FileProgress>,
        trust: bool,
    ) -> Result<RefreshedFile, Error> {
        let same = |page: &FileProgress| page.settled && page.mark == file.mark && page.bytes == file.len;
        let known = match known {
            Some(page) if same(&page) => {
                return Ok(RefreshedFile { page, open: None, read: 0, rewritten: false });
            }
            known => known,
        };
        let was_known = known.is_some();
        let grown = known.filter(|page| {
            let is_same = page.mark.is_same_file(&file.mark) && page.bytes <= file.len;
            trust && is_same && tail(&file.path, page.bytes).is_ok_and(|tail| tail == page.tail)
        });
        let rewritten = trust && was_known && grown.is_none();
        let (booking, from, lines) = match grown {
            Some(page) => (UsageCollector::resume(page.sheet), page.bytes, page.lines),
            None => (UsageCollector::without_tools(file.id(), file.session().unwrap_or_default()), 0, 0),
        };
        let end = last_line_end(&file.path, file.len).map_err(Error::reading(&file.path))?.max(from);
        let (booking, lines) = book_part(file, booking, from..end, lines)?;
        let sheet = booking.finish();
        let open = if end < file.len {
            let (booking, _) = book_part(file, UsageCollector::resume(sheet.clone()), end..file.len, lines)?;
            Some(booking.finish())
        } else {
            None
        };
        let page = FileProgress {
            path: file.path.clone(),
            mark: file.mark,
            settled: file.settled,
            bytes: end,
            lines,
            tail: tail(&file.path, end).map_err(Error::reading(&file.path))?,
            sheet,
        };
        Ok(RefreshedFile { page, open, read: file.len - from, rewritten })
    }
}

/// Hashes what stands before a place in a file.
fn tail(path: &Path, end: u64) -> io::Result<u64> {
    let mut file = open(path)?;
    let from = end.saturating_sub(TAIL);
    file.seek(SeekFrom::Start(from))?;
    let mut part = file.take(end - from);
    let mut hasher = Xxh3::new();
    let mut buffer = vec![0; 64 << 10];
    let mut hashed = 0;
    loop {
        let read = part.read(&mut buffer)?;
        if read == 0 {
            // A file that has become shorter meanwhile is not as it was.
            return if hashed == end - from {
                Ok(hasher.digest())
            } else {
                Err(io::ErrorKind::UnexpectedEof.into())
            };
        }
        hasher.update(&buffer[..read]);
        hashed += read as u64;
    }
}
