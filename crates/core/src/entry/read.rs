//! A line into entries: as it stands, or what can be salvaged from it.

use std::borrow::Cow;

use super::json::JsonError;
use super::json_str::JsonStr;
use super::kind::Kind;
use super::reader_cache::ReaderCache;
use super::record::{Entry, Flags};
use super::skim;
use crate::lines::Line;
use crate::problem::{Problem, ProblemKind};

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineStatus {
    /// One object, as it should be.
    Whole,
    /// No single object, but so many entries could be read from it.
    Salvaged(u32),
    /// Nothing could be read.
    Lost,
}

/// How many starts of a record are tried in a damaged line.
const TRIES: usize = 16;

/// Nesting past which a line is told as odd; what a usual JSON parser refuses.
const DEEP: u32 = 127;

/// Reads line after line of a file and remembers what they have in common.
#[derive(Debug)]
pub struct Reader {
    memory: ReaderCache,
}

impl Default for Reader {
    fn default() -> Self {
        Reader { memory: ReaderCache::learning() }
    }
}

impl Reader {
    /// Reads the entries of a line: usually one. `each` gets them with the offset of their bytes.
    #[inline]
    pub fn read<'a>(
        &mut self,
        line: &Line<'a>,
        problems: &mut Vec<Problem>,
        each: impl FnMut(Entry<'a>, u64),
    ) -> LineStatus {
        read_with(&mut self.memory, line, problems, each)
    }
}

/// Reads the entries of a single line.
pub fn read<'a>(
    line: &Line<'a>,
    problems: &mut Vec<Problem>,
    each: impl FnMut(Entry<'a>, u64),
) -> LineStatus {
    read_with(&mut ReaderCache::default(), line, problems, each)
}

fn read_with<'a>(
    memory: &mut ReaderCache,
    line: &Line<'a>,
    problems: &mut Vec<Problem>,
    mut each: impl FnMut(Entry<'a>, u64),
) -> LineStatus {
    let mut tell = ProblemReporter { line: line.no, offset: line.offset, nuls: false, problems };
    let mut entry = Entry::default();
    match skim::object(line.bytes, memory, &mut entry) {
        Ok(end) if end == line.bytes.len() => {
            let clean = check_entry(&entry, &mut tell);
            each(entry, line.offset);
            if clean { LineStatus::Whole } else { LineStatus::Salvaged(1) }
        }
        first => salvage(line, &mut tell, first.err(), each),
    }
}

struct ProblemReporter<'p> {
    line: u32,
    offset: u64,
    /// Whether the line's NULs were told.
    nuls: bool,
    problems: &'p mut Vec<Problem>,
}

impl ProblemReporter<'_> {
    fn again(&mut self) -> ProblemReporter<'_> {
        ProblemReporter { line: self.line, offset: self.offset, nuls: self.nuls, problems: self.problems }
    }

    /// Tells of bytes between records, unless they are only filler.
    fn gap(&mut self, bytes: &[u8], at: usize, torn: bool) {
        if bytes.iter().any(|b| !matches!(b, 0 | b' ' | b'\t' | b'\r')) {
            self.tell(at, if torn { ProblemKind::Torn } else { ProblemKind::Damaged(bytes.len() as u64) });
        }
    }

    fn tell(&mut self, at: usize, kind: ProblemKind) {
        self.problems.push(Problem { line: self.line, offset: self.offset + at as u64, kind });
    }
}

/// Looks at what the skimmer let pass; whether the object is JSON as every parser takes it.
fn check_entry(entry: &Entry<'_>, tell: &mut ProblemReporter<'_>) -> bool {
    if entry.depth > DEEP {
        tell.tell(0, ProblemKind::Deep(entry.depth));
    }
    if entry.is(Flags::BAD_COUNT) {
        tell.tell(0, ProblemKind::BadCount);
    }
    if let Some(stamp) = entry.timestamp
        && stamp != b"null"
        && entry.time().is_none()
    {
        tell.tell(0, ProblemKind::BadTimestamp);
    }
    if entry.is(Flags::SURROGATES) && JsonStr::new(entry.raw).has_lone_surrogate() {
        tell.tell(0, ProblemKind::LoneSurrogate);
    }
    if simdutf8::basic::from_utf8(entry.raw).is_err() {
        let valid = std::str::from_utf8(entry.raw).map_or_else(|error| error.valid_up_to(), str::len);
        tell.tell(valid, ProblemKind::NotUtf8);
    }
    if let Some(at) = entry.control {
        let nuls = memchr::memchr_iter(0, entry.raw).count() as u64;
        if nuls == 0 {
            tell.tell(at, ProblemKind::ControlBytes);
        } else if !tell.nuls {
            tell.tell(at, ProblemKind::Nuls(nuls));
        }
    }
    entry.control.is_none()
}

/// Reads what it can from a line that is not one object.
fn salvage<'a>(
    line: &Line<'a>,
    tell: &mut ProblemReporter<'_>,
    first: Option<JsonError>,
    mut each: impl FnMut(Entry<'a>, u64),
) -> LineStatus {
    let bytes = line.bytes;
    let nuls = memchr::memchr_iter(0, bytes).count() as u64;
    if let Some(at) = memchr::memchr(0, bytes) {
        tell.tell(at, ProblemKind::Nuls(nuls));
        tell.nuls = true;
    }
    // A whole value that is no object holds no record of its own, whatever is in it.
    if bytes.first().is_some_and(|byte| *byte != b'{') && is_json(bytes) {
        tell.tell(0, ProblemKind::NotObject);
        return LineStatus::Lost;
    }
    let mut found = 0;
    let mut told = 0;
    let mut from = 0;
    for _ in 0..TRIES {
        let Some(start) = memchr::memmem::find(&bytes[from..], b"{\"").map(|k| from + k) else {
            break;
        };
        let mut entry = Entry::default();
        match skim::object(&bytes[start..], &mut ReaderCache::default(), &mut entry) {
            Ok(end) if start == 0 || is_record(&entry) => {
                tell.gap(&bytes[told..start], told, false);
                check_entry(
                    &entry,
                    &mut ProblemReporter { offset: line.offset + start as u64, ..tell.again() },
                );
                each(entry, line.offset + start as u64);
                found += 1;
                told = start + end;
                from = told;
            }
            _ => from = start + 1,
        }
    }
    if found > 0 {
        tell.gap(&bytes[told..], told, line.unterminated);
        if found > 1 {
            tell.tell(0, ProblemKind::Glued(found));
        }
        return LineStatus::Salvaged(found);
    }
    match first {
        Some(bad) if bad.cut && line.unterminated => tell.tell(0, ProblemKind::Torn),
        _ if nuls == bytes.len() as u64 => {}
        _ => tell.tell(0, ProblemKind::NotJson),
    }
    LineStatus::Lost
}

/// Whether an object found inside a damaged line is a record of its own and not a part of another.
fn is_record(entry: &Entry<'_>) -> bool {
    !matches!(entry.kind, Kind::Unknown | Kind::Missing)
        && (entry.session.is_some()
            || entry.uuid.is_some()
            || entry.leaf.is_some()
            || entry.payload.is_some())
}

fn is_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
}

/// Returns the whole text of a raw JSON value: a string decoded, anything else as it stands.
pub fn value_text(value: &[u8]) -> Cow<'_, str> {
    match value {
        [b'"', body @ .., b'"'] => JsonStr::new(body).decode(),
        _ => String::from_utf8_lossy(value),
    }
}
