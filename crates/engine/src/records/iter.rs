//! The iterator over the records of a file.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use rethread_core::entry::{Kind, Reader};
use rethread_core::lines::LineSplitter;

use super::types::SessionRecord;
use crate::Error;
use crate::disk::{FileContent, open_content};

/// An iterator over records. It ends after the first read error.
#[derive(Debug)]
pub struct RecordIter {
    path: PathBuf,
    /// The types of the records to return. `None` returns all.
    kinds: Option<Vec<Kind>>,
    /// `None` if the file could not be opened, and after a read error.
    file: Option<BufReader<FileContent>>,
    open_error: Option<Error>,
    splitter: LineSplitter,
    reader: Reader,
    /// Records of the current line: a damaged line may contain several.
    pending: VecDeque<SessionRecord>,
    buffer: Vec<u8>,
}

impl RecordIter {
    /// Opens the file. An error is returned by the first call of `next`.
    pub(super) fn open(path: &Path, kinds: Option<Vec<Kind>>) -> RecordIter {
        let (file, open_error) = match open_content(path) {
            Ok(file) => (Some(BufReader::new(file)), None),
            Err(error) => (None, Some(Error::reading(path)(error))),
        };
        RecordIter {
            path: path.to_owned(),
            kinds,
            file,
            open_error,
            splitter: LineSplitter::default(),
            reader: Reader::default(),
            pending: VecDeque::new(),
            buffer: Vec::new(),
        }
    }

    /// Adds the records of the next line that have one of `kinds` to `pending`, if any. Returns `false` at the end of the
    /// file, or if it is not open.
    fn read_line(&mut self) -> std::io::Result<bool> {
        let Some(file) = &mut self.file else { return Ok(false) };
        self.buffer.clear();
        let len = file.read_until(b'\n', &mut self.buffer)?;
        if len == 0 {
            return Ok(false);
        }
        let body = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
        let unterminated = body.len() == len;
        let mut problems = Vec::new();
        let Some(line) = self.splitter.push_line(body, len, unterminated, &mut problems) else {
            return Ok(true);
        };
        let (kinds, pending) = (&self.kinds, &mut self.pending);
        self.reader.read_line(&line, &mut problems, |entry, _| {
            if kinds.as_ref().is_none_or(|kinds| kinds.contains(&entry.kind)) {
                pending.push_back(SessionRecord::from_entry(&entry, line.number));
            }
        });
        Ok(true)
    }
}

impl Iterator for RecordIter {
    type Item = Result<SessionRecord, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.open_error.take() {
            return Some(Err(error));
        }
        loop {
            if let Some(record) = self.pending.pop_front() {
                return Some(Ok(record));
            }
            match self.read_line() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    self.file = None;
                    return Some(Err(Error::reading(&self.path)(error)));
                }
            }
        }
    }
}
