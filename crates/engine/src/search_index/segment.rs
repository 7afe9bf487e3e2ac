//! A segment: an immutable file that knows some entries by their words.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use rethread_core::entry::Timestamp;
use rethread_core::id::Id;
use rethread_core::query::{Kind, SearchDoc, SearchDocBuilder, Sources, Tokenizer, length_class};
use rethread_core::tree::LineSpan;

use super::postings_builder::PostingsBuilder;
use super::term_dictionary::{self, TermDictionary};
use super::varint;
use crate::cache::paged_file::{IndexError, PagedReader, PagedWriter};

/// The four dictionaries, and the sections behind them.
pub(crate) const WORDS: usize = 0;
pub(crate) const HEX_TERMS: usize = term_dictionary::SECTIONS;
pub(crate) const SUBWORD_BOUNDARIES: usize = 2 * term_dictionary::SECTIONS;
pub(crate) const FIELDS: usize = 3 * term_dictionary::SECTIONS;
const BRIEFS: usize = 4 * term_dictionary::SECTIONS;
const KEYS: usize = BRIEFS + 1;
const TIMES: usize = BRIEFS + 2;
const PLACES: usize = BRIEFS + 3;
const PARTS: usize = BRIEFS + 4;
const CALLS: usize = BRIEFS + 5;

/// What stands before the value of a field in its term.
pub(crate) mod field {
    pub(crate) const TOOL: char = 't';
    pub(crate) const FILE: char = 'f';
    pub(crate) const MODEL: char = 'm';
    pub(crate) const BRANCH: char = 'b';
    pub(crate) const ERROR: char = 'e';
    pub(crate) const SIDE: char = 's';
}

/// So many places are looked up one by one.
const FEW: usize = 128;
/// No time: before everything.
const NEVER: i64 = i64::MIN;

/// What is known of an entry without its words.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DocInfo {
    pub(crate) sources: Sources,
    /// The class of its length.
    pub(crate) len: u8,
    /// Whether it says that it was copied from another session.
    pub(crate) copied: bool,
}

const COPIED: u8 = 0x80;

/// What is known of the entries of a window, as it was written.
#[derive(Debug, Default)]
pub(crate) struct DocInfoColumn(Vec<u8>);

impl DocInfoColumn {
    /// Says who speaks in each of them.
    pub(crate) fn sources(&self) -> impl Iterator<Item = Sources> + '_ {
        self.0.as_chunks().0.iter().map(|[sources, _]: &[u8; 2]| Sources::from_bits(*sources))
    }

    pub(crate) fn get(&self, entry: usize) -> Option<DocInfo> {
        self.0.as_chunks().0.get(entry).map(|bytes| DocInfo::read(*bytes))
    }
}

impl DocInfo {
    fn read([sources, len]: [u8; 2]) -> DocInfo {
        DocInfo { sources: Sources::from_bits(sources), len: len & !COPIED, copied: len & COPIED != 0 }
    }
}

/// The entries of one file in a segment: those between two lines of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DocRange {
    pub(crate) file: u64,
    pub(crate) first: u32,
    pub(crate) count: u32,
    /// Where in the section of calls those made here are.
    calls: Range<u64>,
}

/// Collects entries until they are written.
#[derive(Default)]
pub(crate) struct SegmentBuilder {
    words: PostingsBuilder,
    figures: PostingsBuilder,
    seams: PostingsBuilder,
    fields: PostingsBuilder,
    columns: Columns,
    cutter: Tokenizer,
    field: String,
}

/// What is kept of every entry, column by column.
#[derive(Default)]
pub(crate) struct Columns {
    pub(crate) briefs: Vec<u8>,
    pub(crate) keys: Vec<u8>,
    pub(crate) times: Vec<u8>,
    pub(crate) places: Vec<u8>,
    pub(crate) stretches: Vec<DocRange>,
    pub(crate) calls: Vec<u8>,
}

impl Columns {
    pub(crate) fn count(&self) -> u32 {
        (self.briefs.len() / 2) as u32
    }

    /// Writes the sections of the columns.
    pub(crate) fn write(self, printer: &mut PagedWriter) -> io::Result<()> {
        let mut stretches = Vec::new();
        for stretch in &self.stretches {
            let DocRange { file, first, count, calls } = stretch;
            for number in [*file, u64::from(*first), u64::from(*count), calls.start, calls.end] {
                varint::put(&mut stretches, number);
            }
        }
        for section in [self.briefs, self.keys, self.times, self.places, stretches, self.calls] {
            printer.section();
            printer.write(&section)?;
        }
        Ok(())
    }

    /// Begins the entries of a file.
    pub(crate) fn begin(&mut self, file: u64) {
        let (first, calls) = (self.count(), self.calls.len() as u64);
        self.stretches.push(DocRange { file, first, count: 0, calls: calls..calls });
    }

    /// Ends the entries of a file, with the calls that were made in them.
    pub(crate) fn end(&mut self, calls: &[u8]) {
        self.calls.extend_from_slice(calls);
        let (count, end) = (self.count(), self.calls.len() as u64);
        if let Some(last) = self.stretches.last_mut() {
            last.count = count - last.first;
            last.calls.end = end;
        }
    }
}

