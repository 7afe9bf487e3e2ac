//! Turns texts into lists: for every term, the entries that hold it.

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

use super::varint;

/// The most that is told of how often an entry holds a term.
const MOST: u32 = 4;

/// Bytes of a term that are kept beside what is known of it.
const HEAD: usize = 16;

/// Collects terms while entries come in, in order.
#[derive(Default)]
pub(crate) struct PostingsBuilder {
    table: HashTable<u32>,
    /// The terms, one behind the other.
    text: Vec<u8>,
    terms: Vec<Term>,
    /// Bytes of all lists.
    listed: usize,
}

struct Term {
    /// Its first bytes: for most terms all of them, so that no other memory is touched to compare them.
    head: [u8; HEAD],
    len: u32,
    start: u32,
    /// The last entry that holds it, how often, and the one before.
    entry: u32,
    count: u32,
    before: u32,
    list: Vec<u8>,
}

impl PostingsBuilder {
    /// Notes that an entry holds a term once more.
    pub(crate) fn add(&mut self, term: &[u8], entry: u32) {
        let PostingsBuilder { table, text, terms, listed } = self;
        let hash = xxh3_64(term);
        let (front, len) = (head(term), term.len());
        let is_same = |no: &u32| {
            let known = &terms[*no as usize];
            known.head == front
                && known.len as usize == len
                && (len <= HEAD || text[known.start as usize..][..len] == *term)
        };
        if let Some(&no) = table.find(hash, is_same) {
            let known = &mut terms[no as usize];
            if known.entry == entry {
                known.count += 1;
            } else {
                *listed += known.close();
                known.entry = entry;
                known.count = 1;
            }
            return;
        }
        let no = terms.len() as u32;
        let start = text.len() as u32;
        text.extend_from_slice(term);
        terms.push(Term {
            head: front,
            len: len as u32,
            start,
            entry,
            count: 1,
            before: 0,
            list: Vec::new(),
        });
        let (terms, text) = (&*terms, &*text);
        table.insert_unique(hash, no, |no| {
            let known = &terms[*no as usize];
            xxh3_64(&text[known.start as usize..][..known.len as usize])
        });
    }

    /// Returns about how much memory it takes.
    pub(crate) fn size(&self) -> usize {
        // A list has room to grow by half on average, and the allocator takes its share of each.
        self.text.capacity() + self.terms.len() * (size_of::<Term>() + 24) + self.listed * 3 / 2
    }

    /// Shows all terms in order, each with its list.
    pub(crate) fn finish<E>(mut self, mut each: impl FnMut(&[u8], &[u8]) -> Result<(), E>) -> Result<(), E> {
        let text = &self.text;
        let name = |term: &Term| &text[term.start as usize..][..term.len as usize];
        let mut order: Vec<(u64, u32)> =
            self.terms.iter().zip(0..).map(|(term, no)| (term.order(), no)).collect();
        let terms = &self.terms;
        order.sort_unstable_by(|a, b| {
            let names = || name(&terms[a.1 as usize]).cmp(name(&terms[b.1 as usize]));
            a.0.cmp(&b.0).then_with(names)
        });
        for (_, no) in order {
            let term = &mut self.terms[no as usize];
            term.close();
            let name = &text[term.start as usize..][..term.len as usize];
            each(name, &term.list)?;
        }
        Ok(())
    }
}

impl Term {
    /// Returns its first bytes as a number, so that most comparisons need no more.
    fn order(&self) -> u64 {
        self.head.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
    }

    /// Writes the last entry into the list; says how long that made it.
    fn close(&mut self) -> usize {
        let before = self.list.len();
        let times = self.count.min(MOST) - 1;
        varint::put(&mut self.list, u64::from(self.entry - self.before) << 2 | u64::from(times));
        self.before = self.entry;
        self.list.len() - before
    }
}

/// Returns the first bytes of a term.
#[inline]
fn head(term: &[u8]) -> [u8; HEAD] {
    let mut bytes = [0; HEAD];
    let len = term.len().min(HEAD);
    bytes[..len].copy_from_slice(&term[..len]);
    bytes
}

/// Shows the entries of a list and how often each holds the term, at most four times.
#[inline]
pub(crate) fn entries(mut list: &[u8], mut each: impl FnMut(u32, u8)) -> Option<()> {
    let mut entry = 0u32;
    while !list.is_empty() {
        let number = varint::take(&mut list)?;
        entry = entry.checked_add(u32::try_from(number >> 2).ok()?)?;
        each(entry, (number & 3) as u8 + 1);
    }
    Some(())
}
