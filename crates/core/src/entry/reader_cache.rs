//! A cache of the parts that a line shares with the previous line.
//!
//! Lines of one file repeat the same directory, session, version and branch, and the lines of one response repeat the
//! same usage. The reader keeps those bytes. If they occur again, one comparison replaces parsing a dozen members.
//! The result is the same with and without the cache; a test checks this.

use std::ops::Range;

use super::json::JsonScanner;
use super::json_str::JsonStr;
use super::key::KeyPredictor;
use super::record::Entry;
use super::usage::Usage;

/// The fields that usually stay the same from line to line.
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

/// State that the reader keeps from earlier lines.
#[derive(Debug, Default)]
pub(crate) struct ReaderCache {
    pub(crate) envelope: EnvelopeCache,
    pub(crate) top_keys: KeyPredictor,
    pub(crate) nested: NestedCache,
}

impl ReaderCache {
    /// Creates a cache that learns the order of keys.
    pub(crate) fn with_learning() -> ReaderCache {
        let mut cache = ReaderCache { top_keys: KeyPredictor::with_learning(), ..ReaderCache::default() };
        let nested = &mut cache.nested;
        (nested.message, nested.block, nested.usage) =
            (KeyPredictor::with_learning(), KeyPredictor::with_learning(), KeyPredictor::with_learning());
        cache
    }
}

/// The part of the cache for objects nested in a line.
#[derive(Debug, Default)]
pub(crate) struct NestedCache {
    pub(crate) message: KeyPredictor,
    pub(crate) block: KeyPredictor,
    pub(crate) usage: KeyPredictor,
    pub(crate) last_usage: LastUsage,
}

/// The last well-formed usage object.
#[derive(Debug, Default)]
pub(crate) struct LastUsage {
    bytes: Vec<u8>,
    /// The token counts, and whether the response was made in fast mode.
    value: (Usage, bool),
    /// The nesting depth of the object.
    depth: usize,
}

/// The bytes of a run of envelope fields on the previous line, and the ranges of the fields in them.
#[derive(Debug, Default)]
pub(crate) struct EnvelopeCache {
    bytes: Vec<u8>,
    fields: Vec<(EnvelopeField, Range<usize>)>,
    /// The span of the run on the current line, as far as it was read.
    pending: Range<usize>,
    pending_fields: Vec<(EnvelopeField, Range<usize>)>,
}

impl EnvelopeCache {
    /// Starts a new line.
    #[inline]
    pub(crate) fn start_line(&mut self) {
        self.pending = 0..0;
    }

    /// Skips a run of fields that equals the stored one, and sets the fields of `entry`. Returns `true` if it did.
    ///
    /// Returns `false` if the bytes at the current member differ from the stored run, or if none is stored.
    #[inline]
    pub(crate) fn reuse<'a>(&self, scanner: &mut JsonScanner<'a>, entry: &mut Entry<'a>) -> bool {
        let Some(bytes) = scanner.skip_if_equal(scanner.key_start, &self.bytes) else {
            return false;
        };
        for (field, at) in &self.fields {
            set_envelope_field(entry, *field, JsonStr::new(&bytes[at.clone()]));
        }
        true
    }

    /// Adds a string field to the run of the current line. `text` is the span of the string body.
    ///
    /// A run starts at `userType`. Fields that do not follow the run without a gap are ignored.
    pub(crate) fn add_field(&mut self, field: EnvelopeField, key_start: usize, text: Range<usize>) {
        if field == EnvelopeField::UserType {
            self.pending = key_start..key_start;
            self.pending_fields.clear();
        } else if self.pending.is_empty() || key_start != self.pending.end + 1 {
            return;
        }
        self.pending.end = text.end + 1;
        let start = self.pending.start;
        self.pending_fields.push((field, text.start - start..text.end - start));
    }

    /// Stores the run of the current line for the next one. Call it only for lines without control bytes and surrogates.
    pub(crate) fn store(&mut self, bytes: &[u8]) {
        if !self.pending.is_empty() {
            self.bytes.clear();
            self.bytes.extend_from_slice(&bytes[self.pending.clone()]);
            std::mem::swap(&mut self.fields, &mut self.pending_fields);
        }
    }
}

impl LastUsage {
    /// Skips a usage object that equals the stored one. Returns its token counts, and whether it is of fast mode.
    ///
    /// Returns `None` if the bytes differ or no usage object is stored.
    #[inline]
    pub(crate) fn reuse(&self, scanner: &mut JsonScanner<'_>) -> Option<(Usage, bool)> {
        scanner.skip_if_equal(scanner.position(), &self.bytes)?;
        scanner.depth = scanner.depth.max(self.depth);
        Some(self.value)
    }

    /// Stores a usage object: its bytes, its token counts with the fast-mode flag, and its nesting depth.
    ///
    /// It must not contain bad counts, control bytes or surrogates.
    pub(crate) fn store(&mut self, bytes: &[u8], usage: (Usage, bool), depth: usize) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.value = usage;
        self.depth = depth;
    }
}

/// Sets an envelope field of the entry. Empty strings count as missing.
#[inline]
pub(crate) fn set_envelope_field<'a>(entry: &mut Entry<'a>, field: EnvelopeField, text: JsonStr<'a>) {
    let text = Some(text).filter(|text| !text.is_empty());
    match field {
        EnvelopeField::UserType => {}
        EnvelopeField::Entrypoint => entry.entrypoint = text,
        EnvelopeField::Cwd => entry.cwd = text,
        EnvelopeField::Session => entry.session_id = text,
        EnvelopeField::Version => entry.version = text,
        EnvelopeField::GitBranch => entry.git_branch = text,
        EnvelopeField::Slug => entry.slug = text,
    }
}
