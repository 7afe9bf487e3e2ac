//! A store of file contents: their chunks are compressed, named by their hash and stored once. `lists/<hash>` contains the
//! names of the chunks of the content with that hash.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::chunker::{ChunkSizes, Chunker};
use super::files::{create_private_dir, private_mode, sync_dir};
use super::fs;

/// The sizes of the chunks of a backup.
const SIZES: ChunkSizes = ChunkSizes { min: 64 << 10, max: 2 << 20, divisor: 64 };
/// The number of chunks that are compressed and written in parallel.
const BATCH_CHUNKS: usize = 16;

/// The chunks and lists in a state folder.
#[derive(Debug, Clone)]
pub(super) struct ChunkStore {
    chunks_dir: PathBuf,
    lists_dir: PathBuf,
}

impl ChunkStore {
    pub(super) fn new(state_dir: &Path) -> ChunkStore {
        ChunkStore { chunks_dir: state_dir.join("chunks"), lists_dir: state_dir.join("lists") }
    }

    /// Stores all bytes of `content` durably. Returns their name, which is their hash.
    pub(super) fn store(&self, content: impl Read) -> io::Result<String> {
        create_private_dir(&self.chunks_dir)?;
        create_private_dir(&self.lists_dir)?;
        let mut hasher = blake3::Hasher::new();
        let mut list = String::new();
        let mut chunker = Chunker::new(content, SIZES);
        let mut is_done = false;
        while !is_done {
            let mut batch: Vec<Vec<u8>> = Vec::with_capacity(BATCH_CHUNKS);
            while batch.len() < BATCH_CHUNKS && !is_done {
                match chunker.next_chunk()? {
                    Some(chunk) => batch.push(chunk),
                    None => is_done = true,
                }
            }
            for chunk in &batch {
                hasher.update(chunk);
            }
            let mut batch: Vec<(String, Vec<u8>)> = batch
                .into_par_iter()
                .map(|chunk| (blake3::hash(&chunk).to_hex().to_string(), chunk))
                .collect();
            for (name, _) in &batch {
                list.push_str(name);
                list.push('\n');
            }
            // A chunk that occurs twice must be written only once.
            batch.sort_by(|a, b| a.0.cmp(&b.0));
            batch.dedup_by(|a, b| a.0 == b.0);
            batch.par_iter().try_for_each(|(name, chunk)| self.store_chunk(name, chunk))?;
        }
        sync_dir(&self.chunks_dir)?;
        let name = hasher.finalize().to_hex().to_string();
        let list_path = self.lists_dir.join(&name);
        if fs::read(&list_path).ok().is_none_or(|existing| existing != list.as_bytes()) {
            write_durably(&list_path, list.as_bytes())?;
            sync_dir(&self.lists_dir)?;
        }
        Ok(name)
    }

    /// Compresses and writes a chunk, unless it exists. A chunk that exists is verified, because the new backup depends on
    /// it, and written again if it is damaged.
    fn store_chunk(&self, name: &str, chunk: &[u8]) -> io::Result<()> {
        let path = self.chunks_dir.join(name);
        let is_stored = path.exists() && read_chunk_file(&path).is_ok_and(|stored| stored == chunk);
        if is_stored { Ok(()) } else { write_durably(&path, &zstd::bulk::compress(chunk, 3)?) }
    }

    /// Writes the bytes with this name to `out`. Returns an error if they are missing or damaged; then `out` may contain a
    /// part of them.
    pub(super) fn write_content(&self, name: &str, out: &mut dyn Write) -> io::Result<()> {
        let mut hasher = blake3::Hasher::new();
        for chunk in fs::read_to_string(&self.lists_dir.join(name))?.lines() {
            let bytes = read_chunk_file(&self.chunks_dir.join(chunk))?;
            hasher.update(&bytes);
            out.write_all(&bytes)?;
        }
        if hasher.finalize().to_hex().as_str() == name { Ok(()) } else { Err(damaged_error()) }
    }

    /// Reads the bytes with this name into memory. Returns an error if they are missing or damaged.
    pub(super) fn read_all(&self, name: &str) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.write_content(name, &mut bytes)?;
        Ok(bytes)
    }

    /// Returns `true` if the list with this name and all its chunks exist. Does not read the chunks.
    pub(super) fn has_content(&self, name: &str) -> bool {
        let list = fs::read_to_string(&self.lists_dir.join(name));
        list.is_ok_and(|list| list.lines().all(|chunk| self.chunks_dir.join(chunk).is_file()))
    }
}

fn damaged_error() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the backup is damaged")
}

