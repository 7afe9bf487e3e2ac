//! Backups of contents: cut at line ends chosen by content, named by their hash, compressed, each kept once.
//!
//! A file that grew or changed in the middle shares all other chunks with its older states. `lists/<hash>` names
//! the chunks of the content with that hash.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::files::{make_folder, private, sync_folder};

/// A chunk is cut at the end of a line once it is this long and the line's hash says so, …
const LEAST: usize = 64 << 10;
/// … anyway once it is this long.
const MOST: usize = 2 << 20;
/// One line in so many ends a chunk.
const ONE_IN: u64 = 64;
/// Chunks that are compressed and written at a time.
const BATCH: usize = 16;

/// The store of chunks in a state folder.
#[derive(Debug, Clone)]
pub(super) struct ChunkStore {
    chunks: PathBuf,
    lists: PathBuf,
}

impl ChunkStore {
    /// Opens the store.
    pub(super) fn at(state: &Path) -> ChunkStore {
        ChunkStore { chunks: state.join("chunks"), lists: state.join("lists") }
    }

    /// Keeps a content, durably; returns its name.
    pub(super) fn keep(&self, mut content: impl Read) -> io::Result<String> {
        make_folder(&self.chunks)?;
        make_folder(&self.lists)?;
        let mut whole = blake3::Hasher::new();
        let mut list = String::new();
        let mut held = Vec::new();
        let mut ended = false;
        while !ended {
            let mut batch: Vec<Vec<u8>> = Vec::with_capacity(BATCH);
            while batch.len() < BATCH && !ended {
                match next_chunk(&mut content, &mut held)? {
                    Some(chunk) => batch.push(chunk),
                    None => ended = true,
                }
            }
            for chunk in &batch {
                whole.update(chunk);
            }
            // A content may hold the same chunk twice: each is written once.
            let mut batch: Vec<(String, Vec<u8>)> = batch
                .into_par_iter()
                .map(|chunk| (blake3::hash(&chunk).to_hex().to_string(), chunk))
                .collect();
            for (name, _) in &batch {
                list.push_str(name);
                list.push('\n');
            }
            batch.sort_by(|a, b| a.0.cmp(&b.0));
            batch.dedup_by(|a, b| a.0 == b.0);
            batch.par_iter().try_for_each(|(name, chunk)| self.keep_chunk(name, chunk))?;
        }
        sync_folder(&self.chunks)?;
        let name = whole.finalize().to_hex().to_string();
        write_once(&self.lists.join(&name), list.as_bytes())?;
        sync_folder(&self.lists)?;
        Ok(name)
    }

    fn keep_chunk(&self, name: &str, chunk: &[u8]) -> io::Result<()> {
        let path = self.chunks.join(name);
        if path.exists() { Ok(()) } else { write_once(&path, &zstd::bulk::compress(chunk, 3)?) }
    }

    /// Writes the content with this name; fails where it is not whole.
    pub(super) fn write(&self, name: &str, out: &mut dyn Write) -> io::Result<()> {
        let mut whole = blake3::Hasher::new();
        for chunk in std::fs::read_to_string(self.lists.join(name))?.lines() {
            let bytes = std::fs::read(self.chunks.join(chunk))?;
            let bytes = zstd::bulk::decompress(&bytes, 2 * MOST)?;
            whole.update(&bytes);
            out.write_all(&bytes)?;
        }
        if whole.finalize().to_hex().as_str() == name { Ok(()) } else { Err(damaged()) }
    }

    /// Reads a small content whole.
    pub(super) fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.write(name, &mut bytes)?;
        Ok(bytes)
    }

    /// Whether a content is kept, as far as its list says.
    pub(super) fn holds(&self, name: &str) -> bool {
        let list = std::fs::read_to_string(self.lists.join(name));
        list.is_ok_and(|list| list.lines().all(|chunk| self.chunks.join(chunk).is_file()))
    }
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the backup is damaged")
}

/// Writes a file that is the same whoever writes it.
fn write_once(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if path.exists() {
        return Ok(());
    }
    let draft = path.with_extension("part");
    let mut file = private(OpenOptions::new().write(true).create(true).truncate(true)).open(&draft)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(&draft, path)
}

