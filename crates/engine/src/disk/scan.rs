//! Reads a session file in chunks and calls a visitor for every entry. Reads single lines again by their span.

use std::cell::Cell;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use rethread_core::entry::{self, Entry, EntryRole, LineStatus, Reader, Timestamp};
use rethread_core::lines::{Line, LineSplitter, LineTruncator};
use rethread_core::problem::{Problem, ProblemKind};
use rethread_core::tree::LineSpan;

use super::file_content::{FileContent, open_content};

/// Bytes per read: small enough to stay in the L1/L2 caches between the copy and the parser. Measured: chunks of 256 kB
/// cost three times the system time.
const CHUNK_BYTES: usize = 64 << 10;
/// Lines longer than this are truncated.
const MAX_LINE_BYTES: usize = 8 << 20;

thread_local! {
    /// The read buffer and the parser with its caches, one per thread: a store has thousands of small files.
    static SCRATCH: Cell<Option<(Vec<u8>, Reader)>> = const { Cell::new(None) };
}

/// An event passed to the visitor of a scan.
pub(crate) enum ScanEvent<'e, 'a> {
    /// An entry, its span, and whether its line is exactly one strict JSON object.
    Entry(&'e Entry<'a>, LineSpan, bool),
    /// The status of a line, after the events of its entries.
    Line(LineStatus),
}

/// The totals of a scan.
#[derive(Debug, Default)]
pub(crate) struct ScanReport {
    /// The number of bytes read.
    pub(crate) bytes: u64,
    /// The number of lines that are not blank.
    pub(crate) lines: usize,
    /// The number of the last line read, counted from the start of the file with blank lines included.
    pub(crate) last_line: u32,
    pub(crate) problems: Vec<Problem>,
}

/// A predicate on the bytes of a line.
type LineFilter<'a> = &'a dyn Fn(&[u8]) -> bool;

/// Options of [`scan`]. The default reads the whole file.
#[derive(Default)]
pub(crate) struct ScanOptions<'a> {
    /// The part of the file to read. `None` reads the whole file.
    pub(crate) range: Option<ScanRange>,
    /// Reads only the lines in the first 64 kB, or the whole file if they contain no complete line.
    pub(crate) head_only: bool,
    /// Reads long lines in full instead of truncating them, and marks entries of damaged lines as recovered.
    pub(crate) exact: bool,
    /// Skips lines for which this returns `false`. Long lines are never skipped.
    pub(crate) line_filter: Option<LineFilter<'a>>,
    /// Checked before every chunk. The scan fails with `TimedOut` when it returns `true`.
    pub(crate) is_cancelled: Option<&'a dyn Fn() -> bool>,
}

/// A part of a file that starts at the beginning of a line.
#[derive(Debug, Clone)]
pub(crate) struct ScanRange {
    pub(crate) bytes: Range<u64>,
    /// The number of lines before it.
    pub(crate) lines_before: u32,
}

