//! Files with a checksum per page: a read returns the bytes that were written, or an error.
//!
//! ```text
//! body: sections     tail: offsets of the sections, checksum of each page     end: length and checksum of the tail
//! ```

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

/// The number of bytes per checksum. Small, because every read must verify whole pages.
const PAGE_BYTES: usize = 16 << 10;
/// The number of bytes that are read or written at a time.
const CHUNK_BYTES: usize = 16 * PAGE_BYTES;
const MAGIC: &[u8; 8] = b"rethrd\x00\x01";
/// The length of the end: length and checksum of the tail, and the magic.
const END_BYTES: u64 = 20;

/// An error while reading a cache or index file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum IndexError {
    /// The file could not be read.
    #[error("{0}")]
    Unreadable(#[from] io::Error),
    /// The bytes are not those that were written.
    #[error("the file is damaged: its bytes are not those that were written")]
    Corrupt,
}

impl IndexError {
    /// Converts it into an I/O error: `Corrupt` becomes `InvalidData`.
    pub(crate) fn into_io(self) -> io::Error {
        match self {
            IndexError::Unreadable(error) => error,
            IndexError::Corrupt => io::Error::new(io::ErrorKind::InvalidData, IndexError::Corrupt),
        }
    }
}

/// Writes a paged file section by section.
pub(crate) struct PagedWriter {
    file: BufWriter<File>,
    /// The checksum of the current page so far.
    page_hasher: crc32fast::Hasher,
    /// The number of bytes in the current page.
    page_len: usize,
    checksums: Vec<u32>,
    /// The number of bytes written so far.
    written: u64,
    /// The offset of each section.
    sections: Vec<u64>,
}

impl PagedWriter {
    pub(crate) fn new(file: File) -> PagedWriter {
        PagedWriter {
            file: BufWriter::with_capacity(CHUNK_BYTES, file),
            page_hasher: crc32fast::Hasher::new(),
            page_len: 0,
            checksums: Vec::new(),
            written: 0,
            sections: Vec::new(),
        }
    }

    /// Starts the next section at the current position.
    pub(crate) fn start_section(&mut self) {
        self.sections.push(self.written);
    }

    /// Appends bytes to the current section.
    pub(crate) fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.written += bytes.len() as u64;
        while !bytes.is_empty() {
            let len = bytes.len().min(PAGE_BYTES - self.page_len);
            self.page_hasher.update(&bytes[..len]);
            self.page_len += len;
            if self.page_len == PAGE_BYTES {
                self.end_page();
            }
            bytes = &bytes[len..];
        }
        Ok(())
    }

    /// Stores the checksum of the current page and starts the next one.
    fn end_page(&mut self) {
        let hasher = std::mem::replace(&mut self.page_hasher, crc32fast::Hasher::new());
        self.checksums.push(hasher.finalize());
        self.page_len = 0;
    }

    /// Writes the tail. Returns the size of the file in bytes.
    pub(crate) fn finish(mut self) -> io::Result<u64> {
        if self.page_len > 0 {
            self.end_page();
        }
        self.sections.push(self.written);
        let mut tail = Vec::with_capacity(8 * self.sections.len() + 4 * self.checksums.len() + 8);
        tail.extend((self.sections.len() as u64).to_le_bytes());
        tail.extend(self.sections.iter().flat_map(|offset| offset.to_le_bytes()));
        tail.extend(self.checksums.iter().flat_map(|checksum| checksum.to_le_bytes()));
        let tail_checksum = crc32fast::hash(&tail);
        let len = tail.len() as u64;
        tail.extend(len.to_le_bytes());
        tail.extend(tail_checksum.to_le_bytes());
        tail.extend(MAGIC);
        self.file.write_all(&tail)?;
        self.file.flush()?;
        Ok(self.written + tail.len() as u64)
    }
}

/// Reads a paged file.
#[derive(Debug)]
pub(crate) struct PagedReader {
    file: File,
    /// The offset of each section, and the end of the last one.
    sections: Vec<u64>,
    /// The checksum of each page.
    checksums: Vec<u32>,
}