/// Takes the next chunk from a content; `held` keeps what was read beyond it.
fn next_chunk(content: &mut impl Read, held: &mut Vec<u8>) -> io::Result<Option<Vec<u8>>> {
    let mut looked = 0;
    loop {
        if let Some(end) = cut(held, &mut looked) {
            let rest = held.split_off(end);
            return Ok(Some(std::mem::replace(held, rest)));
        }
        let before = held.len();
        content.by_ref().take(256 << 10).read_to_end(held)?;
        if held.len() == before {
            return Ok((before > 0).then(|| std::mem::take(held)));
        }
    }
}

/// Finds where a chunk ends, looking on from `looked`, the beginning of a line.
fn cut(bytes: &[u8], looked: &mut usize) -> Option<usize> {
    while let Some(line) = memchr::memchr(b'\n', &bytes[*looked..]) {
        let end = *looked + line + 1;
        if end > MOST {
            break;
        }
        if end >= LEAST && mix(&bytes[*looked..end]).is_multiple_of(ONE_IN) {
            return Some(end);
        }
        *looked = end;
    }
    (bytes.len() >= MOST).then_some(if *looked >= LEAST { *looked } else { MOST })
}

/// A quick hash of a line.
fn mix(line: &[u8]) -> u64 {
    let step = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let (words, rest) = line.as_chunks::<8>();
    let hash = words.iter().fold(0, |hash, word| step(hash, u64::from_le_bytes(*word)));
    let hash = rest.iter().fold(hash, |hash, &byte| step(hash, u64::from(byte)));
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::ChunkStore;
    use proptest::prelude::*;

    fn count(folder: &std::path::Path) -> usize {
        std::fs::read_dir(folder.join("chunks")).unwrap().count()
    }

    /// Lines that differ, some 200 bytes each.
    fn lines(from: usize, to: usize) -> Vec<u8> {
        let line = |n: usize| {
            format!("{{\"n\":{n},\"text\":\"{}\"}}\n", n.to_string().repeat(200 / n.to_string().len()))
        };
        (from..to).flat_map(|n| line(n).into_bytes()).collect()
    }

    #[test]
    fn a_file_that_grew_or_changed_in_the_middle_shares_its_chunks() {
        let folder = tempfile::tempdir().unwrap();
        let chunks = ChunkStore::at(folder.path());
        let old = lines(1000, 21_000);
        chunks.keep(&old[..]).unwrap();
        let first = count(folder.path());
        assert!(first > 20, "{first}");
        chunks.keep(&[&old[..], &lines(21_000, 21_010)].concat()[..]).unwrap();
        assert!(count(folder.path()) - first <= 2);
        let middle = [lines(1000, 9000), lines(5, 9), lines(9000, 21_000)].concat();
        let name = chunks.keep(&middle[..]).unwrap();
        assert!(count(folder.path()) - first <= 5);
        assert_eq!(chunks.read(&name).unwrap(), middle);
    }

    #[test]
    fn a_content_that_repeats_itself_is_kept_once() {
        let folder = tempfile::tempdir().unwrap();
        let chunks = ChunkStore::at(folder.path());
        let same = b"{\"a\":1}\n".repeat(1 << 20);
        let name = chunks.keep(&same[..]).unwrap();
        assert!(count(folder.path()) <= 2);
        assert!(chunks.read(&name).unwrap() == same);
    }

    #[test]
    fn a_damaged_backup_is_no_backup() {
        let folder = tempfile::tempdir().unwrap();
        let chunks = ChunkStore::at(folder.path());
        let name = chunks.keep(&lines(0, 3000)[..]).unwrap();
        let other = chunks.keep(&b"other"[..]).unwrap();
        std::fs::copy(folder.path().join("lists").join(other), folder.path().join("lists").join(&name))
            .unwrap();
        assert!(chunks.read(&name).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn what_is_kept_comes_back(parts in prop::collection::vec((0u8..4, 0usize..400_000), 0..8)) {
            let mut bytes = Vec::new();
            for (kind, len) in parts {
                match kind {
                    0 => bytes.extend(lines(len, len + len / 2000)),
                    1 => bytes.resize(bytes.len() + len * 8, b'x'),
                    2 => bytes.resize(bytes.len() + len / 100, b'\n'),
                    _ => bytes.extend((0..len).map(|k| (k * k % 251) as u8)),
                }
            }
            let folder = tempfile::tempdir().unwrap();
            let chunks = ChunkStore::at(folder.path());
            let name = chunks.keep(&bytes[..]).unwrap();
            prop_assert!(chunks.holds(&name));
            prop_assert_eq!(chunks.read(&name).unwrap(), bytes);
        }
    }
}
