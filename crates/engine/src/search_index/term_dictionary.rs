//! The sorted terms of a segment and the offsets of their posting lists. Substrings are found by a linear search.

use std::io;
use std::ops::Range;

use memchr::{memchr, memmem, memrchr};
use rethread_core::query::{MatchKind, TermPattern};

use crate::cache::{IndexError, PagedReader, PagedWriter};

/// The number of terms per entry in the block table.
const BLOCK_TERMS: usize = 64;
/// The number of sections of a dictionary.
pub(crate) const SECTIONS: usize = 4;
/// Posting lists with a smaller gap between them are read at once.
const MAX_GAP: u64 = 16 << 10;
/// The offsets of terms with a smaller distance are read at once.
const MAX_TERM_DISTANCE: u32 = 4 << 10;

/// Writes the posting lists of a dictionary, then its terms and tables.
pub(crate) struct TermDictionaryWriter {
    /// The terms, each between two newlines.
    text: Vec<u8>,
    /// The encoded offset in `text` of the first term of each block.
    blocks: Vec<u8>,
    /// The encoded end of each posting list, preceded by 0.
    list_ends: Vec<u8>,
    /// The number of terms.
    count: usize,
    /// The end of the last posting list.
    end: u32,
}

impl TermDictionaryWriter {
    /// Starts the section of posting lists.
    pub(crate) fn new(out: &mut PagedWriter) -> TermDictionaryWriter {
        out.start_section();
        TermDictionaryWriter {
            text: vec![b'\n'],
            blocks: Vec::new(),
            list_ends: 0u32.to_le_bytes().to_vec(),
            count: 0,
            end: 0,
        }
    }

    /// Adds a term and writes its posting list. Terms must be sorted. Returns an error if the lists exceed 4 GiB.
    pub(crate) fn add(&mut self, out: &mut PagedWriter, term: &[u8], list: &[u8]) -> io::Result<()> {
        if self.count.is_multiple_of(BLOCK_TERMS) {
            self.blocks.extend((self.text.len() as u32).to_le_bytes());
        }
        self.count += 1;
        self.text.extend_from_slice(term);
        self.text.push(b'\n');
        out.write(list)?;
        let end = u32::try_from(list.len()).ok().and_then(|len| self.end.checked_add(len));
        self.end = end.ok_or_else(|| io::Error::other("a segment is too large"))?;
        self.list_ends.extend(self.end.to_le_bytes());
        Ok(())
    }

    /// Writes the terms and the tables.
    pub(crate) fn finish(self, out: &mut PagedWriter) -> io::Result<()> {
        for section in [self.text, self.blocks, self.list_ends] {
            out.start_section();
            out.write(&section)?;
        }
        Ok(())
    }
}

/// A term and the byte range of its posting list in the section of posting lists.
pub(crate) type TermSpan<'t> = (&'t [u8], Range<usize>);

/// A dictionary opened for reading.
pub(crate) struct TermDictionary<'p> {
    pages: &'p PagedReader,
    first_section: usize,
    text: Vec<u8>,
    blocks: Vec<u8>,
}

