//! Reads a file once, in pieces, and shows every entry; reads single lines again by their place.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use rethread_core::entry::{self, Entry, EntryRole, LineStatus, Reader, Timestamp};
use rethread_core::lines::{Line, LineSplitter, LineTruncator};
use rethread_core::problem::{Problem, ProblemKind};
use rethread_core::tree::LineSpan;

use super::open::open;

/// Bytes read at a time: small enough to stay in the nearer caches between the copy and the skim. Measured: pieces of
/// 256 kB cost three times the system time of these.
const PIECE: usize = 64 << 10;
/// A line longer than this is condensed.
const LONGEST: usize = 8 << 20;

thread_local! {
    /// The piece of the file at hand and the reader's memory: one per thread, because a store is thousands of small
    /// files.
    static SCRATCH: Cell<Option<(Vec<u8>, Reader)>> = const { Cell::new(None) };
}

/// What the scan shows.
pub(crate) enum ScanEvent<'e, 'a> {
    /// An entry; whether its line is one sound object.
    Entry(&'e Entry<'a>, LineSpan, bool),
    /// What became of the line that was shown before.
    Line(LineStatus),
}

/// What a scan found out beside the entries.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    pub(crate) bytes: u64,
    /// Lines that are not blank.
    pub(crate) lines: usize,
    pub(crate) problems: Vec<Problem>,
}

/// Reads the file at `path` from start to end.
pub(crate) fn scan(path: &Path, each: impl FnMut(ScanEvent<'_, '_>)) -> io::Result<Scan> {
    let mut kept = SCRATCH.take().unwrap_or_default();
    let scan = scan_with(&mut kept.0, &mut kept.1, path, each);
    SCRATCH.set(Some(kept));
    scan
}

/// Reads the first lines of the file at `path`, as far as one piece holds them.
pub(crate) fn scan_head(path: &Path, mut each: impl FnMut(ScanEvent<'_, '_>)) -> io::Result<Scan> {
    let mut bytes = Vec::with_capacity(PIECE);
    open(path)?.take(PIECE as u64).read_to_end(&mut bytes)?;
    let whole = bytes.len() < PIECE;
    if !whole && memchr::memchr(b'\n', &bytes).is_none() {
        return self::scan(path, each);
    }
    let mut scan = Scan { bytes: bytes.len() as u64, ..Scan::default() };
    let mut reader = Reader::default();
    let lines = &mut scan.lines;
    LineSplitter::default().feed(&bytes, whole, &mut scan.problems, |line, problems| {
        *lines += 1;
        show(&mut reader, &line, line.bytes.len(), problems, &mut each);
    });
    Ok(scan)
}

fn scan_with(
    buffer: &mut Vec<u8>,
    reader: &mut Reader,
    path: &Path,
    mut each: impl FnMut(ScanEvent<'_, '_>),
) -> io::Result<Scan> {
    let mut lines = |line: &Line<'_>, len: usize, condensed: bool, problems: &mut Vec<Problem>| {
        let reader = if condensed { &mut Reader::default() } else { &mut *reader };
        show(reader, line, len, problems, &mut each);
    };
    pass(&mut open(path)?, buffer, &mut LineSplitter::default(), &mut lines)
}