impl PagedReader {
    /// Opens a file and reads its tail. Returns an error if it cannot be read or the tail is damaged.
    pub(crate) fn open(path: &Path) -> Result<PagedReader, IndexError> {
        let mut file = crate::disk::open_file(path)?;
        let len = file.metadata()?.len();
        let tail_end = len.checked_sub(END_BYTES).ok_or(IndexError::Corrupt)?;
        let mut end_bytes = [0; END_BYTES as usize];
        file.seek(SeekFrom::Start(tail_end))?;
        file.read_exact(&mut end_bytes)?;
        let tail_len = u64::from_le_bytes(read_array(&end_bytes, 0)?);
        let tail_checksum = u32::from_le_bytes(read_array(&end_bytes, 8)?);
        let tail_start = tail_end.checked_sub(tail_len).filter(|_| end_bytes[12..] == *MAGIC);
        let tail_start = tail_start.ok_or(IndexError::Corrupt)?;
        let mut tail = vec![0; (tail_end - tail_start) as usize];
        file.seek(SeekFrom::Start(tail_start))?;
        file.read_exact(&mut tail)?;
        if crc32fast::hash(&tail) != tail_checksum {
            return Err(IndexError::Corrupt);
        }
        let count = u64::from_le_bytes(read_array(&tail, 0)?) as usize;
        let checksums_start = count.checked_mul(8).and_then(|len| len.checked_add(8));
        let checksums_start = checksums_start.ok_or(IndexError::Corrupt)?;
        let sections = tail.get(8..checksums_start).ok_or(IndexError::Corrupt)?;
        let sections = sections.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        let checksums = tail[checksums_start..].as_chunks::<4>().0.iter();
        let checksums = checksums.map(|bytes| u32::from_le_bytes(*bytes)).collect();
        Ok(PagedReader { file, sections, checksums })
    }

    /// Returns the byte range of the section with this index in the file. Returns an error if there is none.
    pub(crate) fn section_range(&self, idx: usize) -> Result<Range<u64>, IndexError> {
        match (self.sections.get(idx), self.sections.get(idx + 1)) {
            (Some(&start), Some(&end)) if start <= end => Ok(start..end),
            _ => Err(IndexError::Corrupt),
        }
    }

    /// Reads the whole section with this index and verifies its pages.
    pub(crate) fn read_section(&self, idx: usize) -> Result<Vec<u8>, IndexError> {
        self.read(self.section_range(idx)?)
    }

    /// Reads a byte range of the file. Verifies the pages that contain it.
    ///
    /// Returns an error if the range extends past the last section, or if a page is damaged or cannot be read.
    pub(crate) fn read(&self, range: Range<u64>) -> Result<Vec<u8>, IndexError> {
        // The range may extend past the end of the body.
        let len = range.end.saturating_sub(range.start).min(self.body_len());
        let mut bytes = Vec::with_capacity(len as usize);
        // Copying from a reused buffer costs less than reading into newly allocated memory.
        let mut chunk = SCRATCH.take();
        let mut offset = range.start;
        let mut result = if offset <= range.end { Ok(()) } else { Err(IndexError::Corrupt) };
        while offset < range.end && result.is_ok() {
            let end = range.end.min((offset / CHUNK_BYTES as u64 + 1) * CHUNK_BYTES as u64);
            result = self.read_pages(offset..end, &mut chunk).map(|start| {
                bytes.extend_from_slice(&chunk[(offset - start) as usize..(end - start) as usize]);
            });
            offset = end;
        }
        SCRATCH.set(chunk);
        result.map(|()| bytes)
    }

    /// Reads the pages that contain a byte range into `bytes` and verifies them. Returns the offset of the first page.
    ///
    /// Returns an error if the range is empty or extends past the last section, or if a page is damaged or cannot be read.
    pub(crate) fn read_pages(&self, range: Range<u64>, bytes: &mut Vec<u8>) -> Result<u64, IndexError> {
        let body_len = self.body_len();
        if range.end > body_len || range.start >= range.end {
            return Err(IndexError::Corrupt);
        }
        let first = range.start as usize / PAGE_BYTES;
        let last = (range.end - 1) as usize / PAGE_BYTES;
        let start = (first * PAGE_BYTES) as u64;
        let end = (((last + 1) * PAGE_BYTES) as u64).min(body_len);
        bytes.resize((end - start) as usize, 0);
        (&self.file).seek(SeekFrom::Start(start))?;
        (&self.file).read_exact(bytes)?;
        for (page, bytes) in (first..=last).zip(bytes.chunks(PAGE_BYTES)) {
            if self.checksums.get(page) != Some(&crc32fast::hash(bytes)) {
                return Err(IndexError::Corrupt);
            }
        }
        Ok(start)
    }

    /// Returns the length of all sections together.
    fn body_len(&self) -> u64 {
        self.sections.last().copied().unwrap_or_default()
    }
}

thread_local! {
    /// The read buffer of a thread.
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Returns `N` bytes at an offset. Returns an error if there are fewer.
fn read_array<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], IndexError> {
    let array = bytes.get(at..at + N).and_then(|bytes| bytes.try_into().ok());
    array.ok_or(IndexError::Corrupt)
}
