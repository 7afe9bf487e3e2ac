//! The lines of a catalog. The format is stable: docs/ARCHIVE.md specifies it, and fixtures freeze it.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A line of a catalog.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub(crate) enum CatalogRecord {
    /// A folder of a machine below which files are archived.
    Place(PlaceRecord),
    /// A pack and its segments.
    Pack(PackRecord),
    /// Content of a file.
    File(FileRecord),
    /// A session that is forgotten, or not any more.
    Tombstone(TombstoneRecord),
}

impl CatalogRecord {
    /// Parses a line of a catalog. Returns `None` if it is not a record.
    pub(crate) fn parse(line: &[u8]) -> Option<CatalogRecord> {
        // A tagged value is parsed twice. Most lines are of these kinds, and begin with the tag.
        if line.starts_with(br#"{"record":"file","#) {
            return serde_json::from_slice(line).ok().map(CatalogRecord::File);
        }
        if line.starts_with(br#"{"record":"pack","#) {
            return serde_json::from_slice(line).ok().map(CatalogRecord::Pack);
        }
        serde_json::from_slice(line).ok()
    }
}

/// A folder of a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlaceRecord {
    /// The number by which file records refer to it.
    pub(crate) place: u32,
    /// The name of the machine.
    pub(crate) machine: String,
    /// The folder, usually `~/.claude`.
    pub(crate) root: StoredPath,
}

/// A pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PackRecord {
    /// The hash of the pack, which is its name.
    pub(crate) pack: String,
    /// The length of the pack.
    pub(crate) bytes: u64,
    /// The frames in the pack, in order.
    pub(crate) frames: Vec<FrameRecord>,
}

/// A compressed frame of a pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FrameRecord {
    /// The offset in the pack.
    pub(crate) offset: u64,
    /// The compressed length.
    pub(crate) bytes: u64,
    /// The segments in the decompressed frame, one after the other.
    pub(crate) segments: Vec<ContentSegment>,
}

/// A segment of a file: its hash and length. In a catalog, a pair of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(HexHash, u64)", into = "(HexHash, u64)")]
pub(crate) struct ContentSegment {
    pub(crate) hash: blake3::Hash,
    pub(crate) bytes: u64,
}

impl From<(HexHash, u64)> for ContentSegment {
    fn from((HexHash(hash), bytes): (HexHash, u64)) -> ContentSegment {
        ContentSegment { hash, bytes }
    }
}

impl From<ContentSegment> for (HexHash, u64) {
    fn from(segment: ContentSegment) -> (HexHash, u64) {
        (HexHash(segment.hash), segment.bytes)
    }
}

/// A hash as hexadecimal text. Catalogs have thousands of them, so none is copied to a string.
pub(crate) struct HexHash(blake3::Hash);

impl Serialize for HexHash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.to_hex())
    }
}

impl<'de> Deserialize<'de> for HexHash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<HexHash, D::Error> {
        deserializer.deserialize_str(HexHashVisitor)
    }
}

struct HexHashVisitor;

impl serde::de::Visitor<'_> for HexHashVisitor {
    type Value = HexHash;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a hash of 64 hexadecimal digits")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<HexHash, E> {
        blake3::Hash::from_hex(text).map(HexHash).map_err(E::custom)
    }
}

/// Content of a file: a new generation, or bytes that were appended to the current one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileRecord {
    /// The place that contains the file.
    pub(crate) place: u32,
    /// The path below the place.
    pub(crate) path: StoredPath,
    /// The number of the generation, from 1.
    pub(crate) generation: u32,
    /// The offset in the generation from which on the segments are its content.
    pub(crate) offset: u64,
    /// The segments from this offset on.
    pub(crate) segments: Vec<ContentSegment>,
    /// The permission bits of the file. 0 if unknown.
    pub(crate) mode: u32,
    /// The modification time in milliseconds since 1970.
    pub(crate) modified: i64,
    /// The time of the archive run in milliseconds since 1970.
    pub(crate) archived: i64,
    /// Why the generation exists.
    pub(crate) cause: GenerationCause,
}

/// The state of a session that the user wants to be forgotten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TombstoneRecord {
    /// The session id.
    pub(crate) session: String,
    /// The number of the state, over all machines. The highest counts.
    pub(crate) version: u64,
    /// `false` if the tombstone was taken back.
    pub(crate) forgotten: bool,
    /// The time in milliseconds since 1970. For display only.
    pub(crate) time: i64,
    /// The files of the session whose path does not name it: subagents of older clients.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) files: BTreeSet<StoredPath>,
}

/// Why a generation of an archived file exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GenerationCause {
    /// The file was archived for the first time.
    Created,
    /// The content changed other than by an append.
    Rewritten,
    /// The file became shorter, and the rest is unchanged.
    Shrank,
}

/// A path: text, or hexadecimal bytes if it is not UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum StoredPath {
    Text(String),
    Bytes { hex: String },
}

impl StoredPath {
    pub(crate) fn from_path(path: &Path) -> StoredPath {
        match path.to_str() {
            Some(text) => StoredPath::Text(text.to_owned()),
            None => {
                let bytes = path.as_os_str().as_encoded_bytes();
                StoredPath::Bytes { hex: bytes.iter().map(|byte| format!("{byte:02x}")).collect() }
            }
        }
    }

    /// Returns the path as text. Bytes that are not UTF-8 are replaced.
    pub(crate) fn to_text(&self) -> Cow<'_, str> {
        match self {
            StoredPath::Text(text) => Cow::Borrowed(text),
            StoredPath::Bytes { hex } => {
                let bytes = decode_hex(hex).unwrap_or_default();
                Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
            }
        }
    }

    /// Returns the path. Returns `None` if the bytes are not a path of this system.
    pub(crate) fn to_path(&self) -> Option<PathBuf> {
        match self {
            StoredPath::Text(text) => Some(PathBuf::from(text)),
            StoredPath::Bytes { hex } => path_from_bytes(decode_hex(hex)?),
        }
    }
}

fn decode_hex(hex: &str) -> Option<Vec<u8>> {
    let pairs = hex.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

#[cfg(unix)]
fn path_from_bytes(bytes: Vec<u8>) -> Option<PathBuf> {
    let path: std::ffi::OsString = std::os::unix::ffi::OsStringExt::from_vec(bytes);
    Some(PathBuf::from(path))
}

/// Other systems have no paths of arbitrary bytes.
#[cfg(not(unix))]
fn path_from_bytes(bytes: Vec<u8>) -> Option<PathBuf> {
    String::from_utf8(bytes).ok().map(PathBuf::from)
}