impl SegmentBuilder {
    pub(crate) fn begin(&mut self, file: u64) {
        self.columns.begin(file);
    }

    pub(crate) fn end(&mut self, calls: &[u8]) {
        self.columns.end(calls);
    }

    /// Takes an entry.
    pub(crate) fn add(&mut self, card: &SearchDoc<'_>, place: LineSpan) {
        let entry = self.columns.count();
        let SegmentBuilder { words, figures, seams, fields, cutter, field, .. } = self;
        for said in &card.said {
            cutter.terms(&said.text, |kind, term| match kind {
                Kind::Word => words.add(term.as_bytes(), entry),
                Kind::HexNumber => figures.add(term.as_bytes(), entry),
                Kind::SubwordBoundary => seams.add(term.as_bytes(), entry),
            });
        }
        let mut name = |prefix: char, value: &str| {
            field.clear();
            field.push(prefix);
            field.push_str(value);
            fields.add(field.as_bytes(), entry);
        };
        card.tools.iter().for_each(|tool| name(field::TOOL, tool));
        card.files.iter().for_each(|file| name(field::FILE, file));
        card.model.iter().for_each(|model| name(field::MODEL, model));
        card.branch.iter().for_each(|branch| name(field::BRANCH, branch));
        if card.error {
            name(field::ERROR, "");
        }
        if card.side {
            name(field::SIDE, "");
        }
        let len = length_class(card.len).min(!COPIED) | if card.copied { COPIED } else { 0 };
        self.columns.briefs.extend([card.sources.bits(), len]);
        self.columns.keys.extend(card.key.to_le_bytes());
        self.columns.times.extend(card.time.map_or(NEVER, |time| time.0).to_le_bytes());
        self.columns.places.extend(place.offset.to_le_bytes());
        self.columns.places.extend(place.len.to_le_bytes());
        self.columns.places.extend(place.line.to_le_bytes());
    }

    /// Returns about how much memory it takes.
    pub(crate) fn size(&self) -> usize {
        self.words.size()
            + self.figures.size()
            + self.seams.size()
            + self.fields.size()
            + self.columns.count() as usize * 34
            + self.columns.calls.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.columns.stretches.is_empty()
    }

    /// Writes the segment; returns how large it is.
    pub(crate) fn write(self, file: File) -> io::Result<u64> {
        let mut printer = PagedWriter::new(file);
        for inverter in [self.words, self.figures, self.seams, self.fields] {
            let mut writer = term_dictionary::TermDictionaryWriter::new(&mut printer);
            inverter.finish(|term, list| writer.add(&mut printer, term, list))?;
            writer.finish(&mut printer)?;
        }
        self.columns.write(&mut printer)?;
        printer.finish()
    }
}

/// A segment being read.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) pages: PagedReader,
    pub(crate) stretches: Vec<DocRange>,
    pub(crate) count: u32,
    /// Where entries stand in their files, once that was asked often enough.
    places: OnceLock<Vec<u8>>,
    placed: AtomicUsize,
}

impl Segment {
    pub(crate) fn open(path: &Path) -> Result<Segment, IndexError> {
        let pages = PagedReader::open(path)?;
        let briefs = pages.section(BRIEFS)?;
        let count = u32::try_from((briefs.end - briefs.start) / 2).map_err(|_| IndexError::Changed)?;
        let bytes = pages.read_section(PARTS)?;
        let mut rest = &bytes[..];
        let mut stretches = Vec::new();
        let mut end = 0;
        while !rest.is_empty() {
            let mut next = || varint::take(&mut rest).ok_or(IndexError::Changed);
            let (file, first, length, from, to) = (next()?, next()?, next()?, next()?, next()?);
            let (first, length) = (first as u32, length as u32);
            if first != end || from > to {
                return Err(IndexError::Changed);
            }
            end = first.checked_add(length).ok_or(IndexError::Changed)?;
            stretches.push(DocRange { file, first, count: length, calls: from..to });
        }
        if end == count {
            Ok(Segment { pages, stretches, count, places: OnceLock::new(), placed: AtomicUsize::new(0) })
        } else {
            Err(IndexError::Changed)
        }
    }

