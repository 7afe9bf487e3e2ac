//! A segment: an immutable file with the posting lists and the columns of some docs. A doc is an indexed entry.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use rethread_core::entry::Timestamp;
use rethread_core::id::Id;
use rethread_core::query::{SearchDoc, SearchDocBuilder, SourceSet, TermKind, Tokenizer, length_class};
use rethread_core::tree::LineSpan;

use super::postings_builder::PostingsBuilder;
use super::term_dictionary::{self, TermDictionary, TermDictionaryWriter};
use super::varint;
use crate::cache::{IndexError, PagedReader, PagedWriter};

// The first sections of the four dictionaries, then the sections of the columns.
pub(crate) const WORDS: usize = 0;
pub(crate) const HEX_TERMS: usize = term_dictionary::SECTIONS;
pub(crate) const SUBWORD_BOUNDARIES: usize = 2 * term_dictionary::SECTIONS;
pub(crate) const FIELDS: usize = 3 * term_dictionary::SECTIONS;
const DOC_INFOS: usize = 4 * term_dictionary::SECTIONS;
const KEYS: usize = DOC_INFOS + 1;
const TIMES: usize = DOC_INFOS + 2;
const SPANS: usize = DOC_INFOS + 3;
const DOC_RANGES: usize = DOC_INFOS + 4;
const CALLS: usize = DOC_INFOS + 5;

/// The prefixes of the terms that hold field values. They identify the field.
pub(crate) mod field {
    pub(in crate::search_index) const TOOL: char = 't';
    pub(in crate::search_index) const FILE: char = 'f';
    pub(in crate::search_index) const MODEL: char = 'm';
    pub(in crate::search_index) const BRANCH: char = 'b';
    pub(in crate::search_index) const PULL_REQUEST: char = 'p';
    pub(in crate::search_index) const ERROR: char = 'e';
    pub(in crate::search_index) const SIDECHAIN: char = 's';
}

/// The number of spans that are read one by one. After that the whole column is read.
const MAX_SINGLE_SPANS: usize = 128;
/// The stored time of a doc without one.
const NO_TIME: i64 = i64::MIN;

/// Properties of a doc that are stored apart from its terms.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DocInfo {
    pub(crate) sources: SourceSet,
    /// The length class of its texts.
    pub(crate) len: u8,
    /// Whether the entry states that it was copied from another session.
    pub(crate) copied: bool,
}

const COPIED: u8 = 0x80;

/// The encoded [`DocInfo`]s of a window.
#[derive(Debug, Default)]
pub(crate) struct DocInfoColumn(Vec<u8>);

impl DocInfoColumn {
    /// Returns the text sources of each doc.
    pub(crate) fn sources(&self) -> impl Iterator<Item = SourceSet> + '_ {
        self.0.as_chunks().0.iter().map(|[sources, _]: &[u8; 2]| SourceSet::from_bits(*sources))
    }

    /// Returns the info of the doc at an index in the window. Returns `None` if the index is out of bounds.
    pub(crate) fn get(&self, idx: usize) -> Option<DocInfo> {
        self.0.as_chunks().0.get(idx).map(|bytes| DocInfo::decode(*bytes))
    }
}

impl DocInfo {
    fn decode([sources, len]: [u8; 2]) -> DocInfo {
        DocInfo { sources: SourceSet::from_bits(sources), len: len & !COPIED, copied: len & COPIED != 0 }
    }
}

/// Consecutive docs of one file in a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DocRange {
    /// The id of the file.
    pub(crate) file: u64,
    /// The first doc.
    pub(crate) first: u32,
    /// The number of docs.
    pub(crate) count: u32,
    /// The byte range of its tool calls in the section of calls.
    calls: Range<u64>,
}

/// Collects docs and writes them as a segment.
#[derive(Default)]
pub(crate) struct SegmentBuilder {
    words: PostingsBuilder,
    hex_terms: PostingsBuilder,
    subword_boundaries: PostingsBuilder,
    fields: PostingsBuilder,
    columns: SegmentColumns,
    tokenizer: Tokenizer,
    field_term: String,
}

/// The columns of a segment, encoded.
#[derive(Default)]
pub(crate) struct SegmentColumns {
    pub(crate) doc_infos: Vec<u8>,
    pub(crate) keys: Vec<u8>,
    pub(crate) times: Vec<u8>,
    pub(crate) spans: Vec<u8>,
    pub(crate) doc_ranges: Vec<DocRange>,
    pub(crate) calls: Vec<u8>,
}

