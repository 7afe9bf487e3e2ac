//! Damage of an archive. Damage is a value next to the result: one damaged file makes no other unreadable.

use std::fmt;
use std::path::PathBuf;

/// A damaged or missing file of an archive, or archived content that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveDamage {
    /// The damaged file of the archive.
    pub path: PathBuf,
    /// The kind of damage.
    pub kind: DamageKind,
}

/// Kinds of damage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DamageKind {
    /// The file is missing.
    Missing,
    /// The file cannot be read.
    Unreadable(String),
    /// The file has another length than recorded.
    WrongLength {
        /// The recorded length.
        expected: u64,
        /// The length of the file.
        found: u64,
    },
    /// The bytes do not have the recorded hash.
    WrongHash,
    /// The bytes have the recorded hash but are not of the documented format.
    InvalidFormat,
    /// An encrypted file is damaged, or encrypted for another key.
    NotDecryptable,
    /// A file record refers to a segment that is in no pack.
    MissingSegment,
    /// The derived list of fingerprints is damaged. The next run creates it again.
    InvalidSeenList,
}

impl fmt::Display for DamageKind {
    /// Writes a verb phrase. The file is its subject.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DamageKind::Missing => f.write_str("is missing"),
            DamageKind::Unreadable(reason) => write!(f, "cannot be read: {reason}"),
            DamageKind::WrongLength { expected, found } => {
                write!(f, "has {found} bytes instead of {expected}")
            }
            DamageKind::WrongHash => f.write_str("does not have the recorded hash"),
            DamageKind::InvalidFormat => f.write_str("is not of the documented format"),
            DamageKind::NotDecryptable => {
                f.write_str("cannot be decrypted: it is damaged or for another key")
            }
            DamageKind::MissingSegment => f.write_str("refers to content that is in no pack"),
            DamageKind::InvalidSeenList => {
                f.write_str("is damaged; the next archive run creates it again, and no content is affected")
            }
        }
    }
}