    pub(crate) fn dictionary(&self, first: usize) -> Result<TermDictionary<'_>, IndexError> {
        TermDictionary::open(&self.pages, first)
    }

    /// Reads what is known of the entries of a window.
    pub(crate) fn briefs(&self, window: &Range<u32>) -> Result<DocInfoColumn, IndexError> {
        let start = self.pages.section(BRIEFS)?.start;
        let place = |entry: u32| start + 2 * u64::from(entry);
        self.pages.read(place(window.start)..place(window.end)).map(DocInfoColumn)
    }

    /// Returns the stretches of which something stands in a window.
    pub(crate) fn stretches_in(&self, window: &Range<u32>) -> &[DocRange] {
        let first = self.stretches.partition_point(|stretch| stretch.first + stretch.count <= window.start);
        let end = self.stretches.partition_point(|stretch| stretch.first < window.end);
        self.stretches.get(first..end).unwrap_or_default()
    }

    /// Shows the keys of some entries, which are in order.
    pub(crate) fn keys(
        &self,
        entries: impl Iterator<Item = u32>,
        mut each: impl FnMut(u64),
    ) -> Result<(), IndexError> {
        self.column(KEYS, entries, |bytes| each(u64::from_le_bytes(bytes)))
    }

    /// Shows the times of some entries, which are in order.
    pub(crate) fn times(
        &self,
        entries: impl Iterator<Item = u32>,
        mut each: impl FnMut(Option<Timestamp>),
    ) -> Result<(), IndexError> {
        let moment = |time: i64| (time != NEVER).then_some(Timestamp(time));
        self.column(TIMES, entries, |bytes| each(moment(i64::from_le_bytes(bytes))))
    }

    /// Shows a column at some entries, which are in order: every page is read once, if at all.
    fn column(
        &self,
        column: usize,
        entries: impl Iterator<Item = u32>,
        mut each: impl FnMut([u8; 8]),
    ) -> Result<(), IndexError> {
        let section = self.pages.section(column)?;
        let mut pages = Vec::new();
        let mut start = 0;
        for entry in entries {
            let place = section.start + u64::from(entry) * 8;
            let here = |start: u64, pages: &[u8]| {
                let at = usize::try_from(place.checked_sub(start)?).ok()?;
                pages.get(at..)?.first_chunk().copied()
            };
            let bytes = match here(start, &pages) {
                Some(bytes) => bytes,
                None => {
                    start = self.pages.pages(place..(place + 8).min(section.end), &mut pages)?;
                    here(start, &pages).ok_or(IndexError::Changed)?
                }
            };
            each(bytes);
        }
        Ok(())
    }

    /// Reads where an entry stands in its file.
    pub(crate) fn place(&self, entry: u32) -> Result<LineSpan, IndexError> {
        let at = entry as usize * 16;
        let bytes = match self.places.get() {
            Some(places) => places.get(at..at + 16).ok_or(IndexError::Changed)?,
            // A page is read for each of the first few; after that all are read at once.
            None if self.placed.fetch_add(1, Ordering::Relaxed) < FEW => {
                let start = self.pages.section(PLACES)?.start + at as u64;
                &self.pages.read(start..start + 16)?
            }
            None => {
                let places = self.pages.read_section(PLACES)?;
                self.places.get_or_init(|| places).get(at..at + 16).ok_or(IndexError::Changed)?
            }
        };
        let (offset, rest) = bytes.split_first_chunk().ok_or(IndexError::Changed)?;
        let (len, rest) = rest.split_first_chunk().ok_or(IndexError::Changed)?;
        let line = rest.first_chunk().ok_or(IndexError::Changed)?;
        let (len, line) = (u32::from_le_bytes(*len), u32::from_le_bytes(*line));
        Ok(LineSpan { offset: u64::from_le_bytes(*offset), len, line })
    }

    /// Returns the file that an entry stands in.
    pub(crate) fn file_of(&self, entry: u32) -> Option<u64> {
        let no = self.stretches.partition_point(|stretch| stretch.first <= entry).checked_sub(1)?;
        self.stretches.get(no).map(|stretch| stretch.file)
    }

    /// Reads the calls made in a stretch.
    pub(crate) fn calls(&self, stretch: &DocRange) -> Result<Vec<u8>, IndexError> {
        let section = self.pages.section(CALLS)?;
        self.pages.read(section.start + stretch.calls.start..section.start + stretch.calls.end)
    }

    /// Reads the columns that are copied as they are when segments are put together.
    pub(crate) fn columns(&self) -> Result<[Vec<u8>; 4], IndexError> {
        Ok([
            self.pages.read_section(BRIEFS)?,
            self.pages.read_section(KEYS)?,
            self.pages.read_section(TIMES)?,
            self.pages.read_section(PLACES)?,
        ])
    }
}

/// Writes down the calls that cards were made of, so that answers which come later are known by them.
pub(crate) fn put_calls(cards: &SearchDocBuilder) -> Vec<u8> {
    let mut out = Vec::new();
    for (id, tool) in cards.seen() {
        out.extend(id.bits().to_le_bytes());
        varint::put(&mut out, tool.len() as u64);
        out.extend(tool.as_bytes());
    }
    out
}

/// Reads calls that were written down.
pub(crate) fn take_calls(mut bytes: &[u8], mut each: impl FnMut(Id, &str)) -> Option<()> {
    while !bytes.is_empty() {
        let (id, rest) = bytes.split_first_chunk::<16>()?;
        bytes = rest;
        let len = varint::take(&mut bytes)? as usize;
        let (tool, rest) = bytes.split_at_checked(len)?;
        bytes = rest;
        each(Id::from_bits(u128::from_le_bytes(*id)), std::str::from_utf8(tool).ok()?);
    }
    Some(())
}