impl SegmentColumns {
    pub(crate) fn doc_count(&self) -> u32 {
        (self.doc_infos.len() / 2) as u32
    }

    /// Writes the sections of the columns.
    pub(crate) fn write(self, out: &mut PagedWriter) -> io::Result<()> {
        let mut doc_ranges = Vec::new();
        for DocRange { file, first, count, calls } in &self.doc_ranges {
            for number in [*file, u64::from(*first), u64::from(*count), calls.start, calls.end] {
                varint::write(&mut doc_ranges, number);
            }
        }
        for section in [self.doc_infos, self.keys, self.times, self.spans, doc_ranges, self.calls] {
            out.start_section();
            out.write(&section)?;
        }
        Ok(())
    }

    /// Starts the docs of the file with this id.
    pub(crate) fn start_file(&mut self, file: u64) {
        let (first, calls) = (self.doc_count(), self.calls.len() as u64);
        self.doc_ranges.push(DocRange { file, first, count: 0, calls: calls..calls });
    }

    /// Ends the docs of the current file and stores its encoded tool calls.
    pub(crate) fn end_file(&mut self, calls: &[u8]) {
        self.calls.extend_from_slice(calls);
        let (count, end) = (self.doc_count(), self.calls.len() as u64);
        if let Some(last) = self.doc_ranges.last_mut() {
            last.count = count - last.first;
            last.calls.end = end;
        }
    }
}

impl SegmentBuilder {
    pub(crate) fn start_file(&mut self, file: u64) {
        self.columns.start_file(file);
    }

    pub(crate) fn end_file(&mut self, calls: &[u8]) {
        self.columns.end_file(calls);
    }

    /// Adds the terms, fields and columns of a doc to the current file. `span` is its line in the file.
    pub(crate) fn add_doc(&mut self, doc: &SearchDoc<'_>, span: LineSpan) {
        let id = self.columns.doc_count();
        let SegmentBuilder { words, hex_terms, subword_boundaries, fields, tokenizer, field_term, .. } = self;
        for source_text in &doc.texts {
            tokenizer.for_each_term(&source_text.text, |kind, term| match kind {
                TermKind::Word => words.add(term.as_bytes(), id),
                TermKind::HexNumber => hex_terms.add(term.as_bytes(), id),
                TermKind::SubwordBoundary => subword_boundaries.add(term.as_bytes(), id),
            });
        }
        let mut add_field = |prefix: char, value: &str| {
            field_term.clear();
            field_term.push(prefix);
            field_term.push_str(value);
            fields.add(field_term.as_bytes(), id);
        };
        doc.tools.iter().for_each(|tool| add_field(field::TOOL, tool));
        doc.files.iter().for_each(|file| add_field(field::FILE, file));
        doc.model.iter().for_each(|model| add_field(field::MODEL, model));
        doc.branch.iter().for_each(|branch| add_field(field::BRANCH, branch));
        doc.pull_request.iter().for_each(|link| add_field(field::PULL_REQUEST, link));
        if doc.error {
            add_field(field::ERROR, "");
        }
        if doc.is_sidechain {
            add_field(field::SIDECHAIN, "");
        }
        let len = length_class(doc.len).min(!COPIED) | if doc.copied { COPIED } else { 0 };
        self.columns.doc_infos.extend([doc.sources.bits(), len]);
        self.columns.keys.extend(doc.key.to_le_bytes());
        self.columns.times.extend(doc.time.map_or(NO_TIME, |time| time.0).to_le_bytes());
        self.columns.spans.extend(span.offset.to_le_bytes());
        self.columns.spans.extend(span.len.to_le_bytes());
        self.columns.spans.extend(span.line.to_le_bytes());
    }

    /// Returns the approximate memory use in bytes.
    pub(crate) fn memory_size(&self) -> usize {
        self.words.memory_size()
            + self.hex_terms.memory_size()
            + self.subword_boundaries.memory_size()
            + self.fields.memory_size()
            + self.columns.doc_count() as usize * 34
            + self.columns.calls.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.columns.doc_ranges.is_empty()
    }

