//! Files of checked pages: what is read is what was written, or is called damaged.
//!
//! ```text
//! body: sections, one behind the other      tail: sections, a checksum per page     end: length and checksum of the tail
//! ```

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

/// Bytes that share a checksum: few, because whoever asks for some of them reads and checks all.
const PAGE: usize = 16 << 10;
/// Bytes that are read and written at once.
const PIECE: usize = 16 * PAGE;
const MAGIC: &[u8; 8] = b"rethrd\x00\x01";
/// The tail's length and checksum, and the magic.
const END: u64 = 20;

/// A file that cannot be what was written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum IndexError {
    /// It could not be read.
    #[error("{0}")]
    Unreadable(#[from] io::Error),
    /// Its bytes are not those that were written.
    #[error("its bytes are not those that were written")]
    Changed,
}

impl IndexError {
    /// Tells it as an error of reading, by which it is still known.
    pub(crate) fn into_io(self) -> io::Error {
        match self {
            IndexError::Unreadable(error) => error,
            IndexError::Changed => io::Error::new(io::ErrorKind::InvalidData, IndexError::Changed),
        }
    }
}

/// Writes a file section by section.
pub(crate) struct PagedWriter {
    file: BufWriter<File>,
    page: crc32fast::Hasher,
    in_page: usize,
    sums: Vec<u32>,
    written: u64,
    sections: Vec<u64>,
}

impl PagedWriter {
    pub(crate) fn new(file: File) -> PagedWriter {
        PagedWriter {
            file: BufWriter::with_capacity(PIECE, file),
            page: crc32fast::Hasher::new(),
            in_page: 0,
            sums: Vec::new(),
            written: 0,
            sections: Vec::new(),
        }
    }

    /// Begins the next section.
    pub(crate) fn section(&mut self) {
        self.sections.push(self.written);
    }

    pub(crate) fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.written += bytes.len() as u64;
        while !bytes.is_empty() {
            let taken = bytes.len().min(PAGE - self.in_page);
            self.page.update(&bytes[..taken]);
            self.in_page += taken;
            if self.in_page == PAGE {
                self.turn();
            }
            bytes = &bytes[taken..];
        }
        Ok(())
    }

    fn turn(&mut self) {
        let page = std::mem::replace(&mut self.page, crc32fast::Hasher::new());
        self.sums.push(page.finalize());
        self.in_page = 0;
    }

    /// Writes the tail; returns how large the file is.
    pub(crate) fn finish(mut self) -> io::Result<u64> {
        if self.in_page > 0 {
            self.turn();
        }
        self.sections.push(self.written);
        let mut tail = Vec::with_capacity(8 * self.sections.len() + 4 * self.sums.len() + 8);
        tail.extend((self.sections.len() as u64).to_le_bytes());
        tail.extend(self.sections.iter().flat_map(|at| at.to_le_bytes()));
        tail.extend(self.sums.iter().flat_map(|sum| sum.to_le_bytes()));
        let sum = crc32fast::hash(&tail);
        let len = tail.len() as u64;
        tail.extend(len.to_le_bytes());
        tail.extend(sum.to_le_bytes());
        tail.extend(MAGIC);
        self.file.write_all(&tail)?;
        self.file.flush()?;
        Ok(self.written + tail.len() as u64)
    }
}

/// Reads such a file.
#[derive(Debug)]
pub(crate) struct PagedReader {
    file: File,
    sections: Vec<u64>,
    sums: Vec<u32>,
}