impl<'a> ScanOptions<'a> {
    /// Returns options that read only the lines in the first 64 kB.
    pub(crate) fn head() -> ScanOptions<'a> {
        ScanOptions { head_only: true, ..ScanOptions::default() }
    }

    /// Returns options that read a byte range of the file with `exact` set. `lines_before` lines precede the range.
    pub(crate) fn exact_range(bytes: Range<u64>, lines_before: u32) -> ScanOptions<'a> {
        ScanOptions { range: Some(ScanRange { bytes, lines_before }), exact: true, ..ScanOptions::default() }
    }

    /// Skips lines for which `filter` returns `false`.
    pub(crate) fn with_filter(self, filter: &'a dyn Fn(&[u8]) -> bool) -> ScanOptions<'a> {
        ScanOptions { line_filter: Some(filter), ..self }
    }

    /// Stops as soon as `is_cancelled` returns `true`.
    pub(crate) fn with_cancel(self, is_cancelled: &'a dyn Fn() -> bool) -> ScanOptions<'a> {
        ScanOptions { is_cancelled: Some(is_cancelled), ..self }
    }
}

/// Reads the file at `path` and calls `visit` for every entry and every line.
pub(crate) fn scan(
    path: &Path,
    options: &ScanOptions<'_>,
    mut visit: impl FnMut(ScanEvent<'_, '_>),
) -> io::Result<ScanReport> {
    if options.head_only
        && let Some(report) = scan_head(path, &mut visit)?
    {
        return Ok(report);
    }
    let mut file = open_content(path)?;
    let range = options.range.clone().unwrap_or(ScanRange { bytes: 0..u64::MAX, lines_before: 0 });
    if range.bytes.start > 0 {
        file.seek(SeekFrom::Start(range.bytes.start))?;
    }
    let file = file.take(range.bytes.end.saturating_sub(range.bytes.start));
    let mut file = CancellableReader { file, is_cancelled: options.is_cancelled };
    let mut splitter = LineSplitter::starting_after(range.bytes.start, range.lines_before);
    let (mut buffer, mut reader) = SCRATCH.take().unwrap_or_default();
    let mut failed = None;
    let scanned = read_lines(&mut file, &mut buffer, &mut splitter, &mut |line, len, truncated, problems| {
        if !truncated {
            if options.line_filter.is_none_or(|filter| filter(line.bytes)) {
                visit_line(&mut reader, line, len, options.exact, problems, &mut visit);
            }
            return;
        }
        let mut reader = Reader::default();
        if !options.exact {
            return visit_line(&mut reader, line, len, false, problems, &mut visit);
        }
        let span = span_at(line, line.offset, len);
        match LineReader::open(path).and_then(|mut lines| lines.read_span(span)) {
            Ok(bytes) => {
                let line = Line { bytes: &bytes, ..*line };
                visit_line(&mut reader, &line, len, true, problems, &mut visit);
            }
            Err(error) => failed = Some(error),
        }
    });
    SCRATCH.set(Some((buffer, reader)));
    let report = ScanReport { last_line: splitter.line_count(), ..scanned? };
    failed.map_or(Ok(report), Err)
}

/// Reads content that may be in no file and calls `visit` for every entry and every line, as [`scan`] does by default.
pub(crate) fn scan_content(
    content: &mut impl Read,
    mut visit: impl FnMut(ScanEvent<'_, '_>),
) -> io::Result<ScanReport> {
    let mut splitter = LineSplitter::default();
    let (mut buffer, mut reader) = SCRATCH.take().unwrap_or_default();
    let scanned = read_lines(content, &mut buffer, &mut splitter, &mut |line, len, truncated, problems| {
        if truncated {
            visit_line(&mut Reader::default(), line, len, false, problems, &mut visit);
        } else {
            visit_line(&mut reader, line, len, false, problems, &mut visit);
        }
    });
    SCRATCH.set(Some((buffer, reader)));
    Ok(ScanReport { last_line: splitter.line_count(), ..scanned? })
}

/// Reads the lines in the first chunk. Returns `None` if the file is longer and the chunk contains no complete line.
fn scan_head(path: &Path, visit: &mut impl FnMut(ScanEvent<'_, '_>)) -> io::Result<Option<ScanReport>> {
    let mut bytes = Vec::with_capacity(CHUNK_BYTES);
    open_content(path)?.take(CHUNK_BYTES as u64).read_to_end(&mut bytes)?;
    let is_whole_file = bytes.len() < CHUNK_BYTES;
    if !is_whole_file && memchr::memchr(b'\n', &bytes).is_none() {
        return Ok(None);
    }
    let mut report = ScanReport { bytes: bytes.len() as u64, ..ScanReport::default() };
    let mut reader = Reader::default();
    let mut splitter = LineSplitter::default();
    let lines = &mut report.lines;
    splitter.feed(&bytes, is_whole_file, &mut report.problems, |line, problems| {
        *lines += 1;
        visit_line(&mut reader, &line, line.bytes.len(), false, problems, visit);
    });
    report.last_line = splitter.line_count();
    Ok(Some(report))
}

/// Reads a file in chunks from its current position and calls `each` for every line that is not blank, with its length
/// in the file and whether it was truncated.
fn read_lines(
    file: &mut impl Read,
    buffer: &mut Vec<u8>,
    splitter: &mut LineSplitter,
    each: &mut impl FnMut(&Line<'_>, usize, bool, &mut Vec<Problem>),
) -> io::Result<ScanReport> {
    let mut report = ScanReport::default();
    buffer.resize(2 * CHUNK_BYTES, 0);
    let mut filled = 0;
    loop {
        if filled == buffer.len() {
            if filled >= MAX_LINE_BYTES {
                filled = read_long_line(file, buffer, splitter, &mut report, each)?;
                continue;
            }
            buffer.resize(buffer.len() * 2, 0);
        }
        let end = buffer.len().min(filled + CHUNK_BYTES);
        let read = retry_interrupted(|| file.read(&mut buffer[filled..end]))?;
        report.bytes += read as u64;
        filled += read;
        if read > 0 && memchr::memchr(b'\n', &buffer[filled - read..filled]).is_none() {
            // In the middle of a long line: read on until a chunk contains a line end.
            continue;
        }
        let lines = &mut report.lines;
        let consumed = splitter.feed(&buffer[..filled], read == 0, &mut report.problems, |line, problems| {
            *lines += 1;
            each(&line, line.bytes.len(), false, problems);
        });
        if read == 0 {
            return Ok(report);
        }
        buffer.copy_within(consumed..filled, 0);
        filled -= consumed;
    }
}

/// Reads from a file until the scan is cancelled.
struct CancellableReader<'c, R> {
    file: R,
    is_cancelled: Option<&'c dyn Fn() -> bool>,
}

impl<R: Read> Read for CancellableReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_cancelled.is_some_and(|is_cancelled| is_cancelled()) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.file.read(buffer)
    }
}