    /// Writes the segment. Returns its size in bytes.
    pub(crate) fn write(self, file: File) -> io::Result<u64> {
        let mut out = PagedWriter::new(file);
        for postings in [self.words, self.hex_terms, self.subword_boundaries, self.fields] {
            let mut dictionary = TermDictionaryWriter::new(&mut out);
            postings.finish(|term, list| dictionary.add(&mut out, term, list))?;
            dictionary.finish(&mut out)?;
        }
        self.columns.write(&mut out)?;
        out.finish()
    }
}

/// A segment opened for reading.
#[derive(Debug)]
pub(crate) struct Segment {
    pages: PagedReader,
    /// The docs of each file, in order.
    pub(crate) doc_ranges: Vec<DocRange>,
    /// The number of docs, including those of deleted files.
    pub(crate) count: u32,
    /// The column of spans, read after [`MAX_SINGLE_SPANS`] single reads.
    spans: OnceLock<Vec<u8>>,
    single_spans: AtomicUsize,
}

impl Segment {
    /// Opens a segment and reads its doc ranges. Returns an error if the file cannot be read or is damaged.
    pub(crate) fn open(path: &Path) -> Result<Segment, IndexError> {
        let pages = PagedReader::open(path)?;
        let doc_infos = pages.section_range(DOC_INFOS)?;
        let count = u32::try_from((doc_infos.end - doc_infos.start) / 2).map_err(|_| IndexError::Corrupt)?;
        let bytes = pages.read_section(DOC_RANGES)?;
        let mut rest = &bytes[..];
        let mut doc_ranges = Vec::new();
        let mut end = 0;
        while !rest.is_empty() {
            let mut next = || varint::read(&mut rest).ok_or(IndexError::Corrupt);
            let (file, first, len) = (next()?, next()? as u32, next()? as u32);
            let (calls_start, calls_end) = (next()?, next()?);
            if first != end || calls_start > calls_end {
                return Err(IndexError::Corrupt);
            }
            end = first.checked_add(len).ok_or(IndexError::Corrupt)?;
            doc_ranges.push(DocRange { file, first, count: len, calls: calls_start..calls_end });
        }
        if end != count {
            return Err(IndexError::Corrupt);
        }
        Ok(Segment { pages, doc_ranges, count, spans: OnceLock::new(), single_spans: AtomicUsize::new(0) })
    }