impl PagedReader {
    pub(crate) fn open(path: &Path) -> Result<PagedReader, IndexError> {
        let mut file = crate::disk::open(path)?;
        let len = file.metadata()?.len();
        let end = len.checked_sub(END).ok_or(IndexError::Changed)?;
        let mut bytes = [0; END as usize];
        file.seek(SeekFrom::Start(end))?;
        file.read_exact(&mut bytes)?;
        let tail_len = u64::from_le_bytes(take(&bytes, 0)?);
        let sum = u32::from_le_bytes(take(&bytes, 8)?);
        let body = end.checked_sub(tail_len).filter(|_| bytes[12..] == *MAGIC).ok_or(IndexError::Changed)?;
        let mut tail = vec![0; (end - body) as usize];
        file.seek(SeekFrom::Start(body))?;
        file.read_exact(&mut tail)?;
        if crc32fast::hash(&tail) != sum {
            return Err(IndexError::Changed);
        }
        let count = u64::from_le_bytes(take(&tail, 0)?) as usize;
        let sums_at = count.checked_mul(8).and_then(|len| len.checked_add(8)).ok_or(IndexError::Changed)?;
        let sections = tail.get(8..sums_at).ok_or(IndexError::Changed)?;
        let sections = sections.as_chunks::<8>().0.iter().map(|at| u64::from_le_bytes(*at)).collect();
        let sums = tail[sums_at..].as_chunks::<4>().0.iter().map(|sum| u32::from_le_bytes(*sum)).collect();
        Ok(PagedReader { file, sections, sums })
    }

    /// Returns where a section lies.
    pub(crate) fn section(&self, no: usize) -> Result<Range<u64>, IndexError> {
        match (self.sections.get(no), self.sections.get(no + 1)) {
            (Some(&start), Some(&end)) if start <= end => Ok(start..end),
            _ => Err(IndexError::Changed),
        }
    }

    /// Reads a whole section.
    pub(crate) fn read_section(&self, no: usize) -> Result<Vec<u8>, IndexError> {
        self.read(self.section(no)?)
    }

    /// Reads some bytes, after checking the pages that hold them.
    pub(crate) fn read(&self, range: Range<u64>) -> Result<Vec<u8>, IndexError> {
        // What is asked for may be more than there is.
        let len = range.end.saturating_sub(range.start).min(self.body());
        let mut bytes = Vec::with_capacity(len as usize);
        // Fresh memory costs more than to copy: what is read goes through the same piece of it again and again.
        let mut piece = SCRATCH.take();
        let mut at = range.start;
        let mut read = if at <= range.end { Ok(()) } else { Err(IndexError::Changed) };
        while at < range.end && read.is_ok() {
            let end = range.end.min((at / PIECE as u64 + 1) * PIECE as u64);
            read = self.pages(at..end, &mut piece).map(|start| {
                bytes.extend_from_slice(&piece[(at - start) as usize..(end - start) as usize]);
            });
            at = end;
        }
        SCRATCH.set(piece);
        read.map(|()| bytes)
    }

    /// Reads the pages that hold some bytes, and checks them; returns where the first begins.
    pub(crate) fn pages(&self, range: Range<u64>, bytes: &mut Vec<u8>) -> Result<u64, IndexError> {
        let body = self.body();
        if range.end > body || range.start >= range.end {
            return Err(IndexError::Changed);
        }
        let first = range.start as usize / PAGE;
        let last = (range.end - 1) as usize / PAGE;
        let start = (first * PAGE) as u64;
        let end = (((last + 1) * PAGE) as u64).min(body);
        bytes.resize((end - start) as usize, 0);
        (&self.file).seek(SeekFrom::Start(start))?;
        (&self.file).read_exact(bytes)?;
        for (page, bytes) in (first..=last).zip(bytes.chunks(PAGE)) {
            if self.sums.get(page) != Some(&crc32fast::hash(bytes)) {
                return Err(IndexError::Changed);
            }
        }
        Ok(start)
    }

    fn body(&self) -> u64 {
        self.sections.last().copied().unwrap_or_default()
    }
}

thread_local! {
    /// What pieces are read into.
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Takes the bytes at a place.
fn take<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], IndexError> {
    let taken = bytes.get(at..at + N).and_then(|taken| taken.try_into().ok());
    taken.ok_or(IndexError::Changed)
}
