//! Reads the entries of a line, or recovers what is readable from a damaged one.

use std::borrow::Cow;

use super::json::JsonError;
use super::json_str::JsonStr;
use super::kind::Kind;
use super::reader_cache::ReaderCache;
use super::record::{Entry, Flags};
use super::skim;
use crate::lines::Line;
use crate::problem::{Problem, ProblemKind};

/// How much of a line could be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineStatus {
    /// The line is one strictly valid JSON object.
    Parsed,
    /// The line is damaged, but this number of entries could be read from it.
    Recovered(u32),
    /// No entry could be read: the line is torn, not JSON, not an object, or consists of NUL bytes.
    Unparsable,
}

/// The maximum number of record starts to try in a damaged line.
const MAX_RECORD_STARTS: usize = 16;

/// The nesting depth above which a line is reported: common JSON parsers reject such lines.
const DEPTH_LIMIT: u32 = 127;

/// Reads the lines of a file in order. Caches the parts that consecutive lines have in common.
#[derive(Debug)]
pub struct Reader {
    cache: ReaderCache,
}

impl Default for Reader {
    fn default() -> Self {
        Reader { cache: ReaderCache::with_learning() }
    }
}

impl Reader {
    /// Reads the entries of a line, usually one. Calls `each` with every entry and the offset of its bytes in the file.
    ///
    /// Appends the problems of the line to `problems`.
    #[inline]
    pub fn read_line<'a>(
        &mut self,
        line: &Line<'a>,
        problems: &mut Vec<Problem>,
        each: impl FnMut(Entry<'a>, u64),
    ) -> LineStatus {
        read_line_with(&mut self.cache, line, problems, each)
    }
}

/// Reads the entries of a single line, like [`Reader::read_line`] but without a cache.
pub fn read_line<'a>(
    line: &Line<'a>,
    problems: &mut Vec<Problem>,
    each: impl FnMut(Entry<'a>, u64),
) -> LineStatus {
    read_line_with(&mut ReaderCache::default(), line, problems, each)
}

/// Calls `f` with the first entry in the bytes of one line and returns its result.
///
/// Returns `None` if no entry can be read from the line. Problems are ignored.
pub fn with_entry<T>(bytes: &[u8], f: impl FnOnce(&Entry<'_>) -> T) -> Option<T> {
    let line = Line { number: 1, offset: 0, bytes, unterminated: false };
    let mut f = Some(f);
    let mut result = None;
    read_line(&line, &mut Vec::new(), |entry, _| {
        if let Some(f) = f.take() {
            result = Some(f(&entry));
        }
    });
    result
}

/// Reads a line with the given cache. See [`Reader::read_line`].
fn read_line_with<'a>(
    cache: &mut ReaderCache,
    line: &Line<'a>,
    problems: &mut Vec<Problem>,
    mut each: impl FnMut(Entry<'a>, u64),
) -> LineStatus {
    let mut reporter =
        ProblemReporter { line: line.number, offset: line.offset, nuls_reported: false, problems };
    let mut entry = Entry::default();
    match skim::skim_entry(line.bytes, cache, &mut entry) {
        Ok(end) if end == line.bytes.len() => {
            let is_strict = check_entry(&entry, &mut reporter);
            each(entry, line.offset);
            if is_strict { LineStatus::Parsed } else { LineStatus::Recovered(1) }
        }
        result => recover_entries(line, &mut reporter, result.err(), each),
    }
}

/// Adds problems of one line to a list.
struct ProblemReporter<'p> {
    line: u32,
    /// The file offset that reported positions are relative to.
    offset: u64,
    /// Whether the NUL bytes of the line have been reported.
    nuls_reported: bool,
    problems: &'p mut Vec<Problem>,
}

impl ProblemReporter<'_> {
    fn reborrow(&mut self) -> ProblemReporter<'_> {
        ProblemReporter {
            line: self.line,
            offset: self.offset,
            nuls_reported: self.nuls_reported,
            problems: self.problems,
        }
    }

    /// Reports bytes before, between or after records, unless they are only NULs, spaces, tabs and CRs.
    ///
    /// `at` is their position in the line. `is_torn` is set for the rest of a line without a line feed.
    fn report_gap(&mut self, bytes: &[u8], at: usize, is_torn: bool) {
        if bytes.iter().any(|b| !matches!(b, 0 | b' ' | b'\t' | b'\r')) {
            self.report(
                at,
                if is_torn { ProblemKind::Torn } else { ProblemKind::Damaged(bytes.len() as u64) },
            );
        }
    }

    /// Reports a problem `at` bytes after `offset`.
    fn report(&mut self, at: usize, kind: ProblemKind) {
        self.problems.push(Problem { line: self.line, offset: self.offset + at as u64, kind });
    }
}

