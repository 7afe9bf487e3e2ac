//! What one line has in common with the line before it.
//!
//! Lines of one file repeat the same folder, session, version and branch, and the lines of one response the same
//! usage. The reader remembers those bytes; where they stand again, one comparison takes the place of a dozen
//! members. What comes out is the same with and without a memory: a law in the tests.

use std::ops::Range;

use super::json::JsonScanner;
use super::json_str::JsonStr;
use super::key::KeyPredictor;
use super::record::Entry;
use super::usage::Usage;

/// The members that stay the same from line to line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EnvelopeField {
    UserType,
    Entrypoint,
    Cwd,
    Session,
    Version,
    GitBranch,
    Slug,
}

/// What the reader remembers of the lines before.
#[derive(Debug, Default)]
pub(crate) struct ReaderCache {
    pub(crate) frame: EnvelopeCache,
    pub(crate) top: KeyPredictor,
    pub(crate) inner: NestedCache,
}

impl ReaderCache {
    /// Makes a memory that learns the order of keys.
    pub(crate) fn learning() -> ReaderCache {
        let mut memory = ReaderCache { top: KeyPredictor::learning(), ..ReaderCache::default() };
        let inner = &mut memory.inner;
        (inner.message, inner.block, inner.usage) =
            (KeyPredictor::learning(), KeyPredictor::learning(), KeyPredictor::learning());
        memory
    }
}

/// What it remembers of the objects inside a line.
#[derive(Debug, Default)]
pub(crate) struct NestedCache {
    pub(crate) message: KeyPredictor,
    pub(crate) block: KeyPredictor,
    pub(crate) usage: KeyPredictor,
    pub(crate) last_usage: LastUsage,
}

/// The usage object of the line before.
#[derive(Debug, Default)]
pub(crate) struct LastUsage {
    bytes: Vec<u8>,
    value: (Usage, bool),
    /// How deep its values are nested.
    depth: usize,
}

/// Bytes of the line before, with what they mean.
#[derive(Debug, Default)]
pub(crate) struct EnvelopeCache {
    run: Vec<u8>,
    fields: Vec<(EnvelopeField, Range<usize>)>,
    /// The run of the line at hand: where it starts and ends so far.
    noted: Range<usize>,
    noted_fields: Vec<(EnvelopeField, Range<usize>)>,
}

impl EnvelopeCache {
    /// Starts on a new line.
    #[inline]
    pub(crate) fn start(&mut self) {
        self.noted = 0..0;
    }

    /// Takes the whole run at the member at hand, if it is the one of the line before.
    #[inline]
    pub(crate) fn recall<'a>(&self, skim: &mut JsonScanner<'a>, entry: &mut Entry<'a>) -> bool {
        let Some(run) = skim.skip_if_equal(skim.key_at, &self.run) else {
            return false;
        };
        for (field, at) in &self.fields {
            set(entry, *field, JsonStr::new(&run[at.clone()]));
        }
        true
    }

    /// Notes a member that is a plain text; members of a run follow each other without a gap.
    pub(crate) fn note(&mut self, field: EnvelopeField, key_at: usize, text: Range<usize>) {
        if field == EnvelopeField::UserType {
            self.noted = key_at..key_at;
            self.noted_fields.clear();
        } else if self.noted.is_empty() || key_at != self.noted.end + 1 {
            return;
        }
        self.noted.end = text.end + 1;
        let start = self.noted.start;
        self.noted_fields.push((field, text.start - start..text.end - start));
    }

    /// Keeps the run of a line that was in order.
    pub(crate) fn keep(&mut self, bytes: &[u8]) {
        if !self.noted.is_empty() {
            self.run.clear();
            self.run.extend_from_slice(&bytes[self.noted.clone()]);
            std::mem::swap(&mut self.fields, &mut self.noted_fields);
        }
    }
}

impl LastUsage {
    /// Takes a usage object that stood on the line before.
    #[inline]
    pub(crate) fn recall(&self, skim: &mut JsonScanner<'_>) -> Option<(Usage, bool)> {
        skim.skip_if_equal(skim.at(), &self.bytes)?;
        skim.depth = skim.depth.max(self.depth);
        Some(self.value)
    }

    /// Keeps a usage object that was in order.
    pub(crate) fn keep(&mut self, bytes: &[u8], usage: (Usage, bool), depth: usize) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.value = usage;
        self.depth = depth;
    }
}

/// Puts a framing member into the entry.
#[inline]
pub(crate) fn set<'a>(entry: &mut Entry<'a>, field: EnvelopeField, text: JsonStr<'a>) {
    let text = Some(text).filter(|text| !text.is_empty());
    match field {
        EnvelopeField::UserType => {}
        EnvelopeField::Entrypoint => entry.entrypoint = text,
        EnvelopeField::Cwd => entry.cwd = text,
        EnvelopeField::Session => entry.session = text,
        EnvelopeField::Version => entry.version = text,
        EnvelopeField::GitBranch => entry.git_branch = text,
        EnvelopeField::Slug => entry.slug = text,
    }
}
