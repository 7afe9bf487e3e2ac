//! Content-defined chunking: the boundaries of chunks depend on the lines around them, so that a file which grew or
//! changed in the middle shares all other chunks with its earlier versions.

use std::io::{self, Read};

/// The number of bytes that are read at once.
const READ_BYTES: u64 = 256 << 10;

/// The sizes of chunks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChunkSizes {
    /// The minimum length of a chunk, except the last one. After that, a line may end it, depending on the hash of the line.
    pub(crate) min: usize,
    /// The maximum length of a chunk.
    pub(crate) max: usize,
    /// A line ends a chunk if its hash is a multiple of this.
    pub(crate) divisor: u64,
}

/// Splits the bytes of a reader into chunks that end with a line if possible.
#[derive(Debug)]
pub(crate) struct Chunker<R> {
    content: R,
    sizes: ChunkSizes,
    /// The bytes that were read after the last chunk.
    buffer: Vec<u8>,
}

impl<R: Read> Chunker<R> {
    pub(crate) fn new(content: R, sizes: ChunkSizes) -> Chunker<R> {
        Chunker { content, sizes, buffer: Vec::new() }
    }

    /// Reads the next chunk. Returns `None` at the end.
    pub(crate) fn next_chunk(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut scanned = 0;
        loop {
            if let Some(end) = self.sizes.find_boundary(&self.buffer, &mut scanned) {
                let rest = self.buffer.split_off(end);
                return Ok(Some(std::mem::replace(&mut self.buffer, rest)));
            }
            let before = self.buffer.len();
            self.content.by_ref().take(READ_BYTES).read_to_end(&mut self.buffer)?;
            if self.buffer.len() == before {
                return Ok((before > 0).then(|| std::mem::take(&mut self.buffer)));
            }
        }
    }
}

impl ChunkSizes {
    /// Returns the end of the first chunk in `bytes`. `scanned` is the offset of the first line that was not examined yet,
    /// and is advanced. Returns `None` if more bytes are needed.
    fn find_boundary(self, bytes: &[u8], scanned: &mut usize) -> Option<usize> {
        while let Some(line) = memchr::memchr(b'\n', &bytes[*scanned..]) {
            let end = *scanned + line + 1;
            if end > self.max {
                break;
            }
            if end >= self.min && hash_line(&bytes[*scanned..end]).is_multiple_of(self.divisor) {
                return Some(end);
            }
            *scanned = end;
        }
        (bytes.len() >= self.max).then_some(if *scanned >= self.min { *scanned } else { self.max })
    }
}

/// Computes a fast, non-cryptographic hash of a line with its newline. A boundary depends on it.
fn hash_line(line: &[u8]) -> u64 {
    let step = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let (words, rest) = line.as_chunks::<8>();
    let hash = words.iter().fold(0, |hash, word| step(hash, u64::from_le_bytes(*word)));
    let hash = rest.iter().fold(hash, |hash, &byte| step(hash, u64::from(byte)));
    hash ^ (hash >> 32)
}
