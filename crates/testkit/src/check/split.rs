//! Lines: splitting at once or in chunks gives the same lines at the same offsets.

use rethread_core::lines::{Line, LineSplitter};
use rethread_core::problem::Problem;

/// The lengths of the chunks to cut bytes into, repeated as needed.
#[derive(Debug, Clone, Copy)]
pub struct ChunkLengths<'c>(pub &'c [usize]);

impl ChunkLengths<'_> {
    /// Cuts `bytes` into chunks of at least one byte.
    pub(super) fn split<'b>(&self, bytes: &'b [u8]) -> Vec<&'b [u8]> {
        let lengths = self.0.iter().copied().chain(self.0.is_empty().then_some(bytes.len())).cycle();
        let mut rest = bytes;
        let mut chunks = Vec::new();
        for length in lengths {
            if rest.is_empty() {
                break;
            }
            let (chunk, more) = rest.split_at(length.clamp(1, rest.len()));
            chunks.push(chunk);
            rest = more;
        }
        chunks
    }
}

/// A line that owns its bytes.
#[derive(Debug, PartialEq, Eq)]
struct OwnedLine {
    number: u32,
    offset: u64,
    bytes: Vec<u8>,
    unterminated: bool,
}

impl OwnedLine {
    fn new(line: &Line<'_>) -> OwnedLine {
        OwnedLine {
            number: line.number,
            offset: line.offset,
            bytes: line.bytes.to_vec(),
            unterminated: line.unterminated,
        }
    }
}

/// Checks that `bytes` give the same lines at once and in chunks, each at its offset.
pub fn lines(bytes: &[u8], chunk_lengths: ChunkLengths<'_>) {
    let (whole, problems, count) = split_at_once(bytes);
    assert_eq!(split_in_chunks(bytes, chunk_lengths), (whole, problems, count), "chunks change the lines");
}

fn split_at_once(bytes: &[u8]) -> (Vec<OwnedLine>, Vec<Problem>, u32) {
    let mut splitter = LineSplitter::default();
    let mut problems = Vec::new();
    let mut lines = Vec::new();
    let consumed = splitter.feed(bytes, true, &mut problems, |line, _| lines.push(OwnedLine::new(&line)));
    assert_eq!(consumed, bytes.len(), "the last chunk is consumed completely");

    let breaks = bytes.iter().filter(|&&byte| byte == b'\n').count();
    let unterminated = usize::from(!bytes.is_empty() && !bytes.ends_with(b"\n"));
    assert_eq!(splitter.line_count() as usize, breaks + unterminated, "blank lines count");
    let mut end = 0;
    let mut last_number = 0;
    for line in &lines {
        let from = usize::try_from(line.offset).unwrap_or(usize::MAX);
        assert!(from >= end, "lines overlap");
        end = from + line.bytes.len();
        assert_eq!(bytes.get(from..end), Some(&line.bytes[..]), "the bytes at the offset are the line's");
        assert!(line.number > last_number, "line numbers grow");
        last_number = line.number;
        let before = bytes[..from].iter().filter(|&&byte| byte == b'\n').count();
        assert_eq!(line.number as usize, before + 1, "line numbers count line breaks");
        assert!(!line.bytes.trim_ascii().is_empty(), "blank lines are skipped");
        assert!(!line.bytes.contains(&b'\n'), "a line contains no line feed");
        assert_eq!(
            line.unterminated,
            !bytes[end..].contains(&b'\n'),
            "a line is unterminated if no line feed follows"
        );
    }
    for problem in &problems {
        assert!(problem.offset < bytes.len() as u64, "problems are within the file");
        assert!((1..=splitter.line_count()).contains(&problem.line), "problems have a line number");
    }
    // Bytes outside of lines are blank: no line was skipped.
    let line_bytes: usize = lines.iter().map(|line| line.bytes.len()).sum();
    let count_nonblank = |bytes: &[u8]| bytes.iter().filter(|byte| !byte.is_ascii_whitespace()).count();
    let nonblank: usize = lines.iter().map(|line| count_nonblank(&line.bytes)).sum();
    let bom_len = if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    assert!(line_bytes <= bytes.len());
    assert_eq!(nonblank + bom_len, count_nonblank(bytes), "every byte that is not blank is in a line");
    (lines, problems, splitter.line_count())
}

fn split_in_chunks(bytes: &[u8], chunk_lengths: ChunkLengths<'_>) -> (Vec<OwnedLine>, Vec<Problem>, u32) {
    let mut splitter = LineSplitter::default();
    let mut problems = Vec::new();
    let mut lines = Vec::new();
    let mut buffer: Vec<u8> = Vec::new();
    for chunk in chunk_lengths.split(bytes) {
        buffer.extend_from_slice(chunk);
        let consumed =
            splitter.feed(&buffer, false, &mut problems, |line, _| lines.push(OwnedLine::new(&line)));
        buffer.drain(..consumed);
    }
    splitter.feed(&buffer, true, &mut problems, |line, _| lines.push(OwnedLine::new(&line)));
    (lines, problems, splitter.line_count())
}
