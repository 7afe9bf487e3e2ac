//! Builds posting lists: for every term, the docs that contain it.

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

use super::varint;

/// The largest stored count of a term in a doc.
const MAX_COUNT: u32 = 4;

/// The number of bytes of a term that are stored inline.
const PREFIX_BYTES: usize = 16;

/// Collects the terms of docs, which must be added in order.
#[derive(Default)]
pub(crate) struct PostingsBuilder {
    /// The indices of `terms`, by the hash of the term.
    table: HashTable<u32>,
    /// The concatenated terms.
    text: Vec<u8>,
    terms: Vec<TermPostings>,
    /// The total length of all posting lists.
    list_bytes: usize,
}

/// A term and its posting list so far.
struct TermPostings {
    /// The first bytes of the term, for most terms all of them: comparing needs no other cache line.
    prefix: [u8; PREFIX_BYTES],
    /// The length of the term and its offset in the concatenated terms, in bytes.
    len: u32,
    start: u32,
    /// The last doc that contains it, its count there, and the last doc written to the list.
    doc: u32,
    count: u32,
    last_written: u32,
    list: Vec<u8>,
}

impl PostingsBuilder {
    /// Adds one occurrence of a term in a doc. Doc ids must not decrease.
    pub(crate) fn add(&mut self, term: &[u8], doc: u32) {
        let PostingsBuilder { table, text, terms, list_bytes } = self;
        let hash = xxh3_64(term);
        let (prefix, len) = (term_prefix(term), term.len());
        let is_same = |idx: &u32| {
            let entry = &terms[*idx as usize];
            entry.prefix == prefix
                && entry.len as usize == len
                && (len <= PREFIX_BYTES || text[entry.start as usize..][..len] == *term)
        };
        if let Some(&idx) = table.find(hash, is_same) {
            let entry = &mut terms[idx as usize];
            if entry.doc == doc {
                entry.count += 1;
            } else {
                *list_bytes += entry.flush();
                entry.doc = doc;
                entry.count = 1;
            }
            return;
        }
        let idx = terms.len() as u32;
        let start = text.len() as u32;
        text.extend_from_slice(term);
        let len = len as u32;
        terms.push(TermPostings { prefix, len, start, doc, count: 1, last_written: 0, list: Vec::new() });
        let (terms, text) = (&*terms, &*text);
        table.insert_unique(hash, idx, |idx| {
            let entry = &terms[*idx as usize];
            xxh3_64(&text[entry.start as usize..][..entry.len as usize])
        });
    }

    /// Returns the approximate memory use in bytes.
    pub(crate) fn memory_size(&self) -> usize {
        // A list has half its length as spare capacity on average, and the allocator has an overhead for each.
        self.text.capacity() + self.terms.len() * (size_of::<TermPostings>() + 24) + self.list_bytes * 3 / 2
    }

    /// Calls `each` with every term and its encoded posting list, sorted by term. Returns the first error of `each`.
    pub(crate) fn finish<E>(mut self, mut each: impl FnMut(&[u8], &[u8]) -> Result<(), E>) -> Result<(), E> {
        let text = &self.text;
        let term_text = |term: &TermPostings| &text[term.start as usize..][..term.len as usize];
        let mut order: Vec<(u64, u32)> =
            self.terms.iter().zip(0..).map(|(term, idx)| (term.sort_key(), idx)).collect();
        let terms = &self.terms;
        order.sort_unstable_by(|a, b| {
            let compare_texts = || term_text(&terms[a.1 as usize]).cmp(term_text(&terms[b.1 as usize]));
            a.0.cmp(&b.0).then_with(compare_texts)
        });
        for (_, idx) in order {
            let term = &mut self.terms[idx as usize];
            term.flush();
            let term_text = &text[term.start as usize..][..term.len as usize];
            each(term_text, &term.list)?;
        }
        Ok(())
    }
}

impl TermPostings {
    /// Returns the first eight bytes as a number. They decide most comparisons.
    fn sort_key(&self) -> u64 {
        self.prefix.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
    }

    /// Appends the last doc and its count, at most 4, to the posting list. Returns the number of bytes added.
    fn flush(&mut self) -> usize {
        let len_before = self.list.len();
        let count = self.count.min(MAX_COUNT) - 1;
        varint::write(&mut self.list, u64::from(self.doc - self.last_written) << 2 | u64::from(count));
        self.last_written = self.doc;
        self.list.len() - len_before
    }
}

/// Returns the first 16 bytes of a term, padded with zeros.
#[inline]
fn term_prefix(term: &[u8]) -> [u8; PREFIX_BYTES] {
    let mut bytes = [0; PREFIX_BYTES];
    let len = term.len().min(PREFIX_BYTES);
    bytes[..len].copy_from_slice(&term[..len]);
    bytes
}

/// Calls `each` with every doc of a posting list and the count of the term in it, from 1 to 4. Returns `None` if the list
/// is corrupt; `each` has already been called for the preceding docs.
#[inline]
pub(crate) fn for_each_posting(mut list: &[u8], mut each: impl FnMut(u32, u8)) -> Option<()> {
    let mut doc = 0u32;
    while !list.is_empty() {
        let number = varint::read(&mut list)?;
        doc = doc.checked_add(u32::try_from(number >> 2).ok()?)?;
        each(doc, (number & 3) as u8 + 1);
    }
    Some(())
}