    /// Opens the dictionary that starts at `first_section`.
    pub(crate) fn open_dictionary(&self, first_section: usize) -> Result<TermDictionary<'_>, IndexError> {
        TermDictionary::open(&self.pages, first_section)
    }

    /// Reads the [`DocInfo`]s of a window of docs.
    pub(crate) fn read_doc_infos(&self, window: &Range<u32>) -> Result<DocInfoColumn, IndexError> {
        let start = self.pages.section_range(DOC_INFOS)?.start;
        let offset = |doc: u32| start + 2 * u64::from(doc);
        self.pages.read(offset(window.start)..offset(window.end)).map(DocInfoColumn)
    }

    /// Returns the doc ranges of the files that overlap a window of docs.
    pub(crate) fn doc_ranges_in(&self, window: &Range<u32>) -> &[DocRange] {
        let first = self.doc_ranges.partition_point(|range| range.first + range.count <= window.start);
        let end = self.doc_ranges.partition_point(|range| range.first < window.end);
        self.doc_ranges.get(first..end).unwrap_or_default()
    }

    /// Calls `each` with the deduplication keys of some docs, which must be sorted.
    pub(crate) fn read_keys(
        &self,
        docs: impl Iterator<Item = u32>,
        mut each: impl FnMut(u64),
    ) -> Result<(), IndexError> {
        self.read_column(KEYS, docs, |bytes| each(u64::from_le_bytes(bytes)))
    }

    /// Calls `each` with the times of some docs, which must be sorted.
    pub(crate) fn read_times(
        &self,
        docs: impl Iterator<Item = u32>,
        mut each: impl FnMut(Option<Timestamp>),
    ) -> Result<(), IndexError> {
        let decode = |time: i64| (time != NO_TIME).then_some(Timestamp(time));
        self.read_column(TIMES, docs, |bytes| each(decode(i64::from_le_bytes(bytes))))
    }

    /// Calls `each` with the eight-byte values of some docs, which must be sorted. Reads every page at most once.
    ///
    /// `column_section` is the section of the column.
    fn read_column(
        &self,
        column_section: usize,
        docs: impl Iterator<Item = u32>,
        mut each: impl FnMut([u8; 8]),
    ) -> Result<(), IndexError> {
        let section = self.pages.section_range(column_section)?;
        let mut pages = Vec::new();
        let mut start = 0;
        for doc in docs {
            let offset = section.start + u64::from(doc) * 8;
            let value_in = |start: u64, pages: &[u8]| {
                let at = usize::try_from(offset.checked_sub(start)?).ok()?;
                pages.get(at..)?.first_chunk().copied()
            };
            let value = match value_in(start, &pages) {
                Some(value) => value,
                None => {
                    start = self.pages.read_pages(offset..(offset + 8).min(section.end), &mut pages)?;
                    value_in(start, &pages).ok_or(IndexError::Corrupt)?
                }
            };
            each(value);
        }
        Ok(())
    }

    /// Reads the span of a doc in its file.
    pub(crate) fn read_span(&self, doc: u32) -> Result<LineSpan, IndexError> {
        let at = doc as usize * 16;
        let bytes = match self.spans.get() {
            Some(spans) => spans.get(at..at + 16).ok_or(IndexError::Corrupt)?,
            None if self.single_spans.fetch_add(1, Ordering::Relaxed) < MAX_SINGLE_SPANS => {
                let start = self.pages.section_range(SPANS)?.start + at as u64;
                &self.pages.read(start..start + 16)?
            }
            None => {
                let spans = self.pages.read_section(SPANS)?;
                self.spans.get_or_init(|| spans).get(at..at + 16).ok_or(IndexError::Corrupt)?
            }
        };
        let (offset, rest) = bytes.split_first_chunk().ok_or(IndexError::Corrupt)?;
        let (len, rest) = rest.split_first_chunk().ok_or(IndexError::Corrupt)?;
        let line = rest.first_chunk().ok_or(IndexError::Corrupt)?;
        let (len, line) = (u32::from_le_bytes(*len), u32::from_le_bytes(*line));
        Ok(LineSpan { offset: u64::from_le_bytes(*offset), len, line })
    }

    /// Returns the id of the file that contains a doc. Returns `None` if the segment has no docs.
    pub(crate) fn file_of(&self, doc: u32) -> Option<u64> {
        let idx = self.doc_ranges.partition_point(|range| range.first <= doc).checked_sub(1)?;
        self.doc_ranges.get(idx).map(|range| range.file)
    }

    /// Reads the encoded tool calls of a range.
    pub(crate) fn read_calls(&self, range: &DocRange) -> Result<Vec<u8>, IndexError> {
        let section = self.pages.section_range(CALLS)?;
        self.pages.read(section.start + range.calls.start..section.start + range.calls.end)
    }

    /// Reads the columns that a merge copies unchanged: doc infos, keys, times and spans.
    pub(crate) fn read_columns(&self) -> Result<[Vec<u8>; 4], IndexError> {
        Ok([
            self.pages.read_section(DOC_INFOS)?,
            self.pages.read_section(KEYS)?,
            self.pages.read_section(TIMES)?,
            self.pages.read_section(SPANS)?,
        ])
    }
}

/// Encodes the tool calls seen by a builder. Results that are indexed later need the names of their tools.
pub(crate) fn encode_calls(builder: &SearchDocBuilder) -> Vec<u8> {
    let mut out = Vec::new();
    for (id, tool) in builder.new_calls() {
        out.extend(id.bits().to_le_bytes());
        varint::write(&mut out, tool.len() as u64);
        out.extend(tool.as_bytes());
    }
    out
}

/// Calls `each` with the id and the tool name of every tool call in `bytes`, which [`encode_calls`] wrote.
///
/// Returns `None` at the first corrupt call. `each` has already been called for the preceding ones.
pub(crate) fn decode_calls(mut bytes: &[u8], mut each: impl FnMut(Id, &str)) -> Option<()> {
    while !bytes.is_empty() {
        let (id, rest) = bytes.split_first_chunk::<16>()?;
        bytes = rest;
        let len = varint::read(&mut bytes)? as usize;
        let (tool, rest) = bytes.split_at_checked(len)?;
        bytes = rest;
        each(Id::from_bits(u128::from_le_bytes(*id)), std::str::from_utf8(tool).ok()?);
    }
    Some(())
}