/// Reads a file in pieces from where it stands and shows every line that is not blank, with its length and whether it had
/// to be condensed.
fn pass(
    file: &mut impl Read,
    buffer: &mut Vec<u8>,
    splitter: &mut LineSplitter,
    each: &mut impl FnMut(&Line<'_>, usize, bool, &mut Vec<Problem>),
) -> io::Result<Scan> {
    let mut scan = Scan::default();
    buffer.resize(2 * PIECE, 0);
    let mut held = 0;
    loop {
        if held == buffer.len() {
            if held >= LONGEST {
                held = condense(file, buffer, splitter, &mut scan, each)?;
                continue;
            }
            buffer.resize(buffer.len() * 2, 0);
        }
        let end = buffer.len().min(held + PIECE);
        let read = retry(|| file.read(&mut buffer[held..end]))?;
        scan.bytes += read as u64;
        held += read;
        if read > 0 && memchr::memchr(b'\n', &buffer[held - read..held]).is_none() {
            // In the middle of a long line: look again when there is an end of one.
            continue;
        }
        let lines = &mut scan.lines;
        let done = splitter.feed(&buffer[..held], read == 0, &mut scan.problems, |line, problems| {
            *lines += 1;
            each(&line, line.bytes.len(), false, problems);
        });
        if read == 0 {
            return Ok(scan);
        }
        buffer.copy_within(done..held, 0);
        held -= done;
    }
}

/// Reads some lines of a file, behind `lines` others, and shows the entries of those that are `worth` it, those of damaged
/// lines marked as salvaged; a line too long to hold is read whole after all. Returns how many lines there are up to the end.
pub(crate) fn scan_part(
    path: &Path,
    bytes: Range<u64>,
    lines: u32,
    worth: impl FnMut(&[u8]) -> bool,
    each: impl FnMut(&Entry<'_>, LineSpan),
) -> io::Result<u32> {
    scan_range(&|| true, path, bytes, lines, worth, each)
}

/// Reads from a file for as long as somebody waits for it; then the time is out.
struct CancellableReader<'w, R>(R, &'w dyn Fn() -> bool);

impl<R: Read> Read for CancellableReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if (self.1)() { self.0.read(buffer) } else { Err(io::ErrorKind::TimedOut.into()) }
    }
}

/// Reads some lines of a file as [`scan_part`] does, and fails as soon as it is not to `go_on`: asked for every piece.
pub(crate) fn scan_range(
    go_on: &dyn Fn() -> bool,
    path: &Path,
    bytes: Range<u64>,
    lines: u32,
    mut worth: impl FnMut(&[u8]) -> bool,
    mut each: impl FnMut(&Entry<'_>, LineSpan),
) -> io::Result<u32> {
    let (mut buffer, mut reader) = SCRATCH.take().unwrap_or_default();
    let mut file = open(path)?;
    file.seek(SeekFrom::Start(bytes.start))?;
    let mut splitter = LineSplitter::starting_after(bytes.start, lines);
    let mut part = CancellableReader(file.take(bytes.end - bytes.start), go_on);
    let mut failed = None;
    let scanned = pass(&mut part, &mut buffer, &mut splitter, &mut |line, len, condensed, problems| {
        let mut show = |entry: Entry<'_>, offset, bytes: &[u8]| {
            let place =
                LineSpan { offset, len: u32::try_from(entry.raw.len()).unwrap_or(u32::MAX), line: line.no };
            let whole = entry.raw.len() == bytes.len() && entry.is_strict_json();
            each(&if whole { entry } else { entry.mark_recovered() }, place);
        };
        if condensed {
            let place =
                LineSpan { offset: line.offset, len: u32::try_from(len).unwrap_or(u32::MAX), line: line.no };
            match LineReader::open(path).and_then(|mut lines| lines.read(place)) {
                Ok(bytes) => {
                    let line = Line { bytes: &bytes, ..*line };
                    entry::read(&line, problems, |entry, offset| show(entry, offset, &bytes));
                }
                Err(error) => failed = Some(error),
            }
        } else if worth(line.bytes) {
            reader.read(line, problems, |entry, offset| show(entry, offset, line.bytes));
        }
    });
    SCRATCH.set(Some((buffer, reader)));
    scanned?;
    failed.map_or(Ok(splitter.lines()), Err)
}

