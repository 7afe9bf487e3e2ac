//! The terms of a segment, sorted, and where the list of each lies. Substrings are found by looking through all of them.

use std::io;
use std::ops::Range;

use memchr::{memchr, memmem, memrchr};
use rethread_core::query::{MatchKind, TermPattern};

use crate::cache::paged_file::{IndexError, PagedReader, PagedWriter};

/// Terms that share an entry in the table of places.
const BLOCK: usize = 64;
/// How many sections a dictionary takes.
pub(crate) const SECTIONS: usize = 4;
/// Lists with less between them than this are read in one piece.
const GAP: u64 = 16 << 10;
/// Terms that are so near are looked up together.
const NEAR: u32 = 4 << 10;

/// Collects a dictionary that is written behind its lists.
pub(crate) struct TermDictionaryWriter {
    text: Vec<u8>,
    blocks: Vec<u8>,
    lists: Vec<u8>,
    count: usize,
    end: u32,
}

impl TermDictionaryWriter {
    /// Begins the section of lists.
    pub(crate) fn new(printer: &mut PagedWriter) -> TermDictionaryWriter {
        printer.section();
        TermDictionaryWriter {
            text: vec![b'\n'],
            blocks: Vec::new(),
            lists: 0u32.to_le_bytes().to_vec(),
            count: 0,
            end: 0,
        }
    }

    /// Takes the next term; terms come in order.
    pub(crate) fn add(&mut self, printer: &mut PagedWriter, term: &[u8], list: &[u8]) -> io::Result<()> {
        if self.count.is_multiple_of(BLOCK) {
            self.blocks.extend((self.text.len() as u32).to_le_bytes());
        }
        self.count += 1;
        self.text.extend_from_slice(term);
        self.text.push(b'\n');
        printer.write(list)?;
        let end = u32::try_from(list.len()).ok().and_then(|len| self.end.checked_add(len));
        self.end = end.ok_or_else(|| io::Error::other("a segment is too large"))?;
        self.lists.extend(self.end.to_le_bytes());
        Ok(())
    }

    /// Writes the terms and the tables.
    pub(crate) fn finish(self, printer: &mut PagedWriter) -> io::Result<()> {
        for section in [self.text, self.blocks, self.lists] {
            printer.section();
            printer.write(&section)?;
        }
        Ok(())
    }
}

/// A term, and where its list stands among all.
pub(crate) type Listed<'t> = (&'t [u8], Range<usize>);

/// A dictionary being read.
pub(crate) struct TermDictionary<'p> {
    pages: &'p PagedReader,
    first: usize,
    text: Vec<u8>,
    blocks: Vec<u8>,
}

