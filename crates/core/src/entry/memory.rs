//! What one line has in common with the line before it.
//!
//! Lines of one file repeat the same folder, session, version and branch, and the lines of one response the same
//! usage. The reader remembers those bytes; where they stand again, one comparison takes the place of a dozen
//! members. What comes out is the same with and without a memory: a law in the tests.

use std::ops::Range;

use super::json::Skim;
use super::key::Habit;
use super::record::Entry;
use super::text::Text;
use super::usage::Usage;

/// The members that stay the same from line to line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
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
pub(crate) struct Memory {
    pub(crate) frame: Frame,
    pub(crate) top: Habit,
    pub(crate) inner: Inner,
}

impl Memory {
    /// Makes a memory that learns the order of keys.
    pub(crate) fn learning() -> Memory {
        let mut memory = Memory { top: Habit::learning(), ..Memory::default() };
        let inner = &mut memory.inner;
        (inner.message, inner.block, inner.usage) = (Habit::learning(), Habit::learning(), Habit::learning());
        memory
    }
}

/// What it remembers of the objects inside a line.
#[derive(Debug, Default)]
pub(crate) struct Inner {
    pub(crate) message: Habit,
    pub(crate) block: Habit,
    pub(crate) usage: Habit,
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
pub(crate) struct Frame {
    run: Vec<u8>,
    fields: Vec<(Framing, Range<usize>)>,
    /// The run of the line at hand: where it starts and ends so far.
    noted: Range<usize>,
    noted_fields: Vec<(Framing, Range<usize>)>,
}

impl Frame {
    /// Starts on a new line.
    #[inline]
    pub(crate) fn start(&mut self) {
        self.noted = 0..0;
    }

    /// Takes the whole run at the member at hand, if it is the one of the line before.
    #[inline]
    pub(crate) fn recall<'a>(&self, skim: &mut Skim<'a>, entry: &mut Entry<'a>) -> bool {
        let Some(run) = skim.skip_known(skim.key_at, &self.run) else {
            return false;
        };
        for (field, at) in &self.fields {
            set(entry, *field, Text::new(&run[at.clone()]));
        }
        true
    }

    /// Notes a member that is a plain text; members of a run follow each other without a gap.
    pub(crate) fn note(&mut self, field: Framing, key_at: usize, text: Range<usize>) {
        if field == Framing::UserType {
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
    pub(crate) fn recall(&self, skim: &mut Skim<'_>) -> Option<(Usage, bool)> {
        skim.skip_known(skim.at(), &self.bytes)?;
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
pub(crate) fn set<'a>(entry: &mut Entry<'a>, field: Framing, text: Text<'a>) {
    let text = Some(text).filter(|text| !text.is_empty());
    match field {
        Framing::UserType => {}
        Framing::Entrypoint => entry.entrypoint = text,
        Framing::Cwd => entry.cwd = text,
        Framing::Session => entry.session = text,
        Framing::Version => entry.version = text,
        Framing::GitBranch => entry.git_branch = text,
        Framing::Slug => entry.slug = text,
    }
}
