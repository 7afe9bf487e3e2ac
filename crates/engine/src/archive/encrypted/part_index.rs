//! The index of a part: lines of JSON that list the encrypted files, and the hash of these lines.
//!
//! It tells a machine without a secret key what it copied there already. It is derived: readers do not need it.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::archive::damage::{ArchiveDamage, DamageKind};
use crate::disk::open_file;

/// The name of the index in the folder of a part.
pub(super) const FILE_NAME: &str = "index";
/// The version of the format.
const FORMAT: u32 = 1;

/// The index of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PartIndex {
    pub(super) head: IndexHead,
    /// The objects by name.
    pub(super) objects: BTreeMap<String, EncryptedFile>,
}

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct IndexHead {
    pub(super) format: u32,
    /// The machine that wrote the part.
    pub(super) writer: String,
    /// The revision of the manifest.
    pub(super) revision: i64,
    /// A random id of this state.
    pub(super) tag: String,
    /// A keyed hash of the public keys.
    pub(super) recipients: String,
    /// Length and hash of the encrypted manifest.
    pub(super) manifest: EncryptedFile,
}

/// The length and the hash of an encrypted file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct EncryptedFile {
    pub(super) bytes: u64,
    pub(super) hash: String,
}

/// Another line.
#[derive(Serialize, Deserialize)]
struct ObjectLine {
    object: String,
    #[serde(flatten)]
    file: EncryptedFile,
}

impl IndexHead {
    pub(super) fn new(writer: &str, revision: i64, recipients: String, manifest: EncryptedFile) -> IndexHead {
        let tag = uuid::Uuid::new_v4().to_string();
        IndexHead { format: FORMAT, writer: writer.to_owned(), revision, tag, recipients, manifest }
    }
}

impl PartIndex {
    /// Reads the index of a part. Returns `None` if there is none.
    pub(super) fn read(part_dir: &Path) -> Result<Option<PartIndex>, ArchiveDamage> {
        let path = part_dir.join(FILE_NAME);
        let mut bytes = Vec::new();
        let read = open_file(&path).and_then(|mut file| std::io::Read::read_to_end(&mut file, &mut bytes));
        match read {
            Ok(_) => match PartIndex::from_bytes(&bytes) {
                Some(index) => Ok(Some(index)),
                None => Err(ArchiveDamage { path, kind: DamageKind::WrongHash }),
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => {
                let kind = DamageKind::Unreadable(crate::describe_io_error(&error));
                Err(ArchiveDamage { path, kind })
            }
        }
    }

    fn from_bytes(bytes: &[u8]) -> Option<PartIndex> {
        let text = std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?;
        let (lines, hash) = text.split_at(text.rfind('\n')? + 1);
        if blake3::hash(lines.as_bytes()).to_hex().as_str() != hash {
            return None;
        }
        let mut lines = lines.lines();
        let head: IndexHead = serde_json::from_str(lines.next()?).ok()?;
        let parse = |line: &str| {
            let line: ObjectLine = serde_json::from_str(line).ok()?;
            Some((line.object, line.file))
        };
        let objects = lines.map(parse).collect::<Option<_>>()?;
        (head.format == FORMAT).then_some(PartIndex { head, objects })
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let head = serde_json::to_string(&self.head).expect("plain values are valid JSON");
        let objects = self.objects.iter().map(|(name, file)| {
            let line = ObjectLine { object: name.clone(), file: file.clone() };
            serde_json::to_string(&line).expect("plain values are valid JSON")
        });
        let mut text: String = [head].into_iter().chain(objects).map(|line| line + "\n").collect();
        let hash = blake3::hash(text.as_bytes()).to_hex();
        text.push_str(&hash);
        text.push('\n');
        text.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_read_only_if_all_of_its_bytes_are_intact() {
        let file = EncryptedFile { bytes: 7, hash: "ab".to_owned() };
        let head = IndexHead::new("m1", 5, "key".to_owned(), file.clone());
        let index = PartIndex { head, objects: BTreeMap::from([("name".to_owned(), file)]) };
        let bytes = index.to_bytes();
        assert_eq!(PartIndex::from_bytes(&bytes), Some(index));
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert_eq!(PartIndex::from_bytes(&damaged), None, "byte {at}");
            assert_eq!(PartIndex::from_bytes(&bytes[..at]), None, "first {at} bytes");
        }
    }
}
