//! What no index holds, read from the files.

use std::io::ErrorKind;

use rayon::prelude::*;
use rethread_core::entry::Timestamp;
use rethread_core::query::{
    CompiledQuery, EntryContext, Predicate, Scorer, SearchDocBuilder, Sources, TermMatch, Unresolved,
    length_class,
};
use rethread_core::tree::LineSpan;

use super::limit::Deadline;
use crate::Error;
use crate::disk::{FileOwner, SessionFile, read_docs};

/// A part of a file that must be read.
#[derive(Debug, Clone)]
pub(super) struct UnindexedRange {
    /// Which of the files.
    pub(super) file: usize,
    /// From where on, and how many lines stand before.
    pub(super) from: u64,
    pub(super) lines: u32,
    /// Whose the file is, as far as what stands before says.
    pub(super) origin: FileOwner,
    /// The calls that stand before.
    pub(super) cards: SearchDocBuilder,
}

/// An entry that is a hit, but for what is open.
#[derive(Debug, Clone)]
pub(super) struct ScannedCandidate {
    pub(super) file: usize,
    pub(super) place: LineSpan,
    pub(super) time: Option<Timestamp>,
    pub(super) key: u64,
    pub(super) copied: bool,
    pub(super) sources: Sources,
    pub(super) len: u8,
    pub(super) strengths: Vec<Option<TermMatch>>,
    pub(super) open: Unresolved,
}

impl ScannedCandidate {
    /// Says how good it is.
    pub(super) fn score(&self, scale: &Scorer) -> u32 {
        scale.score(&self.strengths, self.sources, self.len)
    }
}

/// What was found in the files.
#[derive(Debug, Default)]
pub(super) struct ScanResult {
    pub(super) entries: Vec<ScannedCandidate>,
    /// For each of the words by which hits are ranked, how many entries hold it.
    pub(super) holding: Vec<usize>,
    pub(super) failures: Vec<Error>,
    /// Whether the time was over before everything was read.
    pub(super) cut: bool,
}

/// Reads parts of files.
pub(super) fn scan(
    meaning: &CompiledQuery,
    files: &[SessionFile],
    parts: Vec<UnindexedRange>,
    limit: &Deadline,
) -> ScanResult {
    let read = |part: UnindexedRange| match limit.is_over() {
        true => ScanResult { cut: true, ..ScanResult::default() },
        false => scan_part(meaning, &files[part.file], part, limit),
    };
    let join = |mut heap: ScanResult, other: ScanResult| {
        heap.entries.extend(other.entries);
        heap.failures.extend(other.failures);
        heap.cut |= other.cut;
        heap.holding.resize(meaning.words().len(), 0);
        heap.holding.iter_mut().zip(other.holding).for_each(|(sum, more)| *sum += more);
        heap
    };
    if parts.len() <= FEW {
        return parts.into_iter().map(read).fold(ScanResult::default(), join);
    }
    parts.into_par_iter().map(read).reduce(ScanResult::default, join)
}

/// For so few parts, threads cost more than they bring.
const FEW: usize = 2;

fn scan_part(
    meaning: &CompiledQuery,
    file: &SessionFile,
    mut part: UnindexedRange,
    limit: &Deadline,
) -> ScanResult {
    let go_on = || !limit.is_over();
    let mut heap = ScanResult { holding: vec![0; meaning.words().len()], ..ScanResult::default() };
    let asks_tool = meaning.asks(|want| matches!(want, Predicate::Tool(_)));
    let asks_project = meaning.asks(|want| matches!(want, Predicate::Project(_)));
    let asks_session = meaning.asks(|want| matches!(want, Predicate::Session(_)));
    if asks_project && part.origin.cwd.is_empty() || asks_session && part.origin.session.is_empty() {
        learn(file, &mut part.origin, &go_on);
    }
    let call = memchr::memmem::Finder::new("tool_use");
    let folder = file.path.parent().map(|folder| folder.to_string_lossy()).unwrap_or_default();
    let setting = EntryContext {
        session: &part.origin.session,
        project: [&part.origin.cwd, &folder],
        agent: file.is_agent(),
        label: None,
    };
    // A call says what tool its result is of, whatever else it says.
    let worth = |line: &[u8]| meaning.may_match(line) || asks_tool && call.find(line).is_some();
    let bytes = part.from..file.len;
    let read = read_docs(&go_on, file, bytes, part.lines, &mut part.cards, worth, |card, place| {
        if !meaning.covers(card) {
            return;
        }
        let strengths = meaning.strengths(card);
        for (count, strength) in heap.holding.iter_mut().zip(&strengths) {
            *count += usize::from(strength.is_some());
        }
        let Some(open) = meaning.evaluate(card, &setting) else { return };
        heap.entries.push(ScannedCandidate {
            file: part.file,
            place,
            time: card.time,
            key: card.key,
            copied: card.copied,
            sources: card.sources,
            len: length_class(card.len),
            strengths,
            open,
        });
    });
    match read {
        Err(error) if error.kind() == ErrorKind::TimedOut && limit.is_over() => heap.cut = true,
        Err(error) => heap.failures.push(Error::reading(&file.path)(error)),
        Ok(_) => {}
    }
    heap
}

/// Finds out whose a file is.
fn learn(file: &SessionFile, origin: &mut FileOwner, go_on: &dyn Fn() -> bool) {
    let mut cards = SearchDocBuilder::default();
    // That it cannot be read is told when it is read for its words.
    let _ = read_docs(go_on, file, 0..file.len, 0, &mut cards, |_| true, |card, _| origin.learn(card));
}
