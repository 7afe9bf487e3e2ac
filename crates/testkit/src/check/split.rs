//! Splitting: in one piece or many, the same lines at the same places.

use rethread_core::lines::{Line, LineSplitter};
use rethread_core::problem::Problem;

/// Where to cut bytes into pieces: the lengths of the pieces, over and over.
#[derive(Debug, Clone, Copy)]
pub struct Cuts<'c>(pub &'c [usize]);

impl Cuts<'_> {
    /// Returns the pieces of `bytes`; a piece has at least one byte.
    pub(super) fn of<'b>(&self, bytes: &'b [u8]) -> Vec<&'b [u8]> {
        let lengths = self.0.iter().copied().chain(self.0.is_empty().then_some(bytes.len())).cycle();
        let mut rest = bytes;
        let mut pieces = Vec::new();
        for length in lengths {
            if rest.is_empty() {
                break;
            }
            let (piece, more) = rest.split_at(length.clamp(1, rest.len()));
            pieces.push(piece);
            rest = more;
        }
        pieces
    }
}

/// A line without its lifetime.
#[derive(Debug, PartialEq, Eq)]
struct Told {
    no: u32,
    offset: u64,
    bytes: Vec<u8>,
    open: bool,
}

impl Told {
    fn of(line: &Line<'_>) -> Told {
        Told { no: line.no, offset: line.offset, bytes: line.bytes.to_vec(), open: line.unterminated }
    }
}

/// Checks that `bytes` give the same lines at once and in pieces, each where it says it is.
pub fn lines(bytes: &[u8], cuts: Cuts<'_>) {
    let (whole, problems, count) = at_once(bytes);
    assert_eq!(in_pieces(bytes, cuts), (whole, problems, count), "pieces change the lines");
}

fn at_once(bytes: &[u8]) -> (Vec<Told>, Vec<Problem>, u32) {
    let mut splitter = LineSplitter::default();
    let mut problems = Vec::new();
    let mut told = Vec::new();
    let done = splitter.feed(bytes, true, &mut problems, |line, _| told.push(Told::of(&line)));
    assert_eq!(done, bytes.len(), "the last piece is done with whole");

    let breaks = bytes.iter().filter(|&&byte| byte == b'\n').count();
    let open = usize::from(!bytes.is_empty() && !bytes.ends_with(b"\n"));
    assert_eq!(splitter.lines() as usize, breaks + open, "blank lines count");
    let mut end = 0;
    let mut no = 0;
    for line in &told {
        let from = usize::try_from(line.offset).unwrap_or(usize::MAX);
        assert!(from >= end, "lines overlap");
        end = from + line.bytes.len();
        assert_eq!(bytes.get(from..end), Some(&line.bytes[..]), "the bytes at the offset are the line's");
        assert!(line.no > no, "line numbers grow");
        no = line.no;
        let before = bytes[..from].iter().filter(|&&byte| byte == b'\n').count();
        assert_eq!(line.no as usize, before + 1, "line numbers count line breaks");
        assert!(!line.bytes.trim_ascii().is_empty(), "blank lines are no lines");
        assert!(!line.bytes.contains(&b'\n'), "a line has no break");
        assert_eq!(line.open, !bytes[end..].contains(&b'\n'), "only what no break follows is open");
    }
    for problem in &problems {
        assert!(problem.offset < bytes.len() as u64, "problems stand in the file");
        assert!((1..=splitter.lines()).contains(&problem.line), "problems stand on a line");
    }
    // What no line holds is blank: nothing was left out.
    let held: usize = told.iter().map(|line| line.bytes.len()).sum();
    let solid = |bytes: &[u8]| bytes.iter().filter(|byte| !byte.is_ascii_whitespace()).count();
    let inside: usize = told.iter().map(|line| solid(&line.bytes)).sum();
    let mark = if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    assert!(held <= bytes.len());
    assert_eq!(inside + mark, solid(bytes), "every byte that is not blank stands in a line");
    (told, problems, splitter.lines())
}

fn in_pieces(bytes: &[u8], cuts: Cuts<'_>) -> (Vec<Told>, Vec<Problem>, u32) {
    let mut splitter = LineSplitter::default();
    let mut problems = Vec::new();
    let mut told = Vec::new();
    let mut kept: Vec<u8> = Vec::new();
    for piece in cuts.of(bytes) {
        kept.extend_from_slice(piece);
        let done = splitter.feed(&kept, false, &mut problems, |line, _| told.push(Told::of(&line)));
        kept.drain(..done);
    }
    splitter.feed(&kept, true, &mut problems, |line, _| told.push(Told::of(&line)));
    (told, problems, splitter.lines())
}