impl<'p> TermDictionary<'p> {
    /// Reads the dictionary whose first section is `first`.
    pub(crate) fn open(pages: &'p PagedReader, first: usize) -> Result<TermDictionary<'p>, IndexError> {
        let text = pages.read_section(first + 1)?;
        Ok(TermDictionary { pages, first, text, blocks: pages.read_section(first + 2)? })
    }

    /// Finds the terms that fit a part: their numbers, in order.
    pub(crate) fn find(&self, part: &TermPattern) -> Vec<(u32, MatchKind)> {
        if !part.open_left {
            return self.begin(part);
        }
        let mut pattern = part.text.clone();
        if !part.open_right {
            pattern.push('\n');
        }
        let finder = memmem::Finder::new(&pattern);
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(hit) = self.text.get(at..).and_then(|rest| finder.find(rest)) {
            let term = self.term_at(at + hit);
            if let Ok(text) = std::str::from_utf8(&self.text[term.clone()])
                && let Some(fit) = part.fit(text)
            {
                found.push((self.number(term.start), fit));
            }
            at = term.end.max(at + 1);
        }
        found
    }

    /// Finds the terms that begin with a part.
    fn begin(&self, part: &TermPattern) -> Vec<(u32, MatchKind)> {
        let wanted = part.text.as_bytes();
        let (blocks, _) = self.blocks.as_chunks::<4>();
        let first = |block: &[u8; 4]| {
            let term = self.term_at(u32::from_le_bytes(*block) as usize);
            &self.text[term]
        };
        let block = blocks.partition_point(|block| first(block) < wanted).saturating_sub(1);
        let Some(start) = blocks.get(block).map(|block| u32::from_le_bytes(*block) as usize) else {
            return Vec::new();
        };
        let terms = self.text.get(start..).unwrap_or_default().split(|&byte| byte == b'\n');
        let terms = terms.zip((block * BLOCK) as u32..).skip_while(|(term, _)| *term < wanted);
        let fit = |term: &[u8]| std::str::from_utf8(term).ok().and_then(|term| part.fit(term));
        let beginning = terms.take_while(|(term, _)| !term.is_empty() && term.starts_with(wanted));
        beginning.filter_map(|(term, no)| Some((no, fit(term)?))).collect()
    }

    /// Finds the terms of which something holds.
    pub(crate) fn select(&self, wanted: impl Fn(&str) -> bool) -> Vec<u32> {
        let terms = self.text.split(|&byte| byte == b'\n').skip(1).zip(0..);
        let fits = |term: &[u8]| std::str::from_utf8(term).is_ok_and(&wanted);
        terms.filter(|(term, _)| !term.is_empty() && fits(term)).map(|(_, no)| no).collect()
    }

    fn term_at(&self, inside: usize) -> Range<usize> {
        let inside = inside.min(self.text.len());
        let start = memrchr(b'\n', &self.text[..inside]).map_or(0, |at| at + 1);
        let end = memchr(b'\n', &self.text[start..]).map_or(self.text.len(), |at| start + at);
        start..end
    }

    /// Returns the number of the term that begins at a place.
    fn number(&self, start: usize) -> u32 {
        let (blocks, _) = self.blocks.as_chunks::<4>();
        let place = |block: &[u8; 4]| u32::from_le_bytes(*block) as usize;
        let block = blocks.partition_point(|block| place(block) <= start).saturating_sub(1);
        let from = blocks.get(block).map_or(0, place).min(start);
        let before = memchr::memchr_iter(b'\n', &self.text[from..start]).count();
        (block * BLOCK + before) as u32
    }

    /// Shows the lists of some terms, which must be in order.
    pub(crate) fn postings(
        &self,
        terms: &[u32],
        mut each: impl FnMut(usize, &[u8]),
    ) -> Result<(), IndexError> {
        let mut before = 0;
        for near in terms.chunk_by(|one, next| next - one < NEAR) {
            self.near_lists(near, |no, list| each(before + no, list))?;
            before += near.len();
        }
        Ok(())
    }

    fn near_lists(&self, terms: &[u32], mut each: impl FnMut(usize, &[u8])) -> Result<(), IndexError> {
        let table = self.pages.section(self.first + 3)?;
        let lists = self.pages.section(self.first)?;
        let (Some(&first), Some(&last)) = (terms.first(), terms.last()) else { return Ok(()) };
        let from = u64::from(first) * 4;
        let places = self.pages.read(table.start + from..table.start + u64::from(last) * 4 + 8)?;
        let (places, _) = places.as_chunks::<4>();
        let place = |no: usize| {
            places.get(no).map(|at| u64::from(u32::from_le_bytes(*at))).ok_or(IndexError::Changed)
        };
        let range = |term: u32| -> Result<Range<u64>, IndexError> {
            let no = (term - first) as usize;
            let range = place(no)?..place(no + 1)?;
            if range.start <= range.end { Ok(range) } else { Err(IndexError::Changed) }
        };
        let mut no = 0;
        while no < terms.len() {
            let start = range(terms[no])?.start;
            let mut end = range(terms[no])?.end;
            let mut next = no + 1;
            while next < terms.len() && range(terms[next])?.start <= end + GAP {
                end = range(terms[next])?.end;
                next += 1;
            }
            let bytes = self.pages.read(lists.start + start..lists.start + end)?;
            for (no, term) in (no..next).zip(&terms[no..next]) {
                let range = range(*term)?;
                let list = bytes.get((range.start - start) as usize..(range.end - start) as usize);
                each(no, list.ok_or(IndexError::Changed)?);
            }
            no = next;
        }
        Ok(())
    }

    /// Reads all lists, one behind the other.
    pub(crate) fn all_lists(&self) -> Result<Vec<u8>, IndexError> {
        self.pages.read_section(self.first)
    }

    /// Returns every term, in order, with where its list stands among all.
    pub(crate) fn all(&self) -> Result<Vec<Listed<'_>>, IndexError> {
        let table = self.pages.read_section(self.first + 3)?;
        let (places, _) = table.as_chunks::<4>();
        let places = places.windows(2).map(|pair| {
            let at = |place: [u8; 4]| u32::from_le_bytes(place) as usize;
            at(pair[0])..at(pair[1])
        });
        let terms = self.text.split(|&byte| byte == b'\n').skip(1);
        Ok(terms.zip(places).collect())
    }
}
