//! The key from which a machine derives the names of its objects, and the tags by which it recognises what it wrote.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::disk::read_small_file;
use crate::writer::replace_file;

/// The name of the file in the folder of the machine in the local archive.
const FILE_NAME: &str = "sync-key";
/// The number of tags that are kept: one per push, over all places.
const MAX_TAGS: usize = 64;

/// A key of names, and the tags of the last pushes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NameKey {
    bytes: [u8; blake3::KEY_LEN],
    tags: Vec<String>,
}

/// The file with the key.
#[derive(Serialize, Deserialize)]
struct NameKeyFile {
    key: String,
    tags: Vec<String>,
}

impl NameKey {
    /// Creates a random key and writes it durably.
    pub(super) fn create(machine_dir: &Path) -> io::Result<NameKey> {
        let key = NameKey::new();
        key.write(machine_dir)?;
        Ok(key)
    }

    fn new() -> NameKey {
        let random = [uuid::Uuid::new_v4(), uuid::Uuid::new_v4(), uuid::Uuid::new_v4()];
        // An id has 122 random bits. The hash of three ids has at least as much randomness as a key.
        let mut hasher = blake3::Hasher::new();
        random.iter().for_each(|id| {
            hasher.update(id.as_bytes());
        });
        NameKey { bytes: *hasher.finalize().as_bytes(), tags: Vec::new() }
    }

    /// Parses the hexadecimal form of a key. Returns `None` for any other text.
    pub(super) fn from_hex(text: &str) -> Option<NameKey> {
        Some(NameKey { bytes: *blake3::Hash::from_hex(text).ok()?.as_bytes(), tags: Vec::new() })
    }

    pub(super) fn to_hex(&self) -> String {
        blake3::Hash::from_bytes(self.bytes).to_hex().to_string()
    }

    /// Reads the key of a machine. Returns `None` if it is missing or damaged.
    pub(super) fn read(machine_dir: &Path) -> Option<NameKey> {
        let bytes = read_small_file(&machine_dir.join(FILE_NAME))?;
        let file: NameKeyFile = serde_json::from_slice(&bytes).ok()?;
        Some(NameKey { tags: file.tags, ..NameKey::from_hex(&file.key)? })
    }

    /// Writes the key durably.
    pub(super) fn write(&self, machine_dir: &Path) -> io::Result<()> {
        let file = NameKeyFile { key: self.to_hex(), tags: self.tags.clone() };
        replace_file(&machine_dir.join(FILE_NAME), &serde_json::to_vec(&file)?)
    }

    /// Returns `true` if this machine made a push with this tag.
    pub(super) fn has_tag(&self, tag: &str) -> bool {
        self.tags.iter().any(|known| known == tag)
    }

    /// Adds the tag of a push, and drops the oldest ones.
    pub(super) fn add_tag(&mut self, tag: &str) {
        self.tags.push(tag.to_owned());
        self.tags.drain(..self.tags.len().saturating_sub(MAX_TAGS));
    }

    /// Returns the name of an object: a keyed hash of its path in the folder of a machine, such as `packs/<hash>.zst`.
    pub(super) fn name(&self, path: &str) -> String {
        blake3::keyed_hash(&self.bytes, path.as_bytes()).to_hex().to_string()
    }
}