/// Reports oddities that the scanner accepts. Returns `true` if the object is strictly valid JSON.
fn check_entry(entry: &Entry<'_>, reporter: &mut ProblemReporter<'_>) -> bool {
    if entry.depth > DEPTH_LIMIT {
        reporter.report(0, ProblemKind::Deep(entry.depth));
    }
    if entry.has_flag(Flags::BAD_COUNT) {
        reporter.report(0, ProblemKind::BadCount);
    }
    if let Some(stamp) = entry.timestamp
        && stamp != b"null"
        && entry.time().is_none()
    {
        reporter.report(0, ProblemKind::BadTimestamp);
    }
    if entry.has_flag(Flags::SURROGATES) && JsonStr::new(entry.raw).has_lone_surrogate() {
        reporter.report(0, ProblemKind::LoneSurrogate);
    }
    if simdutf8::basic::from_utf8(entry.raw).is_err() {
        let valid_len = std::str::from_utf8(entry.raw).map_or_else(|error| error.valid_up_to(), str::len);
        reporter.report(valid_len, ProblemKind::NotUtf8);
    }
    if let Some(at) = entry.control_byte {
        let nul_count = memchr::memchr_iter(0, entry.raw).count() as u64;
        if nul_count == 0 {
            reporter.report(at, ProblemKind::ControlBytes);
        } else if !reporter.nuls_reported {
            reporter.report(at, ProblemKind::Nuls(nul_count));
        }
    }
    entry.control_byte.is_none()
}

/// Recovers entries from a line that is not exactly one object, by trying at most 16 positions of `{"`.
///
/// `error` is the syntax error of the whole line. It is `None` if bytes follow the first object.
fn recover_entries<'a>(
    line: &Line<'a>,
    reporter: &mut ProblemReporter<'_>,
    error: Option<JsonError>,
    mut each: impl FnMut(Entry<'a>, u64),
) -> LineStatus {
    let bytes = line.bytes;
    let nul_count = memchr::memchr_iter(0, bytes).count() as u64;
    if let Some(at) = memchr::memchr(0, bytes) {
        reporter.report(at, ProblemKind::Nuls(nul_count));
        reporter.nuls_reported = true;
    }
    // A JSON value that is not an object contains no record of its own.
    if bytes.first().is_some_and(|byte| *byte != b'{') && is_json(bytes) {
        reporter.report(0, ProblemKind::NotObject);
        return LineStatus::Unparsable;
    }
    let mut entry_count = 0;
    let mut recovered_to = 0;
    let mut from = 0;
    for _ in 0..MAX_RECORD_STARTS {
        let Some(start) = memchr::memmem::find(&bytes[from..], b"{\"").map(|found_at| from + found_at) else {
            break;
        };
        let mut entry = Entry::default();
        match skim::skim_entry(&bytes[start..], &mut ReaderCache::default(), &mut entry) {
            Ok(end) if start == 0 || is_record(&entry) => {
                reporter.report_gap(&bytes[recovered_to..start], recovered_to, false);
                check_entry(
                    &entry,
                    &mut ProblemReporter { offset: line.offset + start as u64, ..reporter.reborrow() },
                );
                each(entry, line.offset + start as u64);
                entry_count += 1;
                recovered_to = start + end;
                from = recovered_to;
            }
            _ => from = start + 1,
        }
    }
    if entry_count > 0 {
        reporter.report_gap(&bytes[recovered_to..], recovered_to, line.unterminated);
        if entry_count > 1 {
            reporter.report(0, ProblemKind::Glued(entry_count));
        }
        return LineStatus::Recovered(entry_count);
    }
    match error {
        Some(error) if error.is_truncated && line.unterminated => reporter.report(0, ProblemKind::Torn),
        _ if nul_count == bytes.len() as u64 => {}
        _ => reporter.report(0, ProblemKind::NotJson),
    }
    LineStatus::Unparsable
}

/// Returns `true` if an object in a damaged line is a whole record and not an object nested in one.
///
/// A record has a known type and at least a session id, a uuid, a leaf uuid or a payload.
fn is_record(entry: &Entry<'_>) -> bool {
    !matches!(entry.kind, Kind::Unknown | Kind::Missing)
        && (entry.session_id.is_some()
            || entry.uuid.is_some()
            || entry.leaf_uuid.is_some()
            || entry.payload.is_some())
}

fn is_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
}

/// Returns the text of a raw JSON value: a decoded string, or any other value as written.
pub fn value_text(value: &[u8]) -> Cow<'_, str> {
    match value {
        [b'"', body @ .., b'"'] => JsonStr::new(body).decode(),
        _ => String::from_utf8_lossy(value),
    }
}