fn retry(mut read: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match read() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

fn show(
    reader: &mut Reader,
    line: &Line<'_>,
    len: usize,
    problems: &mut Vec<Problem>,
    each: &mut impl FnMut(ScanEvent<'_, '_>),
) {
    let fate = reader.read(line, problems, |entry, offset| {
        let whole = entry.raw.len() == line.bytes.len() && entry.is_strict_json();
        let len = if whole { len } else { entry.raw.len() };
        let place = LineSpan { offset, len: u32::try_from(len).unwrap_or(u32::MAX), line: line.no };
        each(ScanEvent::Entry(&entry, place, whole));
    });
    each(ScanEvent::Line(fate));
}

/// Reads the rest of a line that does not fit, shortened; the buffer holds its beginning and, afterwards, what
/// follows it. Returns how much that is.
fn condense(
    file: &mut impl Read,
    buffer: &mut Vec<u8>,
    splitter: &mut LineSplitter,
    scan: &mut Scan,
    each: &mut impl FnMut(&Line<'_>, usize, bool, &mut Vec<Problem>),
) -> io::Result<usize> {
    let mut condenser = LineTruncator::default();
    condenser.feed(buffer);
    let mut taken = buffer.len();
    buffer.truncate(PIECE);
    buffer.shrink_to_fit();
    loop {
        let read = retry(|| file.read(buffer))?;
        scan.bytes += read as u64;
        let end = memchr::memchr(b'\n', &buffer[..read]);
        let piece = end.unwrap_or(read);
        condenser.feed(&buffer[..piece]);
        taken += piece + usize::from(end.is_some());
        if end.is_none() && read > 0 {
            continue;
        }
        let (kept, len) = condenser.finish();
        let kept = kept.unwrap_or_else(|| {
            let kind = ProblemKind::TooLong(len);
            scan.problems.push(Problem { line: splitter.lines() + 1, offset: splitter.offset(), kind });
            b"?".to_vec()
        });
        let open = read == 0;
        if let Some(line) = splitter.line(&kept, taken, open, &mut scan.problems) {
            scan.lines += 1;
            each(&line, len as usize, true, &mut scan.problems);
        }
        let rest = if read == 0 { 0 } else { read - piece - 1 };
        buffer.copy_within(read - rest..read, 0);
        return Ok(rest);
    }
}

/// Reads single lines again.
#[derive(Debug)]
pub(crate) struct LineReader {
    file: File,
}

impl LineReader {
    pub(crate) fn open(path: &Path) -> io::Result<LineReader> {
        Ok(LineReader { file: open(path)? })
    }

    /// Reads the bytes at a place.
    pub(crate) fn read(&mut self, place: LineSpan) -> io::Result<Vec<u8>> {
        self.file.seek(SeekFrom::Start(place.offset))?;
        let mut bytes = vec![0; place.len as usize];
        self.file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// Returns the latest moment at which somebody spoke, from the last lines of a file, and whether a program and not a
/// person wrote them.
pub(crate) fn last_message_time(path: &Path) -> io::Result<Option<(Timestamp, bool)>> {
    let mut file = open(path)?;
    let len = file.metadata()?.len();
    let mut tail = 128 << 10;
    loop {
        file.seek(SeekFrom::Start(len.saturating_sub(tail)))?;
        let mut bytes = Vec::new();
        (&mut file).take(tail).read_to_end(&mut bytes)?;
        let found = last_spoken(&bytes);
        // A last line may be longer than any tail: look further back until somebody speaks.
        if found.is_some() || tail >= len {
            return Ok(found);
        }
        tail *= 4;
    }
}

fn last_spoken(bytes: &[u8]) -> Option<(Timestamp, bool)> {
    let mut latest = None;
    let mut headless = true;
    let mut problems = Vec::new();
    LineSplitter::default().feed(bytes, true, &mut problems, |line, problems| {
        entry::read(&line, problems, |entry, _| {
            let voices = [EntryRole::Prompt, EntryRole::ImageOnly, EntryRole::Answer, EntryRole::Results];
            let speaks = entry.uuid.is_some() && voices.contains(&entry.voice());
            latest = latest.max(entry.time().filter(|_| speaks));
            headless &= !speaks || entry.entrypoint.is_some_and(|how| how.raw().starts_with(b"sdk"));
        });
    });
    latest.map(|moment| (moment, headless))
}
