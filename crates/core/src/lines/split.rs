//! Splits a file, fed in chunks, into lines.

use memchr::memchr;

use crate::problem::{Problem, ProblemKind};

/// A line that is not blank.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// The line number, counted from 1 with blank lines included.
    pub number: u32,
    /// The offset of `bytes` in the file.
    pub offset: u64,
    /// The bytes of the line, without line end, byte order mark and surrounding white space.
    pub bytes: &'a [u8],
    /// Whether no line feed follows, because the file ends here.
    pub unterminated: bool,
}

/// Splits a file into lines and counts lines and bytes.
#[derive(Debug, Default)]
pub struct LineSplitter {
    line_count: u32,
    offset: u64,
    reported_crlf: bool,
}

const BOM: &[u8] = b"\xEF\xBB\xBF";

impl LineSplitter {
    /// Creates a splitter that continues a file at the byte `offset`, after `line_count` lines.
    pub fn starting_after(offset: u64, line_count: u32) -> LineSplitter {
        LineSplitter { line_count, offset, reported_crlf: false }
    }

    /// Calls `each` for every complete line in `bytes` that is not blank. Returns the number of bytes consumed.
    ///
    /// The remaining bytes are the start of an incomplete line. Feed them again followed by more bytes, or with
    /// `is_last` set at the end of the file.
    pub fn feed<'a>(
        &mut self,
        bytes: &'a [u8],
        is_last: bool,
        problems: &mut Vec<Problem>,
        mut each: impl FnMut(Line<'a>, &mut Vec<Problem>),
    ) -> usize {
        let mut consumed = 0;
        while let Some(end) = memchr(b'\n', &bytes[consumed..]) {
            let line = &bytes[consumed..consumed + end];
            if let Some(line) = self.push_line(line, end + 1, false, problems) {
                each(line, problems);
            }
            consumed += end + 1;
        }
        if is_last && consumed < bytes.len() {
            let line = &bytes[consumed..];
            if let Some(line) = self.push_line(line, line.len(), true, problems) {
                each(line, problems);
            }
            consumed = bytes.len();
        }
        consumed
    }

    /// Counts a line, trims it, and reports a byte order mark or CR LF. Returns `None` if the line is blank.
    ///
    /// `bytes` is the line without its line feed, `consumed` its number of bytes in the file with the line feed.
    pub fn push_line<'a>(
        &mut self,
        bytes: &'a [u8],
        consumed: usize,
        unterminated: bool,
        problems: &mut Vec<Problem>,
    ) -> Option<Line<'a>> {
        self.line_count = self.line_count.saturating_add(1);
        let start = self.offset;
        self.offset += consumed as u64;
        let mut body = bytes;
        if start == 0
            && let Some(rest) = body.strip_prefix(BOM)
        {
            problems.push(Problem { line: self.line_count, offset: 0, kind: ProblemKind::Bom });
            body = rest;
        }
        if let Some(rest) = body.strip_suffix(b"\r") {
            if !self.reported_crlf {
                self.reported_crlf = true;
                let offset = start + (bytes.len() - 1) as u64;
                problems.push(Problem { line: self.line_count, offset, kind: ProblemKind::CrLf });
            }
            body = rest;
        }
        let trimmed = body.trim_ascii();
        if trimmed.is_empty() {
            return None;
        }
        // The offset is that of the first byte of the trimmed line.
        let indent = body.len() - body.trim_ascii_start().len();
        let bom_len = if start == 0 && bytes.starts_with(BOM) { BOM.len() } else { 0 };
        Some(Line {
            number: self.line_count,
            offset: start + (bom_len + indent) as u64,
            bytes: trimmed,
            unterminated,
        })
    }

    /// Returns the byte offset in the file at which the next line starts.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the number of lines consumed so far, blank ones included.
    pub fn line_count(&self) -> u32 {
        self.line_count
    }
}