impl<'p> TermDictionary<'p> {
    /// Reads the dictionary that starts at `first_section`.
    pub(crate) fn open(
        pages: &'p PagedReader,
        first_section: usize,
    ) -> Result<TermDictionary<'p>, IndexError> {
        let text = pages.read_section(first_section + 1)?;
        let blocks = pages.read_section(first_section + 2)?;
        Ok(TermDictionary { pages, first_section, text, blocks })
    }

    /// Returns the numbers of the terms that match a pattern and how they match, sorted by number.
    pub(crate) fn find_terms(&self, pattern: &TermPattern) -> Vec<(u32, MatchKind)> {
        if !pattern.open_left {
            return self.find_by_prefix(pattern);
        }
        let mut text = pattern.text.clone();
        if !pattern.open_right {
            text.push('\n');
        }
        let finder = memmem::Finder::new(&text);
        let mut terms = Vec::new();
        let mut start = 0;
        while let Some(hit) = self.text.get(start..).and_then(|rest| finder.find(rest)) {
            let term = self.term_at(start + hit);
            if let Ok(text) = std::str::from_utf8(&self.text[term.clone()])
                && let Some(kind) = pattern.match_term(text)
            {
                terms.push((self.number_at(term.start), kind));
            }
            start = term.end.max(start + 1);
        }
        terms
    }

    /// Finds the terms that start with a pattern, or are equal to it if it is closed. Returns numbers and match kinds.
    fn find_by_prefix(&self, pattern: &TermPattern) -> Vec<(u32, MatchKind)> {
        let prefix = pattern.text.as_bytes();
        let (blocks, _) = self.blocks.as_chunks::<4>();
        let first_term = |block: &[u8; 4]| {
            let term = self.term_at(u32::from_le_bytes(*block) as usize);
            &self.text[term]
        };
        let block = blocks.partition_point(|block| first_term(block) < prefix).saturating_sub(1);
        let Some(start) = blocks.get(block).map(|block| u32::from_le_bytes(*block) as usize) else {
            return Vec::new();
        };
        let terms = self.text.get(start..).unwrap_or_default().split(|&byte| byte == b'\n');
        let terms = terms.zip((block * BLOCK_TERMS) as u32..).skip_while(|(term, _)| *term < prefix);
        let match_kind =
            |term: &[u8]| std::str::from_utf8(term).ok().and_then(|term| pattern.match_term(term));
        let terms = terms.take_while(|(term, _)| !term.is_empty() && term.starts_with(prefix));
        terms.filter_map(|(term, number)| Some((number, match_kind(term)?))).collect()
    }

    /// Returns the numbers of the terms for which `holds` returns `true`, sorted.
    pub(crate) fn filter_terms(&self, holds: impl Fn(&str) -> bool) -> Vec<u32> {
        let terms = self.text.split(|&byte| byte == b'\n').skip(1).zip(0..);
        let holds = |term: &[u8]| std::str::from_utf8(term).is_ok_and(&holds);
        terms.filter(|(term, _)| !term.is_empty() && holds(term)).map(|(_, number)| number).collect()
    }

    /// Calls `visit` with every term, in sorted order.
    pub(crate) fn for_each_term(&self, mut visit: impl FnMut(&str)) {
        let terms = self.text.split(|&byte| byte == b'\n').filter(|term| !term.is_empty());
        terms.filter_map(|term| std::str::from_utf8(term).ok()).for_each(&mut visit);
    }

    /// Returns the byte range in `text` of the term that contains an offset.
    fn term_at(&self, offset: usize) -> Range<usize> {
        let offset = offset.min(self.text.len());
        let start = memrchr(b'\n', &self.text[..offset]).map_or(0, |at| at + 1);
        let end = memchr(b'\n', &self.text[start..]).map_or(self.text.len(), |at| start + at);
        start..end
    }

    /// Returns the number of the term that starts at offset `start` of `text`: its index in the sorted terms.
    fn number_at(&self, start: usize) -> u32 {
        let (blocks, _) = self.blocks.as_chunks::<4>();
        let offset = |block: &[u8; 4]| u32::from_le_bytes(*block) as usize;
        let block = blocks.partition_point(|block| offset(block) <= start).saturating_sub(1);
        let block_start = blocks.get(block).map_or(0, offset).min(start);
        let preceding = memchr::memchr_iter(b'\n', &self.text[block_start..start]).count();
        (block * BLOCK_TERMS + preceding) as u32
    }

    /// Calls `each` with the posting list of every term in `terms` and the index of the term in `terms`.
    ///
    /// `terms` are term numbers and must be sorted.
    pub(crate) fn read_postings(
        &self,
        terms: &[u32],
        mut each: impl FnMut(usize, &[u8]),
    ) -> Result<(), IndexError> {
        let mut first_idx = 0;
        for nearby in terms.chunk_by(|term, next| next - term < MAX_TERM_DISTANCE) {
            self.read_nearby_postings(nearby, |idx, list| each(first_idx + idx, list))?;
            first_idx += nearby.len();
        }
        Ok(())
    }

    /// Reads the posting lists of terms with small distances. See [`TermDictionary::read_postings`].
    fn read_nearby_postings(
        &self,
        terms: &[u32],
        mut each: impl FnMut(usize, &[u8]),
    ) -> Result<(), IndexError> {
        let table = self.pages.section_range(self.first_section + 3)?;
        let lists = self.pages.section_range(self.first_section)?;
        let (Some(&first), Some(&last)) = (terms.first(), terms.last()) else { return Ok(()) };
        let table_start = table.start + u64::from(first) * 4;
        let offsets = self.pages.read(table_start..table.start + u64::from(last) * 4 + 8)?;
        let (offsets, _) = offsets.as_chunks::<4>();
        let offset = |idx: usize| {
            offsets.get(idx).map(|at| u64::from(u32::from_le_bytes(*at))).ok_or(IndexError::Corrupt)
        };
        let list_range = |term: u32| -> Result<Range<u64>, IndexError> {
            let idx = (term - first) as usize;
            let range = offset(idx)?..offset(idx + 1)?;
            if range.start <= range.end { Ok(range) } else { Err(IndexError::Corrupt) }
        };
        let mut idx = 0;
        while idx < terms.len() {
            let start = list_range(terms[idx])?.start;
            let mut end = list_range(terms[idx])?.end;
            let mut next = idx + 1;
            while next < terms.len() && list_range(terms[next])?.start <= end + MAX_GAP {
                end = list_range(terms[next])?.end;
                next += 1;
            }
            let bytes = self.pages.read(lists.start + start..lists.start + end)?;
            for (idx, term) in (idx..next).zip(&terms[idx..next]) {
                let range = list_range(*term)?;
                let list = bytes.get((range.start - start) as usize..(range.end - start) as usize);
                each(idx, list.ok_or(IndexError::Corrupt)?);
            }
            idx = next;
        }
        Ok(())
    }

    /// Reads the section of all posting lists.
    pub(crate) fn read_all_postings(&self) -> Result<Vec<u8>, IndexError> {
        self.pages.read_section(self.first_section)
    }

    /// Returns all terms, sorted, with the ranges of their posting lists.
    pub(crate) fn read_all_terms(&self) -> Result<Vec<TermSpan<'_>>, IndexError> {
        let table = self.pages.read_section(self.first_section + 3)?;
        let (offsets, _) = table.as_chunks::<4>();
        let ranges = offsets.windows(2).map(|pair| {
            let offset = |bytes: [u8; 4]| u32::from_le_bytes(bytes) as usize;
            offset(pair[0])..offset(pair[1])
        });
        let terms = self.text.split(|&byte| byte == b'\n').skip(1);
        Ok(terms.zip(ranges).collect())
    }
}
