//! Splits a file, fed in pieces, into lines.

use memchr::memchr;

use crate::problem::{Problem, ProblemKind};

/// One line that is not blank.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// Counted from 1, blank lines included.
    pub no: u32,
    /// Where its bytes start in the file.
    pub offset: u64,
    /// Its bytes, without line end, byte order mark and outer white space.
    pub bytes: &'a [u8],
    /// Whether the file ends before the line does.
    pub unterminated: bool,
}

/// Counts lines and bytes while a file is fed to it.
#[derive(Debug, Default)]
pub struct LineSplitter {
    no: u32,
    offset: u64,
    crlf: bool,
}

const BOM: &[u8] = b"\xEF\xBB\xBF";

impl LineSplitter {
    /// Begins behind `lines` lines, which end at `offset`.
    pub fn starting_after(offset: u64, lines: u32) -> LineSplitter {
        LineSplitter { no: lines, offset, crlf: false }
    }

    /// Calls `each` for every line in `bytes`; returns how many bytes are done with.
    ///
    /// What is left is the start of an unfinished line: feed it again with more behind it, or with `last` set
    /// where the file ends.
    pub fn feed<'a>(
        &mut self,
        bytes: &'a [u8],
        last: bool,
        problems: &mut Vec<Problem>,
        mut each: impl FnMut(Line<'a>, &mut Vec<Problem>),
    ) -> usize {
        let mut done = 0;
        while let Some(end) = memchr(b'\n', &bytes[done..]) {
            let line = &bytes[done..done + end];
            if let Some(line) = self.line(line, end + 1, false, problems) {
                each(line, problems);
            }
            done += end + 1;
        }
        if last && done < bytes.len() {
            let line = &bytes[done..];
            if let Some(line) = self.line(line, line.len(), true, problems) {
                each(line, problems);
            }
            done = bytes.len();
        }
        done
    }

    /// Counts a line that was read elsewhere: `taken` bytes with its line end.
    pub fn line<'a>(
        &mut self,
        bytes: &'a [u8],
        taken: usize,
        open: bool,
        problems: &mut Vec<Problem>,
    ) -> Option<Line<'a>> {
        self.no = self.no.saturating_add(1);
        let start = self.offset;
        self.offset += taken as u64;
        let mut body = bytes;
        if start == 0
            && let Some(rest) = body.strip_prefix(BOM)
        {
            problems.push(Problem { line: self.no, offset: 0, kind: ProblemKind::Bom });
            body = rest;
        }
        if let Some(rest) = body.strip_suffix(b"\r") {
            if !self.crlf {
                self.crlf = true;
                let offset = start + (bytes.len() - 1) as u64;
                problems.push(Problem { line: self.no, offset, kind: ProblemKind::CrLf });
            }
            body = rest;
        }
        let trimmed = body.trim_ascii();
        if trimmed.is_empty() {
            return None;
        }
        // The offset is that of the first byte of the trimmed line.
        let inner = body.len() - body.trim_ascii_start().len();
        let bom = if start == 0 && bytes.starts_with(BOM) { BOM.len() } else { 0 };
        Some(Line { no: self.no, offset: start + (bom + inner) as u64, bytes: trimmed, unterminated: open })
    }

    /// Returns where the next line starts.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns how many lines there were, blank ones included.
    pub fn lines(&self) -> u32 {
        self.no
    }
}