/// Reads and decompresses a chunk.
fn read_chunk_file(path: &Path) -> io::Result<Vec<u8>> {
    zstd::bulk::decompress(&fs::read(path)?, 2 * SIZES.max)
}

/// Writes and syncs a file, then gives it its name. The caller syncs the folder.
fn write_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let draft = path.with_extension("part");
    let options = &mut OpenOptions::new();
    let file = fs::open(private_mode(options.write(true).create(true).truncate(true)), &draft)?;
    fs::write_all(&file, bytes)?;
    fs::sync_all(&file)?;
    fs::rename(&draft, path)
}

#[cfg(test)]
mod tests {
    use super::ChunkStore;
    use proptest::prelude::*;

    fn count_chunks(folder: &std::path::Path) -> usize {
        std::fs::read_dir(folder.join("chunks")).unwrap().count()
    }

    /// Returns lines of about 200 bytes that all differ.
    fn make_lines(from: usize, to: usize) -> Vec<u8> {
        let line = |n: usize| {
            format!("{{\"n\":{n},\"text\":\"{}\"}}\n", n.to_string().repeat(200 / n.to_string().len()))
        };
        (from..to).flat_map(|n| line(n).into_bytes()).collect()
    }

    #[test]
    fn appended_and_edited_files_share_chunks() {
        let folder = tempfile::tempdir().unwrap();
        let chunks = ChunkStore::new(folder.path());
        let old = make_lines(1000, 21_000);
        chunks.store(&old[..]).unwrap();
        let first_count = count_chunks(folder.path());
        assert!(first_count > 20, "{first_count}");
        chunks.store(&[&old[..], &make_lines(21_000, 21_010)].concat()[..]).unwrap();
        assert!(count_chunks(folder.path()) - first_count <= 2);
        let edited = [make_lines(1000, 9000), make_lines(5, 9), make_lines(9000, 21_000)].concat();
        let name = chunks.store(&edited[..]).unwrap();
        assert!(count_chunks(folder.path()) - first_count <= 5);
        assert_eq!(chunks.read_all(&name).unwrap(), edited);
    }

    #[test]
    fn repeated_content_is_stored_once() {
        let folder = tempfile::tempdir().unwrap();
        let chunks = ChunkStore::new(folder.path());
        let repeated = b"{\"a\":1}\n".repeat(1 << 20);
        let name = chunks.store(&repeated[..]).unwrap();
        assert!(count_chunks(folder.path()) <= 2);
        assert!(chunks.read_all(&name).unwrap() == repeated);
    }

    #[test]
    fn damaged_backup_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let chunks = ChunkStore::new(folder.path());
        let name = chunks.store(&make_lines(0, 3000)[..]).unwrap();
        let other = chunks.store(&b"other"[..]).unwrap();
        std::fs::copy(folder.path().join("lists").join(other), folder.path().join("lists").join(&name))
            .unwrap();
        assert!(chunks.read_all(&name).is_err());
    }

    /// A new backup relies on chunks of older ones, so each of them is verified.
    #[test]
    fn damaged_chunks_are_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let chunks = ChunkStore::new(folder.path());
        let content = make_lines(0, 3000);
        let name = chunks.store(&content[..]).unwrap();
        for dir in ["chunks", "lists"] {
            for entry in std::fs::read_dir(folder.path().join(dir)).unwrap() {
                let path = entry.unwrap().path();
                let mut bytes = std::fs::read(&path).unwrap();
                let middle = bytes.len() / 2;
                bytes[middle] ^= 4;
                std::fs::write(&path, bytes).unwrap();
            }
        }
        assert!(chunks.read_all(&name).is_err());
        assert_eq!(chunks.store(&content[..]).unwrap(), name);
        assert_eq!(chunks.read_all(&name).unwrap(), content);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn stored_content_reads_back_unchanged(parts in prop::collection::vec((0u8..4, 0usize..400_000), 0..8)) {
            let mut bytes = Vec::new();
            for (kind, len) in parts {
                match kind {
                    0 => bytes.extend(make_lines(len, len + len / 2000)),
                    1 => bytes.resize(bytes.len() + len * 8, b'x'),
                    2 => bytes.resize(bytes.len() + len / 100, b'\n'),
                    _ => bytes.extend((0..len).map(|k| (k * k % 251) as u8)),
                }
            }
            let folder = tempfile::tempdir().unwrap();
            let chunks = ChunkStore::new(folder.path());
            let name = chunks.store(&bytes[..]).unwrap();
            prop_assert!(chunks.has_content(&name));
            prop_assert_eq!(chunks.read_all(&name).unwrap(), bytes);
        }
    }
}