/// Calls `read` until it is not interrupted by a signal.
fn retry_interrupted(mut read: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match read() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Parses a line and calls `visit` for its entries and its status. `len` is the length of the line in the file. With
/// `mark_recovered`, entries of damaged lines are marked as recovered.
fn visit_line(
    reader: &mut Reader,
    line: &Line<'_>,
    len: usize,
    mark_recovered: bool,
    problems: &mut Vec<Problem>,
    visit: &mut impl FnMut(ScanEvent<'_, '_>),
) {
    let status = reader.read_line(line, problems, |entry, offset| {
        let is_whole = entry.raw.len() == line.bytes.len() && entry.is_strict_json();
        let span = span_at(line, offset, if is_whole { len } else { entry.raw.len() });
        let entry = if mark_recovered && !is_whole { entry.mark_recovered() } else { entry };
        visit(ScanEvent::Entry(&entry, span, is_whole));
    });
    visit(ScanEvent::Line(status));
}

fn span_at(line: &Line<'_>, offset: u64, len: usize) -> LineSpan {
    LineSpan { offset, len: u32::try_from(len).unwrap_or(u32::MAX), line: line.number }
}

/// Reads the rest of a line that exceeds [`MAX_LINE_BYTES`] and truncates it. On entry `buffer` contains the start of
/// the line, on return the bytes after it. Returns the number of those bytes.
fn read_long_line(
    file: &mut impl Read,
    buffer: &mut Vec<u8>,
    splitter: &mut LineSplitter,
    report: &mut ScanReport,
    each: &mut impl FnMut(&Line<'_>, usize, bool, &mut Vec<Problem>),
) -> io::Result<usize> {
    let mut truncator = LineTruncator::default();
    truncator.feed(buffer);
    let mut consumed = buffer.len();
    buffer.truncate(CHUNK_BYTES);
    buffer.shrink_to_fit();
    loop {
        let read = retry_interrupted(|| file.read(buffer))?;
        report.bytes += read as u64;
        let line_end = memchr::memchr(b'\n', &buffer[..read]);
        let in_line = line_end.unwrap_or(read);
        truncator.feed(&buffer[..in_line]);
        consumed += in_line + usize::from(line_end.is_some());
        if line_end.is_none() && read > 0 {
            continue;
        }
        let (truncated, len) = truncator.finish();
        let truncated = truncated.unwrap_or_else(|| {
            let kind = ProblemKind::TooLong(len);
            report.problems.push(Problem {
                line: splitter.line_count() + 1,
                offset: splitter.offset(),
                kind,
            });
            b"?".to_vec()
        });
        let is_unterminated = read == 0;
        if let Some(line) = splitter.push_line(&truncated, consumed, is_unterminated, &mut report.problems) {
            report.lines += 1;
            each(&line, len as usize, true, &mut report.problems);
        }
        let rest = if read == 0 { 0 } else { read - in_line - 1 };
        buffer.copy_within(read - rest..read, 0);
        return Ok(rest);
    }
}

/// Reads single lines of a file by their spans.
#[derive(Debug)]
pub(crate) struct LineReader {
    file: FileContent,
}

impl LineReader {
    pub(crate) fn open(path: &Path) -> io::Result<LineReader> {
        Ok(LineReader { file: open_content(path)? })
    }

    /// Reads the bytes of a span. Returns an error if the file is shorter.
    pub(crate) fn read_span(&mut self, span: LineSpan) -> io::Result<Vec<u8>> {
        self.file.seek(SeekFrom::Start(span.offset))?;
        let mut bytes = vec![0; span.len as usize];
        self.file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

impl LineReader {
    /// Reads the bytes of a span like [`LineReader::read_span`], but truncates the strings of a long line.
    ///
    /// Returns the bytes of a short line unchanged. For previews, which need the start of each string.
    pub(crate) fn read_truncated(&mut self, span: LineSpan) -> io::Result<Vec<u8>> {
        if span.len as usize <= MAX_LINE_BYTES {
            return self.read_span(span);
        }
        self.file.seek(SeekFrom::Start(span.offset))?;
        let mut line = (&mut self.file).take(u64::from(span.len));
        let mut truncator = LineTruncator::default();
        let mut buffer = vec![0; CHUNK_BYTES];
        loop {
            let read = retry_interrupted(|| line.read(&mut buffer))?;
            if read == 0 {
                break;
            }
            truncator.feed(&buffer[..read]);
        }
        match truncator.finish() {
            (_, len) if len < u64::from(span.len) => Err(io::ErrorKind::UnexpectedEof.into()),
            (Some(truncated), _) => Ok(truncated),
            (None, _) => self.read_span(span),
        }
    }
}

/// Returns the time of the latest message in the last lines of a file, and whether they were written without a user
/// (`claude -p` or an SDK). Returns `None` if the file contains no message with a time.
pub(crate) fn read_last_message_time(path: &Path) -> io::Result<Option<(Timestamp, bool)>> {
    let mut file = open_content(path)?;
    let len = file.len()?;
    let mut tail_len = 128 << 10;
    loop {
        file.seek(SeekFrom::Start(len.saturating_sub(tail_len)))?;
        let mut bytes = Vec::new();
        (&mut file).take(tail_len).read_to_end(&mut bytes)?;
        let last_message = find_last_message(&bytes);
        // The last line may be longer than any tail: read further back until a message is found.
        if last_message.is_some() || tail_len >= len {
            return Ok(last_message);
        }
        tail_len *= 4;
    }
}

/// Returns the time of the latest message in `bytes`, and whether all messages were written without a user. Returns
/// `None` if no message has a time.
fn find_last_message(bytes: &[u8]) -> Option<(Timestamp, bool)> {
    let mut latest = None;
    let mut is_headless = true;
    let mut problems = Vec::new();
    LineSplitter::default().feed(bytes, true, &mut problems, |line, problems| {
        entry::read_line(&line, problems, |entry, _| {
            let roles = [EntryRole::Prompt, EntryRole::ImageOnly, EntryRole::Answer, EntryRole::Results];
            let is_message = entry.uuid.is_some() && roles.contains(&entry.role());
            latest = latest.max(entry.time().filter(|_| is_message));
            is_headless &= !is_message
                || entry.entrypoint.is_some_and(|entrypoint| entrypoint.raw().starts_with(b"sdk"));
        });
    });
    latest.map(|time| (time, is_headless))
}
