//! What a directory walk needs of the metadata of a file.

use std::fs::Metadata;

use super::fingerprint::FileFingerprint;

/// Kinds of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, a pipe, a device or another special file.
    Other,
}

/// Kind, fingerprint and permissions of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileStat {
    pub(crate) kind: FileKind,
    pub(crate) fingerprint: FileFingerprint,
    /// The permission bits. 0 if unknown.
    pub(crate) mode: u32,
}

impl FileStat {
    pub(crate) fn from_metadata(meta: &Metadata) -> FileStat {
        let kind = match (meta.is_file(), meta.is_dir()) {
            (true, _) => FileKind::File,
            (_, true) => FileKind::Folder,
            _ => FileKind::Other,
        };
        FileStat { kind, fingerprint: FileFingerprint::from_metadata(meta), mode: permission_bits(meta) }
    }
}

#[cfg(unix)]
fn permission_bits(meta: &Metadata) -> u32 {
    std::os::unix::fs::MetadataExt::mode(meta) & 0o7777
}

/// Other systems have no permission bits.
#[cfg(not(unix))]
fn permission_bits(_meta: &Metadata) -> u32 {
    0
}
